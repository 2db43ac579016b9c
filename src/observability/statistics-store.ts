import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { DbClient } from '../database/client.js';
import { allOf } from '../database/text.js';
import type { TimeWindow } from './time-range.js';

/** Counts of the events of one control, one control name and one bucket of time. */
export interface EventGroup {
  readonly controlId: number;
  readonly controlName: string;
  /** 0 is the oldest. Null for events that are in no bucket, and when buckets were not asked for. */
  readonly bucket: number | null;
  readonly executions: number;
  readonly matches: number;
  readonly nonMatches: number;
  readonly errors: number;
  readonly denies: number;
  readonly steers: number;
  readonly observes: number;
  readonly confidenceSum: number;
  readonly durationSum: number;
  /** Events that have a duration. */
  readonly durations: number;
}

/** Which events to count. */
export interface StatisticsQuery {
  readonly agentName: string;
  /** Null for all controls. */
  readonly controlId: number | null;
  readonly window: TimeWindow;
  readonly byBucket: boolean;
}

type Row = { readonly [Column in keyof EventGroup]: EventGroup[Column] | bigint };

const FAILED = Prisma.sql`"error_message" IS NOT NULL`;
const SUCCEEDED = Prisma.sql`"error_message" IS NULL`;

/** Counts events in one statement, so that all figures made from the groups agree with each other. */
export async function countEvents(client: DbClient, query: StatisticsQuery): Promise<EventGroup[]> {
  const { agentName, controlId, window, byBucket } = query;
  const filters = [Prisma.sql`"agent_name" = ${agentName}`, Prisma.sql`"time_us" >= ${window.startUs}`];
  if (controlId !== null) filters.push(Prisma.sql`"control_id" = ${controlId}`);
  const bucket = byBucket
    ? Prisma.sql`CASE WHEN "time_us" < ${window.bucketsEndUs}
        THEN ("time_us" - ${window.startUs}) / ${window.bucketUs} ELSE -1 END`
    : Prisma.sql`-1`;
  const rows = await client.$queryRaw<Row[]>`
    SELECT "control_id" AS "controlId", "control_name" AS "controlName", ${bucket} AS "bucket",
      COUNT(*) AS "executions",
      COUNT(*) FILTER (WHERE "matched" AND ${SUCCEEDED}) AS "matches",
      COUNT(*) FILTER (WHERE NOT "matched" AND ${SUCCEEDED}) AS "nonMatches",
      COUNT(*) FILTER (WHERE ${FAILED}) AS "errors",
      COUNT(*) FILTER (WHERE "matched" AND "action" = 'deny') AS "denies",
      COUNT(*) FILTER (WHERE "matched" AND "action" = 'steer') AS "steers",
      COUNT(*) FILTER (WHERE "matched" AND "action" = 'observe') AS "observes",
      SUM("confidence") AS "confidenceSum",
      COALESCE(SUM("duration_ms"), 0.0) AS "durationSum",
      COUNT("duration_ms") AS "durations"
    FROM "events" WHERE ${allOf(filters)} GROUP BY 1, 2, 3`;
  return rows.map(groupOf);
}

function groupOf(row: Row): EventGroup {
  const bucket = Number(row.bucket);
  return {
    controlId: Number(row.controlId),
    controlName: String(row.controlName),
    bucket: bucket < 0 ? null : bucket,
    executions: Number(row.executions),
    matches: Number(row.matches),
    nonMatches: Number(row.nonMatches),
    errors: Number(row.errors),
    denies: Number(row.denies),
    steers: Number(row.steers),
    observes: Number(row.observes),
    confidenceSum: Number(row.confidenceSum),
    durationSum: Number(row.durationSum),
    durations: Number(row.durations),
  };
}
