import { randomUUID } from 'node:crypto';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { DbClient } from './client.js';

/** What notifications tell of, sorted. */
export const NOTIFICATION_KINDS = [
  'agent.heard_again',
  'agent.overdue',
  'approval.asked',
  'approval.decided',
  'control.changed',
  'control.error_rate',
  'control.first_deny',
  'halt.set',
  'limit.reached',
] as const;

export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** Something that destinations can be told of. It has names and ids only: no secrets, and nothing of the data of steps. */
export interface NotificationFact {
  /** Name of the namespace whose destinations are told; null for those of all. */
  readonly namespace: string | null;
  readonly kind: NotificationKind;
  /** What it is about, such as `control:12`: notifications of one object are sent in order. */
  readonly object: string;
  /** One line of plain text. */
  readonly summary: string;
  readonly data: JsonObject;
  /** Path of its page in the dashboard, such as `/ui/controls/12`; absent without one. */
  readonly path?: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
}

export interface NotifyOptions {
  /** Most notifications that wait for a destination. Beyond it new ones are dropped, and counted. */
  readonly maxWaiting: number;
  /** Address of the service for links, without a slash at its end; null for no links. */
  readonly publicUrl: string | null;
}

/** Stores a fact for each destination that is subscribed to its kind, in the transaction of `tx`: both are kept, or neither. */
export type Notify = (tx: DbClient, fact: NotificationFact) => Promise<void>;

export function createNotify(options: NotifyOptions): Notify {
  return async (tx, fact) => {
    for (const statement of outboxStatements(fact, options)) await tx.$executeRaw(statement);
  };
}

/** The statements that store a fact, in this order. */
export function outboxStatements(
  { namespace, kind, object, summary, data, path, timeMs }: NotificationFact,
  { maxWaiting, publicUrl }: NotifyOptions,
): [Prisma.Sql, Prisma.Sql] {
  const told = {
    ...(namespace === null ? {} : { namespace }),
    ...data,
    ...(path === undefined || publicUrl === null ? {} : { url: `${publicUrl}${path}` }),
  };
  const timestamp = new Date(timeMs).toISOString();
  const payload = storable(stringifyJson({ type: kind, timestamp, data: told }));
  const subscribed = Prisma.sql`d."enabled" AND d."kinds" LIKE ${`%"${kind}"%`}
    ${namespace === null ? Prisma.empty : Prisma.sql`AND d."namespace" = ${namespace}`}`;
  const waiting = Prisma.sql`(SELECT COUNT(*) FROM "notification_deliveries" w
    WHERE w."destination_id" = d."id" AND w."state" = 'waiting')`;
  const time = Prisma.sql`CAST(${BigInt(timeMs)} AS BIGINT)`;
  return [
    Prisma.sql`UPDATE "notification_destinations" AS d SET "dropped" = "dropped" + 1
      WHERE ${subscribed} AND ${waiting} >= ${maxWaiting} AND "dropped" < 2147483647`,
    Prisma.sql`
      INSERT INTO "notification_deliveries" ("namespace", "destination_id", "message_id", "kind", "object", "summary",
        "payload", "created_at_ms", "since_ms", "next_at_ms")
      SELECT d."namespace", d."id", CAST(${`msg_${randomUUID()}.`} AS TEXT) || d."id", CAST(${kind} AS TEXT),
        CAST(${object} AS TEXT), CAST(${storable(oneLine(summary))} AS TEXT), CAST(${payload} AS TEXT), ${time}, ${time}, ${time}
      FROM "notification_destinations" d WHERE ${subscribed} AND ${waiting} < ${maxWaiting} ORDER BY d."id"`,
  ];
}

/** Longest summary, in units of UTF-16. */
const MAX_SUMMARY = 500;

function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return line.length <= MAX_SUMMARY ? line : `${line.slice(0, MAX_SUMMARY - 1)}…`;
}

/** Without what one database would refuse. */
function storable(text: string): string {
  return text.replaceAll('\0', ' ').toWellFormed();
}
