import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../storage/database/errors.js';
import type { FileSystem } from './file-system.js';

/**
 * Age at which a lock is considered abandoned by a killed process, in milliseconds: its owner only compares
 * two lines and renames a file.
 */
export const LOCK_LIMIT_MS = 3_000;
/** Time limit for acquiring the lock, in milliseconds. */
const WAIT_LIMIT_MS = 4 * LOCK_LIMIT_MS;
const PAUSE_MS = 20;

/**
 * Runs `work` while holding a file that only one process can create. Rejects with SERVICE_UNAVAILABLE if
 * others hold it for too long. A process suspended for longer than `limitMs` during `work` may lose the lock.
 */
export async function withLock<T>(
  path: string,
  files: FileSystem,
  limitMs: number,
  work: () => Promise<T>,
): Promise<T> {
  await acquire(path, files, limitMs);
  try {
    return await work();
  } finally {
    await files.remove(path).catch(() => {});
  }
}

async function acquire(path: string, files: FileSystem, limitMs: number): Promise<void> {
  const beganMs = performance.now();
  /** When the present lock was created, by the file system's clock, and first seen, by the local clock. */
  let takenAtMs: number | null = null;
  let seenSinceMs = beganMs;
  while (performance.now() - beganMs < WAIT_LIMIT_MS) {
    try {
      const file = await files.create(path);
      await file.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const changedAtMs = await files.changedAtMs(path);
    if (changedAtMs === null) continue;
    if (changedAtMs !== takenAtMs) {
      takenAtMs = changedAtMs;
      seenSinceMs = performance.now();
    } else if (performance.now() - seenSinceMs > limitMs) await files.remove(path);
    await sleep(PAUSE_MS);
  }
  throw unavailable(`Others keep ${path} for too long.`);
}
