import {
  type BigIntStats,
  constants,
  fstat as fstatCallback,
  read as readCallback,
  realpathSync,
  statSync,
} from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unavailable } from '../errors.js';
import { openSqliteConnection, type SqliteConnection } from '../sqlite-connection.js';
import { type FileUse, identityOf, useFile } from './open-files.js';
import { StorageError, type StorageProblem } from './storage-state.js';
import {
  beginsAsIndexed,
  DATABASE_HEADER_BYTES,
  readWalIndex,
  sizeByHeader,
  WAL_HEADER_BYTES,
  WAL_INDEX_HEADER_BYTES,
} from './wal-index.js';

/** Looks at files that seem damaged: another process may be writing them at this moment. */
const ATTEMPTS = 5;
const PAUSE_MS = 5;
const LOG_ATTEMPTS = 20;

const INSTANCE_ID = 'SELECT "instance_id" FROM "service_state" WHERE "id" = 1';

/** What is wrong with the files. */
interface Finding {
  readonly state: StorageProblem;
  readonly particular: string;
  /** It may be a moment between two writes of another process. */
  readonly mayPass?: boolean;
}

/** The file of a SQLite database, its log and the index of that, as they were when the database was opened. */
export class SqliteFiles {
  /** Keeps the log from being removed with the last other connection, and so its identity. */
  readonly #anchor: SqliteConnection;
  readonly #path: string;
  readonly #logPath: string;
  readonly #indexPath: string;
  readonly #database: FileUse;
  readonly #log: FileUse;
  readonly #index: FileUse;
  /** Of the database, in bytes. */
  #largest: bigint;
  #isLogMissing = false;
  #isClosed = false;
  /** What is under way needs the descriptors. */
  readonly #looking = new Set<Promise<void>>();

  private constructor(path: string, anchor: SqliteConnection) {
    this.#anchor = anchor;
    this.#path = path;
    // SQLite keeps them beside the file itself, not beside a symbolic link to it.
    const target = realpathSync(path);
    this.#logPath = `${target}-wal`;
    this.#indexPath = `${target}-shm`;
    const use = (name: string) => useFile(name, statSync(name, { bigint: true }));
    this.#database = use(path);
    this.#log = use(this.#logPath);
    this.#index = use(this.#indexPath);
    this.#largest = statSync(path, { bigint: true }).size;
  }

  /** Opens a connection to a database in write-ahead logging, and remembers the files. Throws the driver's errors. */
  static open(path: string): SqliteFiles {
    const before = identityOf(statSync(path, { bigint: true }));
    const anchor = openSqliteConnection(path, 'reader');
    try {
      // With the first read the log and its index come into being.
      anchor.execute('SELECT COUNT(*) FROM "sqlite_schema"');
      const files = new SqliteFiles(path, anchor);
      if (files.identity !== before)
        throw new StorageError('REPLACED', { particular: 'while it was opened' });
      return files;
    } catch (error) {
      anchor.close();
      throw error;
    }
  }

  /** See `Database.instanceId`. Throws the driver's errors. */
  readInstanceId(): string {
    return String(this.#anchor.execute(INSTANCE_ID).rows[0]?.[0] ?? '');
  }

  /** Device and inode of the database. */
  get identity(): string {
    return this.#database.identity;
  }

  /** True when nothing but the name of the log is gone: everything in it can still be copied into the database. */
  get isLogMissing(): boolean {
    return this.#isLogMissing;
  }

  /**
   * Resolves when a restart would find what is stored: the files are those that were opened, and neither shorter than
   * what was written nor overwritten at their beginning. Rejects with a `StorageError` otherwise, and with the error of
   * the system when that cannot be found out.
   */
  async verify(): Promise<void> {
    if (this.#isClosed) throw unavailable('The database is closed.');
    const looking = this.#verify();
    this.#looking.add(looking);
    try {
      await looking;
    } finally {
      this.#looking.delete(looking);
    }
  }

  async #verify(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const finding = await this.#look();
      if (finding === null) return;
      if (attempt >= ATTEMPTS || finding.mayPass !== true) {
        throw new StorageError(finding.state, { particular: finding.particular });
      }
      await sleep(PAUSE_MS);
    }
  }

