import { constants, realpathSync, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteConnection, type SqliteConnection } from './sqlite-connection.js';
import { createFileCheck, type Finding, identityAt, type OpenedFiles } from './storage-health/file-check.js';
import { type FileUse, useFile } from './storage-health/open-files.js';
import { StorageError } from './storage-health/storage-state.js';

/** Checks of files that seem damaged: another process may be writing them. */
const ATTEMPTS = 5;
const PAUSE_MS = 5;

const INSTANCE_ID = 'SELECT "instance_id" FROM "service_state" WHERE "id" = 1';

/** The files of a SQLite database as opened: database, log and index of the log. */
export class SqliteFiles {
  /** Prevents the log, and so its identity, from being removed with the last other connection. */
  readonly #anchor: SqliteConnection;
  readonly #uses: readonly FileUse[];
  readonly #check: () => Finding | null;
  /** For checks in other threads. */
  readonly opened: OpenedFiles;
  #isClosed = false;

  private constructor(path: string, anchor: SqliteConnection) {
    this.#anchor = anchor;
    // SQLite keeps the others beside the file itself, not beside a symbolic link to it.
    const target = realpathSync(path);
    const use = (name: string) => useFile(name, statSync(name, { bigint: true }));
    const [database, log, index] = [use(path), use(`${target}-wal`), use(`${target}-shm`)];
    this.#uses = [database, log, index];
    const shown = ({ path: at, identity, descriptor }: FileUse) => ({ path: at, identity, descriptor });
    this.opened = { database: shown(database), log: shown(log), index: shown(index) };
    this.#check = createFileCheck(this.opened);
  }

  /** Opens a connection to a database in write-ahead logging, and its files. Throws the driver's errors. */
  static open(path: string): SqliteFiles {
    const before = identityAt(path);
    const anchor = openSqliteConnection(path, 'reader');
    try {
      // The first read creates the log and its index.
      anchor.execute('SELECT COUNT(*) FROM "sqlite_schema"');
      const files = new SqliteFiles(path, anchor);
      if (files.opened.database.identity !== before)
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

  /** Whether only the name of the log is gone: its whole content can still be copied into the database. */
  get isLogMissing(): boolean {
    return !this.#isClosed && this.#check()?.isLogMissing === true;
  }

  /**
   * Resolves when stored data would survive a restart: the files are those that were opened, and neither
   * shorter than what was written nor overwritten at their beginning. Rejects with a `StorageError`
   * otherwise, and with the error of the system when the check fails. It reads the files in the calling
   * thread, as a commit writes them.
   */
  async verify(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const finding = this.#isClosed ? null : this.#check();
      if (finding === null) return;
      if (attempt >= ATTEMPTS || !finding.mayPass) {
        throw new StorageError(finding.state, { particular: finding.particular });
      }
      await sleep(PAUSE_MS);
    }
  }

  /** Rejects with a `StorageError` when the files must not be written any more. */
  async verifyWritable(): Promise<void> {
    const { database, log } = this.opened;
    try {
      await Promise.all([database, log].map(({ path }) => access(path, constants.W_OK)));
    } catch (cause) {
      // Irrelevant for another file.
      await this.verify();
      throw new StorageError('READONLY', { particular: 'the file may not be written', cause });
    }
  }

  /**
   * Releases the files. When they are not those that were opened, the connection stays open for the life of
   * the process: with the last connection, SQLite copies the log into the database and removes it by its
   * name, which may be that of another log by now.
   */
  close(): void {
    if (this.#isClosed) return;
    const finding = this.#look();
    this.#isClosed = true;
    if (finding !== null && !finding.isLogMissing) return;
    this.#anchor.close();
    for (const use of this.#uses) use.release();
  }

  #look(): Finding | null {
    try {
      return this.#check();
    } catch {
      return null;
    }
  }
}
