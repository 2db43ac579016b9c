import type { ClickHouseLocation } from '../../config/event-store-location.js';
import { unavailable } from '../../database/errors.js';
import { SUMS } from '../store/rollup-sums.js';
import { type ClickHouseRow, COLUMN_DEFINITIONS } from './clickhouse-row.js';

/** Version of the tables below. A server with a later one belongs to a later release. */
const SCHEMA_VERSION = 1;

/** Code of ClickHouse for a database that does not exist. */
const UNKNOWN_DATABASE = '81';

/** Blocks whose token is remembered: an insert is repeated within seconds, and has one block for each partition. */
const REMEMBERED_BLOCKS = 10_000;

interface Tables {
  /** The engine with its arguments; the replicated one needs no path on servers with default macros. */
  engine(name: string, ...more: readonly string[]): string;
  /** Settings that every table has. */
  readonly settings: string;
}

function tablesOf({ isReplicated }: ClickHouseLocation): Tables {
  const prefix = isReplicated ? 'Replicated' : '';
  const window = isReplicated ? 'replicated_deduplication_window' : 'non_replicated_deduplication_window';
  return {
    engine: (name, ...more) => `${prefix}${name}(${more.join(', ')})`,
    settings: `${window} = ${REMEMBERED_BLOCKS}, fsync_after_insert = 1`,
  };
}

/**
 * The statements that create the tables, which change nothing when these exist. `docs/clickhouse.md` describes the
 * tables, and gives the same statements for clusters.
 */
export function schemaStatements(location: ClickHouseLocation): readonly string[] {
  const { engine, settings } = tablesOf(location);
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
    `CREATE TABLE IF NOT EXISTS event_store_schema (version UInt32)
     ENGINE = ${engine('ReplacingMergeTree')} ORDER BY version`,
  ];
}

export interface SchemaAccess {
  readonly location: ClickHouseLocation;
  command(text: string): Promise<void>;
  read(text: string): Promise<readonly ClickHouseRow[]>;
  /** Runs a statement outside of the database. */
  createDatabase(text: string): Promise<void>;
}

/** Creates the database and the tables where they are missing, and checks their version. */
export async function prepareSchema(access: SchemaAccess): Promise<void> {
  const version = await versionOf(access);
  if (version > SCHEMA_VERSION) {
    throw unavailable(
      `The tables of the event store have version ${version}, which is later than ${SCHEMA_VERSION}: they belong to a later release.`,
    );
  }
  if (version === SCHEMA_VERSION) return;
  for (const statement of schemaStatements(access.location)) await access.command(statement);
  // Last, so that a creation that was interrupted is completed by the next start.
  await access.command(`INSERT INTO event_store_schema VALUES (${SCHEMA_VERSION})`);
}

/** 0 when there are no tables yet. */
async function versionOf({ location, read, createDatabase }: SchemaAccess): Promise<number> {
  const query = `SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'event_store_schema'`;
  try {
    const [found] = await read(query);
    if (Number(found?.[0] ?? 0) === 0) return 0;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === UNKNOWN_DATABASE)) throw error;
    await createDatabase(`CREATE DATABASE IF NOT EXISTS ${location.database}`);
    return 0;
  }
  const [row] = await read('SELECT max(version) FROM event_store_schema');
  return Number(row?.[0] ?? 0);
}
