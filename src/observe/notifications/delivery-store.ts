import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { findPage, newestFirst, type Page, type PageAsked } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { DELIVERY, type DeliveryRow, type DeliveryState } from './destination.js';

/** Selection of deliveries to list. */
export interface DeliveryFilters extends PageAsked<number> {
  /** Null for all. */
  readonly destinationId: number | null;
  readonly state: DeliveryState | null;
}

/** The deliveries of a namespace. Every method rejects with a `ServiceError` only. */
export function createDeliveryStore({ client, namespace }: Scoped) {
  return {
    /** Null also for a number that cannot be an id, and for deliveries of other namespaces. */
    find: (id: number): Promise<DeliveryRow | null> =>
      withServiceErrors(async () => {
        if (!isRowId(id)) return null;
        const row = await client.notificationDelivery.findUnique({
          where: { id, namespace: namespace.name },
        });
        return row === null ? null : DELIVERY.of(row);
      }),

    /** One page, newest first. */
    list: ({ cursor, limit, destinationId, state }: DeliveryFilters): Promise<Page<DeliveryRow>> =>
      withServiceErrors(() => {
        const query = {
          from: Prisma.sql`"notification_deliveries" d`,
          filters: [
            Prisma.sql`d."namespace" = ${namespace.name}`,
            ...(destinationId === null ? [] : [Prisma.sql`d."destination_id" = ${destinationId}`]),
            ...(state === null ? [] : [Prisma.sql`d."state" = ${state}`]),
          ],
          ...newestFirst(Prisma.sql`d."id"`, { cursor, limit }),
        };
        return findPage(client, query, async (ids) => {
          const where = { id: { in: ids }, namespace: namespace.name };
          return (await client.notificationDelivery.findMany({ where })).map(DELIVERY.of);
        });
      }),

    /** Makes a delivery wait, due at once; its attempts begin anew. It must be one that `find` returns. */
    resend: (id: number, nowMs: number): Promise<DeliveryRow> =>
      withServiceErrors(async () => {
        const atMs = BigInt(nowMs);
        const data = { state: 'waiting', attempts: 0, sinceMs: atMs, nextAtMs: atMs };
        return DELIVERY.of(
          await client.notificationDelivery.update({ where: { id, namespace: namespace.name }, data }),
        );
      }),

    /** Makes all that waits for a destination due at once. */
    hurry: (destinationId: number, nowMs: number): Promise<void> =>
      withServiceErrors(async () => {
        await client.notificationDelivery.updateMany({
          where: { destinationId, namespace: namespace.name, state: 'waiting' },
          data: { nextAtMs: BigInt(nowMs) },
        });
      }),
  };
}
