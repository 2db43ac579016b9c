import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { CallContext } from '../../contract/call/handler.js';
import { paginationOf } from '../../contract/call/page.js';
import { callerName } from '../../contract/call/printed.js';
import { once } from '../../storage/database/idempotency.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import {
  createDeliveryService,
  type DeliveryServiceOptions,
  destinationFact,
  existingDestination,
} from './delivery-service.js';
import { createDeliveryStore } from './delivery-store.js';
import type { DestinationRow } from './destination.js';
import { createDestinationStore, type DestinationChanges } from './destination-store.js';
import { unusableDestination } from './notification-errors.js';
import { printedDestination, shownUrl } from './notification-presentation.js';
import type { NotificationInputs } from './notification-schemas.js';
import { newWebhookSecret } from './signing.js';

export interface DestinationServiceOptions extends DeliveryServiceOptions {
  /** Most destinations of a namespace. */
  readonly maxDestinations: number;
  /** Whether there is an SMTP server. */
  readonly hasMail: boolean;
}

/** Creates and changes destinations. */
export function createDestinationService(options: DestinationServiceOptions) {
  const { database, mutate, sealer, changed, now } = options;
  const storeOf = (scope: Scoped) => createDestinationStore(scope, sealer);
  const reading = (context: CallContext) => scopeOf(context, database.client);

  async function printed(scope: Scoped, rows: readonly DestinationRow[]) {
    const open = await storeOf(scope).openDeliveries(rows.map(({ id }) => id));
    return rows.map((row) => printedDestination(row, open.get(row.id), now()));
  }

  async function one(scope: Scoped, row: DestinationRow) {
    const [destination] = await printed(scope, [row]);
    return destination;
  }

  return {
    ...createDeliveryService(options),

    /** Throws VALIDATION_ERROR if there are too many, or no SMTP server for e-mail; or IDEMPOTENCY_CONFLICT. */
    async create(context: CallContext, input: NotificationInputs['createDestination']) {
      const { idempotency_key: key, ...request } = input;
      if (input.type === 'email' && !options.hasMail) {
        throw unusableDestination('type', 'no_smtp_server', 'needs the setting SERVICE_SMTP_HOST');
      }
      const secret = input.type === 'webhook' ? newWebhookSecret() : null;
      const nowMs = now();
      const made = await mutate(context, async (scope) => {
        const store = storeOf(scope);
        const call = { rpc: 'CreateDestination', key, request, nowMs };
        const { value, isRepeat } = await once(scope, call, async () => {
          if ((await store.count()) >= options.maxDestinations) throw tooMany(options.maxDestinations);
          const { id } = await store.insert({
            name: input.name,
            type: input.type,
            url: input.url ?? null,
            recipients: input.recipients ?? [],
            kinds: input.kinds,
            enabled: input.enabled,
            createdAtMs: nowMs,
            createdBy: callerName(context.principal),
            secret,
          });
          return { id };
        });
        const row = await existingDestination(storeOf(scope), value.id);
        const result = { destination: await one(scope, row), secret: isRepeat ? null : secret };
        if (isRepeat) return { value: result, change: null };
        const audit = destinationFact('create', row, null, factsOf(row));
        return { value: result, change: {}, audit };
      });
      changed();
      return made;
    },

    /** One page, newest first. */
    async list(context: CallContext, input: NotificationInputs['listDestinations']) {
      const scope = reading(context);
      const page = await storeOf(scope).list(input);
      return { destinations: await printed(scope, page.rows), pagination: paginationOf(page, input.limit) };
    },

    /** Throws DESTINATION_NOT_FOUND. */
    async get(context: CallContext, id: number) {
      const scope = reading(context);
      return { destination: await one(scope, await existingDestination(storeOf(scope), id)) };
    },

    /** Throws DESTINATION_NOT_FOUND, or VALIDATION_ERROR for a member that its type does not have. */
    async update(context: CallContext, input: NotificationInputs['updateDestination']) {
      const made = await mutate(context, async (scope) => {
        const before = await existingDestination(storeOf(scope), input.destination_id);
        const changes = changesOf(before, input);
        if (Object.keys(changes).length === 0) {
          return { value: { destination: await one(scope, before) }, change: null };
        }
        const row = await storeOf(scope).update(before.id, changes);
        if (changes.enabled === true) await createDeliveryStore(scope).hurry(row.id, now());
        const audit = destinationFact('update', row, factsOf(before), factsOf(row));
        return { value: { destination: await one(scope, row) }, change: {}, audit };
      });
      changed();
      return made;
    },

    /** Throws DESTINATION_NOT_FOUND. */
    async remove(context: CallContext, id: number) {
      await mutate(context, async (scope) => {
        const before = await existingDestination(storeOf(scope), id);
        await storeOf(scope).remove(id);
        return { value: null, change: {}, audit: destinationFact('delete', before, factsOf(before), null) };
      });
      changed();
      return {};
    },

    /** Throws DESTINATION_NOT_FOUND, or VALIDATION_ERROR for a destination without a secret. */
    async rotate(context: CallContext, input: NotificationInputs['rotateDestinationSecret']) {
      const secret = newWebhookSecret();
      const { destination_id: id, overlap_seconds: overlap } = input;
      return mutate(context, async (scope) => {
        const before = await existingDestination(storeOf(scope), id);
        if (before.type !== 'webhook') {
          const message = `is of a destination of the type ${before.type}, which has no secret`;
          throw unusableDestination('destination_id', 'no_secret', message);
        }
        const nowMs = now();
        const row = await storeOf(scope).update(id, {
          secret,
          rotatedAtMs: nowMs,
          previousSecret: overlap === 0 ? null : before.secret,
          previousUntilMs: overlap === 0 ? null : nowMs + overlap * 1000,
        });
        const audit = destinationFact('rotate_secret', row, null, { overlap_seconds: overlap });
        return { value: { destination: await one(scope, row), secret }, change: {}, audit };
      });
    },
  };
}

