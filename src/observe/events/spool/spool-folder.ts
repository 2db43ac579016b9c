import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import Libsql from 'libsql';

/** File whose lock is held while a process uses a folder. */
const LOCK_FILE = 'lock.db';
/** Folders of processes that share a directory. */
const FOLDER = /^\d{1,4}$/;
const MAX_FOLDERS = 1_000;

/** A folder that no other process uses. */
export interface SpoolFolder {
  readonly path: string;
  /** Leaves it to the next process. */
  release(): void;
}

/** Creates the directory. Throws when it cannot be written to. */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(`the directory of the spool for events cannot be created: ${directory}`, {
      cause: error,
    });
  }
}

/**
 * Takes the first folder that no process uses, and all other such folders that exist: processes have left them, maybe
 * with records. The lock of a folder ends with its process.
 */
export function takeFolders(directory: string): readonly [SpoolFolder, ...SpoolFolder[]] {
  prepareDirectory(directory);
  const taken: SpoolFolder[] = [];
  const names = readdirSync(directory).filter((name) => FOLDER.test(name));
  for (const name of names.sort((one, other) => Number(one) - Number(other))) {
    const folder = tryTake(path.join(directory, name));
    if (folder !== undefined) taken.push(folder);
  }
  for (let number = 0; taken.length === 0 && number < MAX_FOLDERS; number += 1) {
    const folder = names.includes(String(number)) ? undefined : tryTake(path.join(directory, String(number)));
    if (folder !== undefined) taken.push(folder);
  }
  const [first, ...others] = taken;
  if (first === undefined) throw new Error(`all folders of ${directory} are in use`);
  return [first, ...others];
}

/** Undefined when another process uses it. */
function tryTake(folder: string): SpoolFolder | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = new Libsql(path.join(folder, LOCK_FILE));
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined;
    throw error;
  }
  return { path: folder, release: () => void lock.close() };
}
