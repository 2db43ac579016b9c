import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { findPage, newestFirst, type Page, type PageAsked } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { assertStorable } from '../../storage/database/text.js';
import { DESTINATION, type DestinationRow } from './destination.js';
import type { Sealer } from './sealer.js';

/** What a new destination has. */
export type NewDestination = Pick<
  DestinationRow,
  'name' | 'type' | 'url' | 'recipients' | 'kinds' | 'enabled' | 'createdAtMs' | 'createdBy' | 'secret'
>;

/** What can be changed. */
export type DestinationChanges = Partial<
  Pick<
    DestinationRow,
    | 'name'
    | 'url'
    | 'recipients'
    | 'kinds'
    | 'enabled'
    | 'disabledReason'
    | 'secret'
    | 'rotatedAtMs'
    | 'previousSecret'
    | 'previousUntilMs'
  >
>;

/** Deliveries of a destination that are not made. */
export interface OpenDeliveries {
  readonly waiting: number;
  readonly dead: number;
}

/** The destinations of a namespace. Every method rejects with a `ServiceError` only. */
export function createDestinationStore({ client, namespace }: Scoped, sealer: Sealer) {
  const toRow = (row: StoredDestination) => destinationOf(row, sealer);

  return {
    /** Null also for a number that cannot be an id, and for destinations of other namespaces. */
    find: (id: number): Promise<DestinationRow | null> =>
      withServiceErrors(async () => {
        if (!isRowId(id)) return null;
        const row = await client.notificationDestination.findUnique({
          where: { id, namespace: namespace.name },
        });
        return row === null ? null : toRow(row);
      }),

    count: (): Promise<number> =>
      withServiceErrors(() => client.notificationDestination.count({ where: { namespace: namespace.name } })),

    /** One page, newest first. */
    list: (page: PageAsked<number>): Promise<Page<DestinationRow>> =>
      withServiceErrors(() => {
        const query = {
          from: Prisma.sql`"notification_destinations" d`,
          filters: [Prisma.sql`d."namespace" = ${namespace.name}`],
          ...newestFirst(Prisma.sql`d."id"`, page),
        };
        return findPage(client, query, async (ids) => {
          const where = { id: { in: ids }, namespace: namespace.name };
          return (await client.notificationDestination.findMany({ where })).map(toRow);
        });
      }),

    /** By id of a destination; those without any are missing. */
    openDeliveries: (ids: readonly number[]): Promise<ReadonlyMap<number, OpenDeliveries>> =>
      withServiceErrors(async () => {
        const counts = await client.notificationDelivery.groupBy({
          by: ['destinationId', 'state'],
          where: {
            namespace: namespace.name,
            destinationId: { in: [...ids] },
            state: { in: ['waiting', 'dead'] },
          },
          _count: true,
        });
        const open = new Map<number, OpenDeliveries>();
        for (const { destinationId, state, _count } of counts) {
          const known = open.get(destinationId) ?? { waiting: 0, dead: 0 };
          open.set(destinationId, { ...known, [state]: _count });
        }
        return open;
      }),

    insert: (destination: NewDestination): Promise<DestinationRow> =>
      withServiceErrors(async () => {
        const { createdAtMs, name, type, createdBy, enabled } = destination;
        for (const text of [name, createdBy]) assertStorable(text);
        const data = {
          ...storedMembers(destination, sealer),
          ...{ name, type, createdBy, enabled },
          kinds: JSON.stringify(destination.kinds),
          namespace: namespace.name,
          createdAtMs: BigInt(createdAtMs),
        };
        return toRow(await client.notificationDestination.create({ data }));
      }),

    /** The destination must be one that `find` returns. */
    update: (id: number, changes: DestinationChanges): Promise<DestinationRow> =>
      withServiceErrors(async () => {
        if (changes.name !== undefined) assertStorable(changes.name);
        const data = storedMembers(changes, sealer);
        return toRow(
          await client.notificationDestination.update({ where: { id, namespace: namespace.name }, data }),
        );
      }),

    /** Its deliveries go with it. */
    remove: (id: number): Promise<void> =>
      withServiceErrors(async () => {
        await client.notificationDestination.delete({ where: { id, namespace: namespace.name } });
      }),
  };
}

type StoredDestination = Prisma.NotificationDestinationGetPayload<object>;

function destinationOf(row: StoredDestination, sealer: Sealer): DestinationRow {
  const opened = (text: string | null) => (text === null ? null : sealer.open(text));
  const stored = DESTINATION.of(row);
  return {
    ...stored,
    url: opened(stored.url),
    recipients: stored.recipients ?? [],
    secret: opened(stored.secret),
    previousSecret: opened(stored.previousSecret),
  };
}

/** What is given, in the form of the columns. */
function storedMembers(given: DestinationChanges, { seal }: Sealer) {
  const { name, enabled, disabledReason, url, recipients, kinds, secret, previousSecret } = given;
  const sealed = (text: string | null) => (text === null ? null : seal(text));
  const time = (ms: number | null) => (ms === null ? null : BigInt(ms));
  return {
    ...(name === undefined ? {} : { name }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(disabledReason === undefined ? {} : { disabledReason }),
    ...(url === undefined ? {} : { url: sealed(url) }),
    ...(recipients === undefined
      ? {}
      : { recipients: recipients.length === 0 ? null : JSON.stringify(recipients) }),
    ...(kinds === undefined ? {} : { kinds: JSON.stringify(kinds) }),
    ...(secret === undefined ? {} : { secret: sealed(secret) }),
    ...(previousSecret === undefined ? {} : { previousSecret: sealed(previousSecret) }),
    ...(given.rotatedAtMs === undefined ? {} : { rotatedAtMs: time(given.rotatedAtMs) }),
    ...(given.previousUntilMs === undefined ? {} : { previousUntilMs: time(given.previousUntilMs) }),
  };
}
