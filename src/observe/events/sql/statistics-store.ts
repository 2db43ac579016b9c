import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { DEFAULT_NAMESPACE } from '../../../contract/call/namespace.js';
import type { BulkDatabase, BulkRow } from '../../../storage/database/bulk.js';
import type { DatabaseLocation } from '../../../storage/database/database-url.js';
import { addCounts, type Count } from '../store/count.js';
import type { EventScope } from '../store/event-keys.js';
import type { ControlSums, NamedSums, Statistics, StatisticsStore, Sums } from '../store/event-statistics.js';
import { SUMS, sumsOf, WIDE_SUMS } from '../store/rollup-sums.js';
import { segmentsOf } from '../store/time-range.js';
import { inNamespace } from './event-conditions.js';
import { rollupsOf } from './rollups.js';

export function createStatisticsStore(database: {
  readonly kind: DatabaseLocation['kind'];
  readonly bulk: Pick<BulkDatabase, 'read'>;
}): StatisticsStore {
  return {
    async count(query) {
      const {
        namespace = DEFAULT_NAMESPACE,
        agentName,
        controlId,
        window,
        byBucket,
        agents,
        controls,
        topControls,
        topByMatches = false,
      } = query;
      const rollups = rollupsOf(database.kind, segmentsOf(window, byBucket), [
        ...agentCondition(namespace, agentName),
        ...(controlId === null ? [] : [Prisma.sql`"control_id" = ${controlId}`]),
      ]);
      const rows = await database.bulk.read(
        'statistics',
        Prisma.sql`
          WITH "found" AS MATERIALIZED (
            SELECT CAST("item" ->> 0 AS INTEGER) AS "bucket", "agent_name", "control_id", "name_key", ${SUMS_OF_ROLLUPS}
            FROM ${rollups}
            GROUP BY 1, 2, 3, 4
          )
          SELECT 0, "bucket", ${NO_TEXT}, ${NO_INTEGER}, ${NO_TEXT}, ${SUMS_OF_FOUND}
          FROM "found" GROUP BY "bucket"
          ${agents === 0 ? Prisma.empty : byAgent(agents)}
          ${byControl(2, controls, 'executions')}
          ${topControls === 0 ? Prisma.empty : byControl(3, topControls, topByMatches ? 'matches' : 'executions')}`,
      );
      return readStatistics(
        rows.filter((row) => Number(row[FIRST_SUM]) > 0),
        topByMatches,
      );
    },
  };
}

function agentCondition(namespace: EventScope, agentName: string | null): Prisma.Sql[] {
  if (namespace === 'all') return agentName === null ? [] : [Prisma.sql`"agent_name" = ${agentName}`];
  return [
    agentName === null ? inNamespace(namespace) : Prisma.sql`"agent_name" = ${namespace.agentKey(agentName)}`,
  ];
}

/** Wide sums are summed as two parts, which cannot exceed 64 bits: the multiples of this, and the rest. */
const PART = 2n ** 32n;

const sumAs = (value: string, name: string) => `CAST(SUM(${value}) AS BIGINT) AS "${name}"`;
const SUMS_OF_ROLLUPS = Prisma.raw(
  SUMS.flatMap((name) =>
    WIDE_SUMS.has(name)
      ? [sumAs(`"${name}" / ${PART}`, `${name}_parts`), sumAs(`"${name}" % ${PART}`, `${name}_rest`)]
      : [sumAs(`"${name}"`, name)],
  ).join(', '),
);
/** The same of the table `"found"`. */
const SUMS_OF_FOUND = Prisma.raw(
  SUMS.flatMap((name) => (WIDE_SUMS.has(name) ? [`${name}_parts`, `${name}_rest`] : [name]))
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

/** What the first ones have most of. A sum of columns is no name of the query, so it is summed anew. */
const MOST = {
  executions: Prisma.raw('"executions"'),
  matches: Prisma.raw('SUM("found"."matches" + "found"."errors")'),
} as const;

/** By control of an agent, or over all agents. Two keys can stand for one name: the keys of long names used to differ. */
function byControl(kind: 2 | 3, limit: number, most: keyof typeof MOST): Prisma.Sql {
  const agent = Prisma.raw(kind === 2 ? '"agent_name", ' : '');
  return Prisma.sql`
    UNION ALL SELECT * FROM (
      SELECT ${Prisma.raw(String(kind))}, ${NO_INTEGER}, ${kind === 2 ? Prisma.raw('"agent_name"') : NO_TEXT}, "control_id",
        COALESCE("control_name", "found"."name_key") AS "shown", ${SUMS_OF_FOUND}
      FROM "found" LEFT JOIN "event_control_names" ON "event_control_names"."name_key" = "found"."name_key"
      GROUP BY ${agent}"control_id", "shown"
      ORDER BY ${MOST[most]} DESC, ${agent}"control_id", "shown" LIMIT ${limit}
    ) AS ${Prisma.raw(`"top_controls_${kind}"`)}`;
}

const FIRST_SUM = 5;

function readStatistics(rows: readonly BulkRow[], topByMatches: boolean): Statistics {
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
  const mostMatches = (a: Sums, b: Sums) => {
    const [one, other] = [a, b].map(({ matches, errors }) => addCounts(matches, errors)) as [Count, Count];
    return Number(other > one) - Number(other < one);
  };
  topControls.sort((a, b) => (topByMatches ? mostMatches : most)(a, b) || byControl(a, b));
  return { buckets, agents, controls, topControls };
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Puts the parts of wide sums together. */
function readSums(row: BulkRow): Sums {
  const left = row.values();
  const next = () => left.next().value ?? 0;
  return sumsOf(SUMS.map((name) => (WIDE_SUMS.has(name) ? BigInt(next()) * PART + BigInt(next()) : next())));
}
