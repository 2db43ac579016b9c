import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../database/errors.js';
import type { FileSystem } from './file-system.js';

/** How long a lock is waited for, in milliseconds. Whoever has it compares two lines and renames a file. */
const WAIT_LIMIT_MS = 2_000;
const PAUSE_MS = 20;
/** A lock that is older than this was left by a process that was killed. */
const ABANDONED_MS = 10_000;

/**
 * Runs `work` while a file exists that only one process can create. Rejects with SERVICE_UNAVAILABLE when others have
 * it for too long.
 */
export async function withLock<T>(path: string, files: FileSystem, work: () => Promise<T>): Promise<T> {
  await acquire(path, files);
  try {
    return await work();
  } finally {
    await files.remove(path).catch(() => {});
  }
}

async function acquire(path: string, files: FileSystem): Promise<void> {
  const deadline = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    try {
      const file = await files.create(path);
      await file.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const ageMs = await files.ageMs(path);
    // A clock that was set back makes it look new for ever.
    if (ageMs !== null && Math.abs(ageMs) > ABANDONED_MS) await files.remove(path);
    else if (performance.now() > deadline) throw unavailable(`Others keep ${path} for too long.`);
    else await sleep(PAUSE_MS);
  }
}
