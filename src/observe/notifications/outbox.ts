import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Database } from '../../storage/database/database.js';
import {
  type Column,
  columns,
  from,
  json,
  nullable,
  number,
  type ReadRow,
  select,
  text,
} from '../../storage/database/rows.js';
import type { DeliveryState, DestinationType, Message, Target } from './destination.js';
import type { Sealer } from './sealer.js';

/** Deliveries that are kept of a destination besides those that wait: the newest. */
const MAX_ENDED = 10_000;

/** A delivery whose turn it is. */
export interface DueDelivery {
  readonly id: number;
  readonly destinationId: number;
  readonly attempts: number;
  /** See `NotificationDelivery.sinceMs`. */
  readonly sinceMs: number;
  readonly message: Message;
  readonly target: Target;
}

/** What came of an attempt. Times are in milliseconds since 1970. */
export interface Outcome {
  readonly delivery: Pick<DueDelivery, 'id' | 'destinationId' | 'attempts' | 'sinceMs'>;
  readonly state: DeliveryState;
  readonly atMs: number;
  readonly nextAtMs: number;
  readonly status: number | null;
  readonly error: string | null;
  /** Why the destination gets nothing more; null unless it wants nothing more. */
  readonly disabledReason: string | null;
}

/** The deliveries of all namespaces. Every method rejects with a `ServiceError` only. */
export interface Outbox {
  hasDue(nowMs: number): Promise<boolean>;
  /**
   * Deliveries that are due, the first one of each object and destination only: those behind it wait until it has ended.
   * Without deliveries of `claimed`, and of destinations of `busy`.
   */
  due(
    nowMs: number,
    limit: number,
    claimed: Iterable<number>,
    busy: Iterable<number>,
  ): Promise<readonly DueDelivery[]>;
  /** Stores outcomes, each unless its delivery was sent again by hand, or deleted, meanwhile. */
  settle(outcomes: readonly Outcome[]): Promise<void>;
  /** Removes deliveries that ended before a time, and those beyond what is kept of a destination. */
  prune(endedBeforeMs: number): Promise<void>;
}

/** Of a delivery `w` and its destination: but for the first, only one of the two has a column of the name. */
const DUE = columns({
  id: from(Prisma.sql`w."id"`, number),
  destinationId: number,
  attempts: number,
  sinceMs: number,
  messageId: text,
  kind: text,
  summary: text,
  payload: text,
  type: text as Column<DestinationType>,
  url: nullable(text),
  recipients: nullable(json<string[]>()),
  secret: nullable(text),
  previousSecret: nullable(text),
  previousUntilMs: nullable(number),
});

export function createOutbox({ bulk }: Pick<Database, 'bulk'>, sealer: Sealer): Outbox {
  const isDue = (nowMs: number) => Prisma.sql`
    FROM "notification_deliveries" w JOIN "notification_destinations" d ON d."id" = w."destination_id"
    WHERE w."state" = 'waiting' AND w."next_at_ms" <= ${BigInt(nowMs)} AND d."enabled"`;

  return {
    async hasDue(nowMs) {
      return (await bulk.read('search', Prisma.sql`SELECT 1 ${isDue(nowMs)} LIMIT 1`)).length > 0;
    },

    async due(nowMs, limit, claimed, busy) {
      const rows = await select(DUE, bulk)`
        ${isDue(nowMs)} ${notIn('w."id"', claimed)} ${notIn('w."destination_id"', busy)}
          AND NOT EXISTS (SELECT 1 FROM "notification_deliveries" e WHERE e."destination_id" = w."destination_id"
            AND e."state" = 'waiting' AND e."object" = w."object" AND e."id" < w."id")
        ORDER BY w."next_at_ms", w."id" LIMIT ${limit}`;
      return rows.map((row) => dueOf(row, sealer, nowMs));
    },

    async settle(outcomes) {
      if (outcomes.length === 0) return;
      await bulk.transaction((tx) => tx.run(...outcomes.flatMap(statementsOf)));
    },

    async prune(endedBeforeMs) {
      await bulk.transaction((tx) =>
        tx.run(
          Prisma.sql`DELETE FROM "notification_deliveries"
            WHERE "state" <> 'waiting' AND "since_ms" <= ${BigInt(endedBeforeMs)}`,
          Prisma.sql`DELETE FROM "notification_deliveries" WHERE "id" IN (SELECT k."id" FROM (
            SELECT "id", ROW_NUMBER() OVER (PARTITION BY "destination_id" ORDER BY "id" DESC) AS "place"
            FROM "notification_deliveries" WHERE "state" <> 'waiting') k WHERE k."place" > ${MAX_ENDED})`,
        ),
      );
    },
  };
}

function notIn(column: string, ids: Iterable<number>): Prisma.Sql {
  const list = [...ids];
  return list.length === 0
    ? Prisma.empty
    : Prisma.sql`AND ${Prisma.raw(column)} NOT IN (${Prisma.join(list)})`;
}

function statementsOf({ delivery, ...outcome }: Outcome): Prisma.Sql[] {
  const { state, atMs, nextAtMs, status, error, disabledReason } = outcome;
  const settled = Prisma.sql`
    UPDATE "notification_deliveries" SET "state" = ${state}, "attempts" = "attempts" + 1,
      "last_at_ms" = CAST(${BigInt(atMs)} AS BIGINT), "next_at_ms" = CAST(${BigInt(nextAtMs)} AS BIGINT),
      "last_status" = CAST(${status} AS INTEGER), "last_error" = CAST(${error} AS TEXT)
    WHERE "id" = ${delivery.id} AND "state" = 'waiting' AND "attempts" = ${delivery.attempts}
      AND "since_ms" = ${BigInt(delivery.sinceMs)}`;
  if (disabledReason === null) return [settled];
  const disabled = Prisma.sql`
    UPDATE "notification_destinations" SET "enabled" = ${false}, "disabled_reason" = ${disabledReason}
    WHERE "id" = ${delivery.destinationId}`;
  return [settled, disabled];
}

function dueOf(row: ReadRow<typeof DUE>, sealer: Sealer, nowMs: number): DueDelivery {
  const { id, destinationId, attempts, sinceMs, messageId, kind, summary, payload, ...destination } = row;
  const { type, url, recipients, secret, previousSecret, previousUntilMs } = destination;
  const opened = (sealed: string | null) => (sealed === null ? null : sealer.open(sealed));
  const overlaps = (previousUntilMs ?? 0) > nowMs;
  return {
    id,
    destinationId,
    attempts,
    sinceMs,
    message: { messageId, kind, summary, payload },
    target: {
      type,
      url: opened(url),
      recipients: recipients ?? [],
      secrets: [opened(secret), overlaps ? opened(previousSecret) : null].filter((one) => one !== null),
    },
  };
}
