import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase, BulkRow } from '../../database/bulk.js';
import type { DatabaseLocation } from '../../database/database-url.js';
import { jsonElements } from '../../database/json-elements.js';
import { allOf } from '../../database/text.js';
import { type Count, countOf } from '../store/count.js';
import type { ControlSums, NamedSums, Statistics, StatisticsStore, Sums } from '../store/event-statistics.js';
import { segmentsOf } from '../store/time-range.js';
import { SUMS } from './rollups.js';

export function createStatisticsStore(database: {
  readonly kind: DatabaseLocation['kind'];
  readonly bulk: Pick<BulkDatabase, 'read'>;
}): StatisticsStore {
  const elements = jsonElements(database.kind);
  // Both look up the segments one by one in an index. By default, PostgreSQL would read all rollups.
  const isSqlite = database.kind === 'sqlite';
  return {
    async count(query) {
      const { agentName, controlId, window, byBucket, agents, controls, topControls } = query;
      const segments = segmentsOf(window, byBucket).map(({ bucket, unitS, fromS, toS }) => [
        bucket,
        unitS,
        fromS,
        toS,
      ]);
      const filters = [
        Prisma.sql`"unit_s" = CAST("item" ->> 1 AS INTEGER)`,
        Prisma.sql`"start_s" >= CAST("item" ->> 2 AS BIGINT)`,
        Prisma.sql`"start_s" < CAST("item" ->> 3 AS BIGINT)`,
      ];
      if (agentName !== null) filters.unshift(Prisma.sql`"agent_name" = ${agentName}`);
      if (controlId !== null) filters.push(Prisma.sql`"control_id" = ${controlId}`);
      const rollups = isSqlite
        ? Prisma.sql`CROSS JOIN "event_rollups" WHERE ${allOf(filters)}`
        : Prisma.sql`CROSS JOIN LATERAL (SELECT * FROM "event_rollups" WHERE ${allOf(filters)} OFFSET 0) AS "r"`;
      const rows = await database.bulk.read(
        'statistics',
        Prisma.sql`
          WITH "found" AS MATERIALIZED (
            SELECT CAST("item" ->> 0 AS INTEGER) AS "bucket", "agent_name", "control_id", "name_key", ${SUMS_OF_ROLLUPS}
            FROM ${elements(JSON.stringify(segments))} ${rollups}
            GROUP BY 1, 2, 3, 4
          )
          SELECT 0, "bucket", ${NO_TEXT}, ${NO_INTEGER}, ${NO_TEXT}, ${SUMS_OF_FOUND}
          FROM "found" GROUP BY "bucket"
          ${agents === 0 ? Prisma.empty : byAgent(agents)}
          ${byControl(controls)}
          ${topControls === 0 ? Prisma.empty : overAgents(topControls)}`,
      );
      return readStatistics(rows.filter((row) => Number(row[FIRST_SUM]) > 0));
    },
  };
}

/**
 * Sums of billionths and nanoseconds, which can exceed 64 bits over many rollups. They are summed as two parts, which
 * cannot: the multiples of 2^32, and the rest.
 */
const WIDE: ReadonlySet<string> = new Set(['confidence_nano', 'duration_high', 'duration_low']);
const PART = 2 ** 32;

const sumAs = (value: string, name: string) => `CAST(SUM(${value}) AS BIGINT) AS "${name}"`;
const SUMS_OF_ROLLUPS = Prisma.raw(
  SUMS.flatMap((name) =>
    WIDE.has(name)
      ? [sumAs(`"${name}" / ${PART}`, `${name}_parts`), sumAs(`"${name}" % ${PART}`, `${name}_rest`)]
      : [sumAs(`"${name}"`, name)],
  ).join(', '),
);
/** The same of the table `"found"`. */
const SUMS_OF_FOUND = Prisma.raw(
  SUMS.flatMap((name) => (WIDE.has(name) ? [`${name}_parts`, `${name}_rest`] : [name]))
    .map((name) => sumAs(`"${name}"`, name))
    .join(', '),
);

/** PostgreSQL treats a bare NULL in a UNION as text. */
const NO_TEXT = Prisma.raw('CAST(NULL AS TEXT)');
const NO_INTEGER = Prisma.raw('CAST(NULL AS INTEGER)');