  /** Rejects with a `StorageError` when the files may not be written any more. */
  async verifyWritable(): Promise<void> {
    try {
      await Promise.all([this.#path, this.#logPath].map((path) => access(path, constants.W_OK)));
    } catch (cause) {
      throw new StorageError('READONLY', { particular: 'the file may not be written', cause });
    }
  }

  /**
   * Lets go of the files. When they are not those that were opened, the connection stays open as long as the process
   * runs: with the last connection, SQLite copies the log into the database and removes it by its name, which may be
   * that of another log by now.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#looking);
    const finding = await this.#look().catch(() => null);
    if (finding !== null && !this.#isLogMissing) return;
    this.#anchor.close();
    for (const use of [this.#database, this.#log, this.#index]) use.release();
  }

  async #look(): Promise<Finding | null> {
    const [database, log, index] = await Promise.all([
      statsOf(this.#path),
      statsOf(this.#logPath),
      statsOf(this.#indexPath),
    ]);
    this.#isLogMissing = false;
    if (database === null) return replaced('its file was deleted or moved away');
    if (identityOf(database) !== this.#database.identity) {
      return replaced('another file has taken the place of its file');
    }
    const damage = await this.#damage(database);
    if (damage !== null) return damage;
    if (index === null || identityOf(index) !== this.#index.identity) {
      return replaced('the file -shm beside it was removed or replaced');
    }
    if (log === null) {
      this.#isLogMissing = true;
      return replaced('the file -wal beside it was removed');
    }
    if (identityOf(log) !== this.#log.identity) return replaced('the file -wal beside it was replaced');
    return this.#logDamage();
  }

  async #damage({ size }: BigIntStats): Promise<Finding | null> {
    const bytes = sizeByHeader(await readStart(this.#database, DATABASE_HEADER_BYTES));
    if (size === 0n) return damaged('its file was truncated');
    if (bytes === null) return damaged('the beginning of its file was overwritten');
    // Smaller than before and complete: another process has vacuumed it.
    if (size < this.#largest && size < bytes) return damaged('its file was truncated');
    this.#largest = size;
    return null;
  }

  /** SQLite writes to the log first and to its index last, and the other way round when it empties the log. */
  async #logDamage(): Promise<Finding | null> {
    for (let attempt = 1; attempt <= LOG_ATTEMPTS; attempt += 1) {
      const before = await readStart(this.#index, WAL_INDEX_HEADER_BYTES);
      const finding = await this.#logDamageBy(before);
      if (finding === null) return null;
      // Otherwise the log was written in between.
      if (before.equals(await readStart(this.#index, WAL_INDEX_HEADER_BYTES))) return finding;
    }
    // It is written all the time. The next look may find a moment.
    return null;
  }

  async #logDamageBy(indexHeader: Buffer): Promise<Finding | null> {
    const index = readWalIndex(indexHeader);
    // Without the index nothing can be said. A restart makes a new one, so nothing is lost with it.
    if (index === null || index.frames === 0) return null;
    const { size } = await statsOfOpen(this.#log.descriptor, { bigint: true });
    if (size < index.bytes) return damaged('the file -wal beside it was truncated');
    const header = await readStart(this.#log, WAL_HEADER_BYTES);
    return beginsAsIndexed(header, index) ? null : damaged('the file -wal beside it was overwritten');
  }
}

const replaced = (particular: string): Finding => ({ state: 'REPLACED', particular });
const damaged = (particular: string): Finding => ({ state: 'CORRUPT', particular, mayPass: true });

/** Null when there is no such file. */
async function statsOf(path: string): Promise<BigIntStats | null> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

const readAt = promisify(readCallback);
const statsOfOpen = promisify(fstatCallback);

async function readStart({ descriptor }: FileUse, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await readAt(descriptor, buffer, 0, bytes, 0);
  return buffer.subarray(0, bytesRead);
}
