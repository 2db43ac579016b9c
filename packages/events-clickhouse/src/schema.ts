import { SUMS } from '../../../src/observe/events/store/rollup-sums.js';
import type { TableEngines, TablesSchema } from '../../clickhouse-tables/src/index.js';
import { COLUMN_DEFINITIONS } from './clickhouse-row.js';

/** The namespace in the key of an agent. */
const NAMESPACE =
  "if(position(agent_name, '/') = 0, 'default', substring(agent_name, 1, position(agent_name, '/') - 1))";

/** `docs/clickhouse.md` describes the tables. A server with a later version belongs to a later release. */
export const SCHEMA: TablesSchema = {
  version: 1,
  versionTable: 'event_store_schema',
  statements: statementsOf,
  additions: [
    `ALTER TABLE events ADD COLUMN IF NOT EXISTS namespace LowCardinality(String) MATERIALIZED ${NAMESPACE}`,
  ],
};

function statementsOf({ engine, settings }: TableEngines): readonly string[] {
  const text = (name: string) => `INDEX by_${name} ${name} TYPE bloom_filter(0.01) GRANULARITY 1`;
  const few = (name: string) => `INDEX by_${name} ${name} TYPE set(100) GRANULARITY 1`;
  const range = (name: string) => `INDEX by_${name} ${name} TYPE minmax GRANULARITY 1`;
  const texts = ['trace_id', 'span_id', 'session_id', 'step_id', 'decision_id'].map(text);
  return [
    `CREATE TABLE IF NOT EXISTS events (${COLUMN_DEFINITIONS},
      ${[range('position'), range('batch'), few('agent_name'), few('control_id'), few('facets'), ...texts].join(', ')})
     ENGINE = ${engine('VersionedCollapsingMergeTree', 'sign', 'version')}
     PARTITION BY partition ORDER BY (time_us, position) SETTINGS ${settings}`,
    `CREATE TABLE IF NOT EXISTS event_changes (${COLUMN_DEFINITIONS})
     ENGINE = ${engine('MergeTree')} ORDER BY (batch, position, version, sign) SETTINGS ${settings}`,
    `CREATE TABLE IF NOT EXISTS event_ids (
      hash UInt64, id String, position UInt64, version UInt8, time_us Int64, partition UInt32)
     ENGINE = ${engine('MergeTree')} ORDER BY hash
     SETTINGS index_granularity = 128, min_compress_block_size = 1024, max_compress_block_size = 4096, ${settings}`,
    `CREATE TABLE IF NOT EXISTS event_rollups (
      unit_s UInt32, start_s Int64, agent_name LowCardinality(String), control_id Int32,
      control_name LowCardinality(String), ${SUMS.map((name) => `${name} Int64`).join(', ')})
     ENGINE = ${engine('SummingMergeTree', `(${SUMS.join(', ')})`)}
     ORDER BY (unit_s, start_s, agent_name, control_id, control_name) SETTINGS ${settings}`,
  ];
}