/** Branches of a UNION accept LIMIT only inside. */
function byAgent(limit: number): Prisma.Sql {
  return Prisma.sql`
    UNION ALL SELECT * FROM (
      SELECT 1, ${NO_INTEGER}, "agent_name", ${NO_INTEGER}, ${NO_TEXT}, ${SUMS_OF_FOUND} FROM "found"
      GROUP BY "agent_name" ORDER BY "executions" DESC, "agent_name" LIMIT ${limit}
    ) AS "top_agents"`;
}

/** Two keys can stand for one name: the keys of long names used to be different. */
function byControl(limit: number): Prisma.Sql {
  return Prisma.sql`
    UNION ALL SELECT * FROM (
      SELECT 2, ${NO_INTEGER}, "agent_name", "control_id", COALESCE("control_name", "found"."name_key") AS "shown", ${SUMS_OF_FOUND}
      FROM "found" LEFT JOIN "event_control_names" ON "event_control_names"."name_key" = "found"."name_key"
      GROUP BY "agent_name", "control_id", "shown"
      ORDER BY "executions" DESC, "agent_name", "control_id", "shown" LIMIT ${limit}
    ) AS "top_controls"`;
}

function overAgents(limit: number): Prisma.Sql {
  return Prisma.sql`
    UNION ALL SELECT * FROM (
      SELECT 3, ${NO_INTEGER}, ${NO_TEXT}, "control_id", COALESCE("control_name", "found"."name_key") AS "shown", ${SUMS_OF_FOUND}
      FROM "found" LEFT JOIN "event_control_names" ON "event_control_names"."name_key" = "found"."name_key"
      GROUP BY "control_id", "shown"
      ORDER BY "executions" DESC, "control_id", "shown" LIMIT ${limit}
    ) AS "top_controls_over_agents"`;
}

const FIRST_SUM = 5;

function readStatistics(rows: readonly BulkRow[]): Statistics {
  const buckets = new Map<number | null, Sums>();
  const agents: (Sums & { agentName: string })[] = [];
  const controls: ControlSums[] = [];
  const topControls: NamedSums[] = [];
  for (const row of rows) {
    const [kind, bucket, agentName, controlId, controlName] = row;
    const sums = readSums(row.slice(FIRST_SUM));
    if (Number(kind) === 0) buckets.set(bucket === null ? null : Number(bucket), sums);
    else if (Number(kind) === 1) agents.push({ agentName: String(agentName), ...sums });
    else {
      const control = { controlId: Number(controlId), controlName: String(controlName), ...sums };
      if (Number(kind) === 2) controls.push({ agentName: String(agentName), ...control });
      else topControls.push(control);
    }
  }
  const most = (a: Sums, b: Sums) =>
    Number(b.executions > a.executions) - Number(b.executions < a.executions);
  agents.sort((a, b) => most(a, b) || byText(a.agentName, b.agentName));
  const byControl = (a: NamedSums, b: NamedSums) =>
    a.controlId - b.controlId || byText(a.controlName, b.controlName);
  controls.sort((a, b) => most(a, b) || byText(a.agentName, b.agentName) || byControl(a, b));
  topControls.sort((a, b) => most(a, b) || byControl(a, b));
  return { buckets, agents, controls, topControls };
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** In the order of `SUMS`. */
function readSums(row: BulkRow): Sums {
  const [executions, matches, nonMatches, errors, denies, steers, observes, ...rest] = row.map(countOf);
  const [nanoParts, nanoRest, durations, highParts, highRest, lowParts, lowRest] = rest;
  const whole = (parts: Count | undefined, remainder: Count | undefined) =>
    Number(parts ?? 0) * PART + Number(remainder ?? 0);
  return {
    executions: executions ?? 0,
    matches: matches ?? 0,
    nonMatches: nonMatches ?? 0,
    errors: errors ?? 0,
    denies: denies ?? 0,
    steers: steers ?? 0,
    observes: observes ?? 0,
    confidenceSum: whole(nanoParts, nanoRest) / 1e9,
    durations: durations ?? 0,
    durationSum: whole(highParts, highRest) * 65_536 + whole(lowParts, lowRest) / 1e6,
  };
}
