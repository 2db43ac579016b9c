import { type ClickHouseLocation, openServer, type ServerCalls, TablesError } from './server-calls.js';

/** Blocks whose token is remembered: an insert is repeated within seconds, and has one block for each partition. */
const REMEMBERED_BLOCKS = 10_000;
/** How long reading the version may take, in milliseconds. */
const READ_LIMIT_MS = 10_000;
/** Code of ClickHouse for a database that does not exist. */
const UNKNOWN_DATABASE = '81';

/** Parts of the statements that create tables. */
export interface TableEngines {
  /** The engine with its arguments; the replicated one needs no path on servers with default macros. */
  engine(name: string, ...more: readonly string[]): string;
  /** Settings of a table whose inserts have their effect once, and survive a crash. */
  readonly settings: string;
}

/** Tables that belong together, and are created together. */
export interface TablesSchema {
  readonly version: number;
  /** The table that has the version. */
  readonly versionTable: string;
  /** The statements that create the other tables, which change nothing when these exist. */
  statements(engines: TableEngines): readonly string[];
  /**
   * Statements after these that add what the same version lacks where an earlier release created it, and which that
   * release can do without. They change nothing when it exists.
   */
  readonly additions?: readonly string[];
}

/** How tables are created on a server with replicas, or on one without. */
function enginesOf(isReplicated: boolean): TableEngines {
  const prefix = isReplicated ? 'Replicated' : '';
  const window = isReplicated ? 'replicated_deduplication_window' : 'non_replicated_deduplication_window';
  return {
    engine: (name, ...more) => `${prefix}${name}(${more.join(', ')})`,
    settings: `${window} = ${REMEMBERED_BLOCKS}, fsync_after_insert = 1`,
  };
}

export interface PrepareTablesOptions {
  readonly server: ServerCalls;
  readonly location: ClickHouseLocation;
  readonly application: string;
  readonly schema: TablesSchema;
  readonly name: string;
}

/** Creates the database and the tables where they are missing, and checks their version. */
export async function prepareTables(options: PrepareTablesOptions): Promise<void> {
  const { server, location, schema, name } = options;
  const version = await versionOf(options);
  if (version > schema.version) {
    throw new TablesError(
      `The tables of the ${name} have version ${version}, which is later than ${schema.version}: they belong to a later release.`,
    );
  }
  if (version === schema.version) return add(options);
  const engines = enginesOf(location.isReplicated);
  for (const statement of schema.statements(engines)) await server.command(statement);
  await server.command(`CREATE TABLE IF NOT EXISTS ${schema.versionTable} (version UInt32)
     ENGINE = ${engines.engine('ReplacingMergeTree')} ORDER BY version`);
  await add(options);
  // Last, so that a creation that was interrupted is completed by the next start.
  await server.command(`INSERT INTO ${schema.versionTable} VALUES (${schema.version})`);
}

async function add({ server, schema }: PrepareTablesOptions): Promise<void> {
  for (const statement of schema.additions ?? []) await server.command(statement);
}

/** 0 when there are no tables yet. */
async function versionOf({ server, location, application, schema }: PrepareTablesOptions): Promise<number> {
  const { versionTable } = schema;
  const numberOf = async (text: string) => {
    const [row] = await server.read({ text }, READ_LIMIT_MS);
    return Number(row?.[0] ?? 0);
  };
  try {
    const tables = await numberOf(
      `SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = '${versionTable}'`,
    );
    if (tables === 0) return 0;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === UNKNOWN_DATABASE)) throw error;
    // Every call names its database, so another one is needed.
    const bootstrap = await openServer({ ...location, database: 'system' }, application);
    await bootstrap
      .command(`CREATE DATABASE IF NOT EXISTS ${location.database}`)
      .finally(() => bootstrap.close());
    return 0;
  }
  return numberOf(`SELECT max(version) FROM ${versionTable}`);
}