function tooMany(limit: number) {
  const message = `must be one of at most ${limit} destinations; SERVICE_NOTIFICATIONS_DESTINATIONS sets it`;
  return unusableDestination('name', 'too_many_destinations', message);
}

/** What an update changes: nothing of what is as it was. */
function changesOf(
  before: DestinationRow,
  input: NotificationInputs['updateDestination'],
): DestinationChanges {
  const { name, url, recipients = [], kinds = [], enabled } = input;
  const isEmail = before.type === 'email';
  const misplaced = isEmail
    ? url === undefined
      ? null
      : 'url'
    : recipients.length > 0
      ? 'recipients'
      : null;
  if (misplaced !== null) {
    const message = `must not be sent for a destination of the type ${before.type}`;
    throw unusableDestination(misplaced, 'value_error', message);
  }
  const differs = (one: readonly string[], other: readonly string[]) =>
    one.length > 0 && (one.length !== other.length || one.some((item, at) => item !== other[at]));
  return {
    ...(name === undefined || name === before.name ? {} : { name }),
    ...(url === undefined || url === before.url ? {} : { url }),
    ...(differs(recipients, before.recipients) ? { recipients } : {}),
    ...(differs(kinds, before.kinds) ? { kinds } : {}),
    ...(enabled === undefined || enabled === before.enabled ? {} : { enabled }),
    ...(enabled === true && before.disabledReason !== null ? { disabledReason: null } : {}),
  };
}

/** What the audit log tells of a destination: no secret. */
function factsOf(row: DestinationRow): JsonObject {
  const url = shownUrl(row);
  return {
    name: row.name,
    type: row.type,
    ...(url === null ? {} : { url }),
    ...(row.recipients.length === 0 ? {} : { recipients: [...row.recipients] }),
    kinds: [...row.kinds],
    enabled: row.enabled,
  };
}
