import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import type { EventScope } from '../../../src/observe/events/store/event-keys.js';
import type {
  ControlSums,
  NamedSums,
  StatisticsStore,
  Sums,
} from '../../../src/observe/events/store/event-statistics.js';
import { SUMS, sumsOf, WIDE_SUMS } from '../../../src/observe/events/store/rollup-sums.js';
import {
  type RollupSegment,
  segmentsOf,
  type TimeWindow,
} from '../../../src/observe/events/store/time-range.js';
import type { ClickHouseRow } from '../../clickhouse-tables/src/index.js';
import type { ClickHouseConnection } from './clickhouse-connection.js';

const SUMMED = SUMS.map(
  (name, index) => `sum(${WIDE_SUMS.has(name) ? `toInt128(${name})` : name}) AS sum_${index}`,
);
const SUM_ALIASES = SUMS.map((_, index) => `sum_${index}`);

const SUM_OF = {
  matches: `sum_${SUMS.indexOf('matches')}`,
  errors: `sum_${SUMS.indexOf('errors')}`,
} as const;

/** Groups of one query, by the number that `grouping` gives: a bit is set for each key that is left out. */
const KEYS = 'bucket, agent_name, control_id, control_name';
const BY_BUCKET = 0b0111;
const BY_AGENT = 0b1011;
const BY_CONTROL_OF_AGENT = 0b1000;
const BY_CONTROL = 0b1100;

/** What the first ones have most of, where the controls over all agents are those with most matches and errors. */
const MOST_MATCHES = `if(kind = ${BY_CONTROL}, ${SUM_OF.matches} + ${SUM_OF.errors}, sum_0)`;

export function createStatisticsStore(connection: Pick<ClickHouseConnection, 'read'>): StatisticsStore {
  return {
    async count({
      namespace = DEFAULT_NAMESPACE,
      agentName,
      controlId,
      window,
      byBucket,
      agents,
      controls,
      topControls,
      topByMatches = false,
    }) {
      const filters = [`(${segmentsOf(window, byBucket).map(isIn).join(' OR ')})`];
      const agent = agentOf(namespace, agentName);
      filters.push(...agent.filters);
      if (controlId !== null) filters.push(`control_id = ${controlId}`);
      // One query, so that all figures are of one moment.
      const rows = await connection.read('statistics', {
        text: `
          SELECT kind, ${KEYS}, ${SUM_ALIASES.map((name) => `toString(${name})`).join(', ')} FROM (
            SELECT *, row_number() OVER (
              PARTITION BY kind ORDER BY ${topByMatches ? MOST_MATCHES : 'sum_0'} DESC, agent_name, control_id, control_name) AS place
            FROM (
              SELECT grouping(${KEYS}) AS kind, ${bucketOf(window, byBucket)} AS bucket, agent_name, control_id,
                control_name, ${SUMMED.join(', ')}
              FROM event_rollups WHERE ${filters.join(' AND ')}
              GROUP BY GROUPING SETS (
                (bucket), (agent_name), (agent_name, control_id, control_name), (control_id, control_name))
              HAVING sum_0 > 0))
          WHERE kind = ${BY_BUCKET} OR (kind = ${BY_AGENT} AND place <= ${agents})
            OR (kind = ${BY_CONTROL_OF_AGENT} AND place <= ${controls})
            OR (kind = ${BY_CONTROL} AND place <= ${topControls})
          ORDER BY kind, place`,
        parameters: agent.parameters,
      });
      const of = (wanted: number) => rows.filter(([kind]) => Number(kind) === wanted);
      return {
        buckets: new Map(
          of(BY_BUCKET).map((row) => [Number(row[1]) === NO_BUCKET ? null : Number(row[1]), readSums(row)]),
        ),
        agents: of(BY_AGENT).map((row) => ({ agentName: String(row[2]), ...readSums(row) })),
        controls: of(BY_CONTROL_OF_AGENT).map(
          (row): ControlSums => ({ agentName: String(row[2]), ...readNamed(row) }),
        ),
        topControls: of(BY_CONTROL).map(readNamed),
      };
    },
  };
}

/** Conditions on the agents, whose keys tell their namespace. Each distinct key is looked at once: the column is a dictionary. */
function agentOf(namespace: EventScope, agentName: string | null) {
  if (agentName !== null) {
    const agent = namespace === 'all' ? agentName : namespace.agentKey(agentName);
    return { filters: ['agent_name = {agent:String}'], parameters: { agent } };
  }
  if (namespace === 'all') return { filters: [], parameters: {} };
  if (namespace.isDefault) return { filters: ["position(agent_name, '/') = 0"], parameters: {} };
  return { filters: ['startsWith(agent_name, {prefix:String})'], parameters: { prefix: namespace.prefix } };
}

const NO_BUCKET = -1;

/** Each segment is inside of one bucket, or in none. */
function bucketOf({ startS, bucketS, bucketsEndS }: TimeWindow, byBucket: boolean): string {
  if (!byBucket) return `materialize(toInt64(${NO_BUCKET}))`;
  return `if(start_s < ${bucketsEndS}, intDiv(start_s - ${startS}, ${bucketS}), ${NO_BUCKET})`;
}

function isIn({ unitS, fromS, toS }: RollupSegment): string {
  return `(unit_s = ${unitS} AND start_s >= ${fromS} AND start_s < ${toS})`;
}

function readNamed(row: ClickHouseRow): NamedSums {
  return { controlId: Number(row[3]), controlName: String(row[4]), ...readSums(row) };
}

const FIRST_SUM = 5;

function readSums(row: ClickHouseRow): Sums {
  return sumsOf(row.slice(FIRST_SUM));
}
