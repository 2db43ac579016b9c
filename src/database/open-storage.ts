import { resolve } from 'node:path';
import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { RepeatLog } from '../process/repeat-log.js';
import type { ChangeSource } from './change-source.js';
import { type ConnectedClient, createPostgresClient, createSqliteClient } from './client.js';
import { type DatabaseLocation, databasePlace, parseDatabaseUrl } from './database-url.js';
import { createPostgresChangeSource } from './postgres-change-source.js';
import { explainedConnection } from './postgres-failure.js';
import { type CheckedPart, quickCheck } from './quick-check.js';
import { createSqliteChangeSource } from './sqlite-change-source.js';
import { emptyLog } from './sqlite-connection.js';
import { explainedFailure, prepareSqliteFile } from './sqlite-file.js';
import { SqliteFiles } from './sqlite-files.js';
import { type StorageChecks, StorageMonitor } from './storage-monitor.js';
import { counted, prepareStructure, type StructureSettings } from './structure.js';
import { createWriteProbe } from './write-probe.js';

/** How to open the database. */
export interface DatabaseOptions {
  /** See `parseDatabaseUrl`. The folder of a SQLite file is created. */
  readonly url: string;
  /** Name of the variable with the URL, for errors. */
  readonly variable?: string;
  readonly logger?: { warn(details: object, message: string): void };
  /** Receives broken connections and state changes of the storage. */
  readonly failures?: Pick<RepeatLog, 'told' | 'failed'>;
  /** Called with the text of every SQL statement, to count them. */
  readonly onQuery?: (sql: string) => void;
  /** False leaves the structure unchanged: for a second connection to a database that is already open. */
  readonly migrate?: boolean;
  /** By default missing migrations are applied. */
  readonly structure?: StructureSettings;
}

/** An open database below its transactions. */
export interface OpenedStorage {
  readonly kind: DatabaseLocation['kind'];
  readonly client: ConnectedClient;
  readonly monitor: StorageMonitor;
  readonly instanceId: string;
  readonly created: boolean;
  openChanges(): ChangeSource;
  /** Ends all connections. */
  close(): Promise<void>;
}

const DEFAULT_VARIABLE = 'DATABASE_URL';

/** Opens a database and migrates its structure. May also reject with errors of the driver. */
export async function openStorage(options: DatabaseOptions): Promise<OpenedStorage> {
  const location = parseDatabaseUrl(options.url);
  const { variable = DEFAULT_VARIABLE } = options;
  if (location.kind === 'postgresql') {
    try {
      return await openPostgres(location, options);
    } catch (error) {
      throw explainedConnection(error, location, variable);
    }
  }
  // A later change of the working directory must not redirect a second connection.
  const path = resolve(location.path);
  try {
    return await openSqlite(path, options);
  } catch (error) {
    throw explainedFailure(error, path, variable);
  }
}

async function openSqlite(path: string, options: DatabaseOptions): Promise<OpenedStorage> {
  const location: DatabaseLocation = { kind: 'sqlite', path };
  // What must not be migrated must not be created either.
  const { mode } = structureOf(options);
  if (options.migrate !== false && mode !== 'auto') await broughtUpToDate(location, path, options);
  await prepareSqliteFile(path);
  if (options.migrate !== false) tellUnchecked(await quickCheck(path), path, options);
  const created = mode === 'auto' && (await broughtUpToDate(location, path, options));
  const files = SqliteFiles.open(path);
  let instanceId: string;
  try {
    instanceId = demandInstanceId(files.readInstanceId());
  } catch (error) {
    files.close();
    throw error;
  }
  const events = eventsOf(options, () => monitor);
  const client = createSqliteClient(path, files.opened, events);
  const { bulk } = client;
  const close = async (): Promise<void> => {
    await client.disconnect();
    emptyLog(path, files.opened);
    files.close();
  };
  const checks: StorageChecks = {
    verify: () => files.verify(),
    verifyWritable: () => files.verifyWritable(),
    write: createWriteProbe(bulk, instanceId),
    async rescue() {
      // The connections still have the log, but a restart would not: it contains acknowledged writes.
      if (!files.isLogMissing) return null;
      if (!(await bulk.copyLog())) throw new Error('readers keep the log from being copied');
      return 'the log (-wal) was removed; all that it held was copied into the database; restart the service';
    },
    damageMayPass: false,
  };
  const monitor = new StorageMonitor({ checks, place: path, log: options.failures });
  const openChanges = () => createSqliteChangeSource(path, files.opened);
  return { kind: 'sqlite', client, monitor, instanceId, created, openChanges, close };
}

async function openPostgres(
  location: Extract<DatabaseLocation, { kind: 'postgresql' }>,
  options: DatabaseOptions,
): Promise<OpenedStorage> {
  const { connectionString } = location;
  const place = databasePlace(location);
  const created = await broughtUpToDate(location, place, options);
  const events = eventsOf(options, () => monitor);
  const client = createPostgresClient(connectionString, events);
  const instanceId = await readInstanceId(client);
  const checks: StorageChecks = {
    verify: async () => {},
    verifyWritable: async () => {},
    write: createWriteProbe(client.bulk, instanceId),
    rescue: async () => null,
    damageMayPass: true,
  };
  const monitor = new StorageMonitor({ checks, place, log: options.failures });
  const openChanges = () => createPostgresChangeSource(connectionString, instanceId);
  const { disconnect: close } = client;
  return { kind: 'postgresql', client, monitor, instanceId, created, openChanges, close };
}

function eventsOf({ failures, onQuery }: DatabaseOptions, monitor: () => StorageMonitor) {
  return {
    onQuery,
    onFailure: (error: unknown) => monitor().failed(error),
    onConnectionError: (error: Error) => {
      failures?.failed('connection', 'a database connection broke', error);
    },
  };
}

const structureOf = ({ structure = AUTOMATIC }: DatabaseOptions): StructureSettings => structure;
const AUTOMATIC: StructureSettings = { mode: 'auto', url: null };

/** Applies missing migrations, or demands that none are missing. True when all of them were. */
async function broughtUpToDate(
  location: DatabaseLocation,
  place: string,
  options: DatabaseOptions,
): Promise<boolean> {
  if (options.migrate === false) return false;
  const { logger, variable = DEFAULT_VARIABLE } = options;
  const { created, newer } = await prepareStructure(location, structureOf(options));
  if (newer.length > 0) {
    const what = `${counted(newer.length, 'migration')} of a later version that this one can work with`;
    logger?.warn({ database: place, migrations: newer }, `the database has ${what}`);
  }
  if (created) {
    const advice = `if data was expected here, check ${variable} and that the volume is mounted`;
    logger?.warn({ database: place }, `created a new, empty database at ${place}; ${advice}`);
  }
  return created;
}

function tellUnchecked(checked: CheckedPart, path: string, { logger }: DatabaseOptions): void {
  if (checked === 'all') return;
  const message = 'the database is large: its events were not checked for damage, everything else was';
  logger?.warn({ database: path }, message);
}

async function readInstanceId({ bulk, disconnect }: ConnectedClient): Promise<string> {
  try {
    const query = Prisma.sql`SELECT "instance_id" FROM "service_state" WHERE "id" = 1`;
    const rows = await bulk.read('statistics', query);
    return demandInstanceId(rows[0]?.[0]);
  } catch (error) {
    await disconnect();
    throw error;
  }
}

function demandInstanceId(id: unknown): string {
  if (typeof id !== 'string' || id === '') throw new Error('the database has no instance id');
  return id;
}
