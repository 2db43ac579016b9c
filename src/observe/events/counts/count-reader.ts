import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import { type Namespace, nameOfKey } from '../../../contract/call/namespace.js';
import type { BulkRow } from '../../../storage/database/bulk.js';
import type { Database } from '../../../storage/database/database.js';
import { inNamespace } from '../sql/event-conditions.js';
import { rollupsOf } from '../sql/rollups.js';
import { type Count, countOf } from '../store/count.js';
import { cover, type RollupSegment, segmentsOf, type TimeWindow } from '../store/time-range.js';
import { allAgentsOf, COUNT_LEVELS } from './count-store.js';
import { OUTCOME_SUMS, type OutcomeSum } from './outcome-sums.js';

/** Sums as they are read; `allowed` follows from them. */
export type ReadSums = Readonly<Record<OutcomeSum, Count>>;

export interface CountQuery {
  readonly namespace: Namespace;
  /** Null for all agents of the namespace. */
  readonly agentName: string | null;
  readonly window: TimeWindow;
  readonly byBucket: boolean;
  /** Start of what is counted before the window; null for nothing. */
  readonly previousStartS: number | null;
  /** Number of agents to list. */
  readonly agents: number;
  /** The only agents to list; empty for those with most denials. */
  readonly listed: readonly string[];
}

/** Figures of one consistent view. */
export interface FoundCounts {
  /** By bucket; null for counts in none. Buckets without an entry are empty. */
  readonly buckets: ReadonlyMap<number | null, ReadSums>;
  /** Undefined when there is nothing, or nothing was asked for. */
  readonly previous: ReadSums | undefined;
  /** Most denials first, then most evaluations, then by name. */
  readonly agents: readonly { readonly agentName: string; readonly sums: ReadSums }[];
  /** Since when evaluations are counted, in seconds since 1970; null before the first one is stored. */
  readonly sinceS: number | null;
}

/** Reads the stored counts. */
export type ReadCounts = (query: CountQuery) => Promise<FoundCounts>;

/** The bucket of what is before the window. */
const BEFORE = -1;
const UNITS = COUNT_LEVELS.map(({ unitS }) => unitS);

const columns = (value: (sum: OutcomeSum) => string) => Prisma.raw(OUTCOME_SUMS.map(value).join(', '));
const SUMS_OF_ROWS = columns((sum) => `CAST(SUM("${sum}") AS BIGINT) AS "${sum}"`);
const NO_SUMS = columns(() => '0');
const NO_TEXT = Prisma.raw('CAST(NULL AS TEXT)');
const NO_INTEGER = Prisma.raw('CAST(NULL AS INTEGER)');

/** Kinds of rows. */
const BUCKET = 0;
const AGENT = 1;
const SINCE = 2;

export function createReadCounts(
  database: Pick<Database, 'kind'> & { readonly bulk: Pick<Database['bulk'], 'read'> },
): ReadCounts {
  const counts = (segments: readonly RollupSegment[], condition: Prisma.Sql) =>
    rollupsOf(database.kind, segments, [condition], Prisma.raw('"evaluation_counts"'));
  return async ({ namespace, agentName, window, byBucket, previousStartS, agents, listed }) => {
    const before = previousStartS === null ? [] : cover(BEFORE, previousStartS, window.startS, UNITS);
    const sums = counts(
      [...before, ...segmentsOf(window, byBucket)],
      Prisma.sql`"agent_name" = ${agentName === null ? allAgentsOf(namespace) : namespace.agentKey(agentName)}`,
    );
    const byAgent = counts(segmentsOf(window, false), isListed(namespace, agentName, listed));
    const rows = await database.bulk.read(
      'statistics',
      Prisma.sql`
        SELECT ${BUCKET}, CAST("item" ->> 0 AS INTEGER) AS "bucket", ${NO_TEXT}, ${SUMS_OF_ROWS}
        FROM ${sums} GROUP BY 2
        UNION ALL SELECT * FROM (
          SELECT ${AGENT}, ${NO_INTEGER}, "agent_name", ${SUMS_OF_ROWS} FROM ${byAgent}
          GROUP BY "agent_name" ORDER BY 5 DESC, 4 DESC, "agent_name" LIMIT ${Math.max(agents, listed.length)}
        ) AS "agents"
        UNION ALL SELECT ${SINCE}, ${NO_INTEGER}, CAST("since_s" AS TEXT), ${NO_SUMS} FROM "evaluation_counting"`,
    );
    return readFound(rows);
  };
}

function isListed(namespace: Namespace, agentName: string | null, listed: readonly string[]): Prisma.Sql {
  const key = (name: string) => namespace.agentKey(name);
  if (agentName !== null) return Prisma.sql`"agent_name" = ${key(agentName)}`;
  if (listed.length > 0) return Prisma.sql`"agent_name" IN (${Prisma.join(listed.map(key))})`;
  return Prisma.sql`"agent_name" <> ${allAgentsOf(namespace)} AND ${inNamespace(namespace)}`;
}

function readFound(rows: readonly BulkRow[]): FoundCounts {
  const buckets = new Map<number | null, ReadSums>();
  const agents: { agentName: string; sums: ReadSums }[] = [];
  let sinceS: number | null = null;
  for (const [kind, bucket, text, ...values] of rows) {
    if (Number(kind) === SINCE) sinceS = Number(text);
    else if (Number(kind) === AGENT)
      agents.push({ agentName: nameOfKey(String(text)), sums: sumsOf(values) });
    else buckets.set(bucket === null || bucket === undefined ? null : Number(bucket), sumsOf(values));
  }
  const previous = buckets.get(BEFORE);
  buckets.delete(BEFORE);
  agents.sort((a, b) => most(a.sums.denied, b.sums.denied) || most(a.sums.evaluated, b.sums.evaluated));
  return { buckets, previous, agents, sinceS };
}

/** The larger one first. Those that are equal stay in their order, by name. */
function most(one: Count, other: Count): number {
  return Number(other > one) - Number(other < one);
}

function sumsOf(values: readonly (BulkRow[number] | undefined)[]): ReadSums {
  const [evaluated, denied, steered, denied_by_error, observed, failed] = values.map(countOf) as [
    Count,
    Count,
    Count,
    Count,
    Count,
    Count,
  ];
  return { evaluated, denied, steered, denied_by_error, observed, failed };
}
