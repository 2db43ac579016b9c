import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A new folder in memory where that is possible: there a busy disk slows nothing down. */
export async function quickFolder(prefix: string): Promise<string> {
  const inside = (parent: string) => mkdtemp(path.join(parent, prefix));
  return inside('/dev/shm').catch(() => inside(tmpdir()));
}

/** A file system of its own that can be filled. */
export interface SmallDisk {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Mounts a small file system in memory; null where that is not allowed. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | null> {
  const folder = await mkdtemp(path.join(tmpdir(), 'small-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  } catch {
    await rm(folder, { recursive: true });
    return null;
  }
  return {
    folder,
    async remove() {
      // Lazily: a process that was killed may not have let go of its files yet.
      await run('umount', ['-l', folder]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Makes a file read-only for processes that have it open, too. Where the immutable attribute cannot be set, by its
 * permissions, which only the superuser may ignore. Resolves with what undoes it and how it was done.
 */
export async function makeReadOnly(file: string): Promise<{ readonly by: string; undo(): Promise<void> }> {
  try {
    await run('chattr', ['+i', file]);
    return { by: 'chattr +i', undo: async () => void (await run('chattr', ['-i', file])) };
  } catch {
    await chmod(file, 0o444);
  }
  const isIgnored = await access(file, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isIgnored) throw new Error('a file can be made read-only neither by chattr nor by chmod');
  return { by: 'chmod', undo: () => chmod(file, 0o644) };
}
