import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { CallContext } from '../../contract/call/handler.js';
import { paginationOf } from '../../contract/call/page.js';
import { isoOf } from '../../contract/call/printed.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { scopeOf } from '../../storage/database/scoped.js';
import type { Attempt } from './attempt.js';
import { createDeliveryStore } from './delivery-store.js';
import { type DestinationRow, type Message, targetOf } from './destination.js';
import { createDestinationStore } from './destination-store.js';
import { deliveryNotFound, destinationNotFound } from './notification-errors.js';
import { printedDelivery } from './notification-presentation.js';
import type { NotificationInputs } from './notification-schemas.js';
import type { Sealer } from './sealer.js';

export interface DeliveryServiceOptions {
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  readonly sealer: Sealer;
  readonly attempt: Attempt;
  /** Called after each change: this process looks at the destinations again. */
  readonly changed: () => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type DestinationStore = ReturnType<typeof createDestinationStore>;

/** Tests destinations, lists what was sent to them, and has it sent again. */
export function createDeliveryService(options: DeliveryServiceOptions) {
  const { database, mutate, sealer, attempt, changed, now } = options;
  const storeOf = (context: CallContext) => createDestinationStore(scopeOf(context, database.client), sealer);

  return {
    /** Sends a notification now, outside of the outbox. Throws DESTINATION_NOT_FOUND. */
    async test(context: CallContext, id: number) {
      const row = await existingDestination(storeOf(context), id);
      const nowMs = now();
      const result = await attempt(targetOf(row, nowMs), testMessage(row, nowMs), context.signal);
      const { delivered, status, error } = result;
      const facts = { delivered, status, error };
      await mutate(context, async () => ({
        value: null,
        change: {},
        audit: destinationFact('test', row, null, facts),
      }));
      return facts;
    },

    /** One page, newest first. Throws DESTINATION_NOT_FOUND for a destination that does not exist. */
    async deliveries(context: CallContext, input: NotificationInputs['listDeliveries']) {
      const scope = scopeOf(context, database.client);
      const { cursor, limit, destination_id: destinationId = null, state = null } = input;
      if (destinationId !== null) await existingDestination(storeOf(context), destinationId);
      const filters = { cursor, limit, destinationId, state };
      const page = await createDeliveryStore(scope).list(filters);
      return { deliveries: page.rows.map(printedDelivery), pagination: paginationOf(page, limit) };
    },

    /** Throws DELIVERY_NOT_FOUND. */
    async resend(context: CallContext, id: number) {
      const made = await mutate(context, async (scope) => {
        const store = createDeliveryStore(scope);
        const before = await store.find(id);
        if (before === null) throw deliveryNotFound(id);
        const row = await store.resend(id, now());
        const audit: AuditFact = {
          action: 'notification_delivery.resend',
          resource: 'notification_delivery',
          id: String(id),
          name: row.kind,
          before: { state: before.state, attempts: before.attempts },
          after: { state: row.state, destination_id: row.destinationId, message_id: row.messageId },
        };
        return { value: { delivery: printedDelivery(row) }, change: {}, audit };
      });
      changed();
      return made;
    },
  };
}

/** Throws DESTINATION_NOT_FOUND. */
export async function existingDestination(store: DestinationStore, id: number): Promise<DestinationRow> {
  const row = await store.find(id);
  if (row === null) throw destinationNotFound(id);
  return row;
}

function testMessage({ id, name, namespace }: DestinationRow, nowMs: number): Message {
  const summary = `Test of the destination "${name}"`;
  const data = { namespace, destination: { id, name } };
  const payload = JSON.stringify({ type: 'test', timestamp: isoOf(nowMs), data });
  return { messageId: `msg_${randomUUID()}`, kind: 'test', summary, payload };
}

/** The entry of the audit log about a destination. */
export function destinationFact(
  what: string,
  { id, name }: DestinationRow,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  const action = `notification_destination.${what}`;
  return { action, resource: 'notification_destination', id: String(id), name, before, after };
}
