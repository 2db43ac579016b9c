import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FileChangedError, type SinkFiles, type VersionedFile } from './sink-files.js';

/** Earlier versions of a replaced file that are kept, so that a process that was suspended finds itself outrun. */
const KEPT_VERSIONS = 16;

/**
 * Files in a folder. Each version of a replaced file is also a file of its own, `.NAME.vNUMBER`: of two processes only
 * one can create it, and the latest one is what counts when a crash prevented that NAME was replaced.
 */
export function createFolderFiles(folder: string): SinkFiles {
  const fullPath = (path: string) => join(folder, path);
  const versionPath = (path: string, version: number) =>
    fullPath(join(dirname(path), `.${basename(path)}.v${version}`));

  /** 0 when there is none. Removes what processes that crashed have left; one that is alive fails, and tries again. */
  async function latestVersion(path: string): Promise<number> {
    const inside = dirname(fullPath(path));
    const start = `.${basename(path)}.v`;
    let latest = 0;
    for (const name of await readdir(inside).catch(unlessMissing([]))) {
      if (!name.startsWith(start)) continue;
      const version = Number(name.slice(start.length));
      if (Number.isInteger(version)) latest = Math.max(latest, version);
      else await rm(join(inside, name), { force: true });
    }
    return latest;
  }

  /** Replaces the file by the one at `from`, which goes. */
  async function publish(path: string, from: string): Promise<void> {
    await rename(from, fullPath(path));
    await syncFolder(dirname(fullPath(path)));
  }

  return {
    place: folder,
    async list(start, from) {
      const found: string[] = [];
      const look = async (inside: string): Promise<void> => {
        const entries = await readdir(fullPath(inside), { withFileTypes: true }).catch(unlessMissing([]));
        for (const entry of entries) {
          const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
          if (entry.isDirectory()) {
            const isBefore = `${path}/` < from.slice(0, path.length + 1);
            if (!isBefore && startsAlike(`${path}/`, start)) await look(path);
          } else if (path.startsWith(start) && path >= from) found.push(path);
        }
      };
      await look('');
      return found.sort();
    },
    async read(path): Promise<VersionedFile | null> {
      const version = await latestVersion(path);
      if (version === 0) {
        const bytes = await readFile(fullPath(path)).catch(unlessMissing(null));
        return bytes === null ? null : { bytes, version: '0' };
      }
      const latest = versionPath(path, version);
      const [shown, counted] = await Promise.all([
        stat(fullPath(path)).catch(unlessMissing(null)),
        stat(latest),
      ]);
      if (shown?.ino !== counted.ino) {
        const copy = `${latest}.${randomUUID()}`;
        await link(latest, copy);
        await publish(path, copy);
      }
      return { bytes: await readFile(latest), version: String(version) };
    },
    async write(path, bytes) {
      const full = fullPath(path);
      await createFolders(dirname(full));
      await writeSynced(full, bytes);
      await syncFolder(dirname(full));
    },
    async replace(path, bytes, version) {
      const full = fullPath(path);
      await createFolders(dirname(full));
      if (version === null && (await stat(full).catch(unlessMissing(null))) !== null)
        throw new FileChangedError(full);
      const next = Number(version ?? 0) + 1;
      const draft = `${versionPath(path, next)}.${randomUUID()}`;
      try {
        await writeSynced(draft, bytes);
        await link(draft, versionPath(path, next)).catch((error: NodeJS.ErrnoException) => {
          throw error.code === 'EEXIST' ? new FileChangedError(full) : error;
        });
        await publish(path, draft);
      } finally {
        await rm(draft, { force: true });
      }
      await rm(versionPath(path, next - KEPT_VERSIONS), { force: true });
      return String(next);
    },
    remove: (path) => rm(fullPath(path), { force: true }),
    // The operating system ends what is under way.
    close: () => {},
  };
}

/** Whether one of two texts begins with the other one. */
function startsAlike(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Creates a folder and those above it. Not by Node.js, which never returns where that is impossible, as below /proc. */
async function createFolders(folder: string): Promise<void> {
  if ((await stat(folder).catch(unlessMissing(null))) !== null) return;
  const parent = dirname(folder);
  if (parent !== folder) await createFolders(parent);
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await syncFolder(parent);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** For `catch`: another value when a file or folder does not exist. */
function unlessMissing<T>(otherwise: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return otherwise;
    throw error;
  };
}
