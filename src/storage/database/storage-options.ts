import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { AuditRecord } from './audit-log.js';
import type { RecordedChange } from './change-log.js';
import type { AuditListener } from './change-notifications.js';
import type { ChangeSource } from './change-source.js';
import type { ConnectedClient, DbClient } from './client.js';
import type { DatabaseLocation } from './database-url.js';
import type { StorageMonitor } from './storage-monitor.js';
import { counted, prepareStructure, type StructureSettings } from './structure.js';

/**
 * Called in the transaction of every mutation that changed something: for what follows from its change. Returns the entry of
 * the audit log about it, which has the position `entryNo`; null if nothing follows.
 */
export type BeforeCommit = (
  tx: DbClient,
  change: RecordedChange,
  entryNo: number,
) => Promise<AuditRecord | null>;

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
  /** Whether a service uses the database, which writes and reads at once. By default it begins with the first use. */
  readonly serves?: boolean;
  readonly beforeCommit?: BeforeCommit;
  /** Told of each entry of the audit log, in its transaction. */
  readonly onAudit?: AuditListener;
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

/** Name of the variable with the URL, for errors, unless the options have one. */
export const DEFAULT_VARIABLE = 'DATABASE_URL';

export function eventsOf({ failures, onQuery }: DatabaseOptions, monitor: () => StorageMonitor) {
  return {
    onQuery,
    onFailure: (error: unknown) => monitor().failed(error),
    onConnectionError: (error: Error) => {
      failures?.failed('connection', 'a database connection broke', error);
    },
  };
}

export const structureOf = ({ structure = AUTOMATIC }: DatabaseOptions): StructureSettings => structure;
const AUTOMATIC: StructureSettings = { mode: 'auto', url: null };

/** Applies missing migrations, or demands that none are missing. True when all of them were. */
export async function broughtUpToDate(
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

export function demandInstanceId(id: unknown): string {
  if (typeof id !== 'string' || id === '') throw new Error('the database has no instance id');
  return id;
}
