import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FileChangedError, type VersionedFile, type VersionedFiles } from './versioned-files.js';

/** Earlier versions of a replaced file that are kept, so that a process that was suspended finds itself outrun. */
const KEPT_VERSIONS = 16;

/**
 * Files in a folder. Each version of a replaced file is also a file of its own, `.NAME.vNUMBER`: of two processes only
 * one can create it, and the latest one is what counts when a crash prevented that NAME was replaced.
 */
export function createFolderFiles(folder: string): VersionedFiles {
  const fullPath = (path: string) => join(folder, path);
  const versionPath = (path: string, version: number | string) =>
    fullPath(join(dirname(path), `.${basename(path)}.v${version}`));

  /** Names of files beside a file that begin like its versions, with what follows. */
  async function versionsOf(path: string): Promise<string[]> {
    const start = `.${basename(path)}.v`;
    const names = await readdir(dirname(fullPath(path))).catch(unlessMissing([]));
    return names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
  }

  /** 0 when there is none. */
  async function latestVersion(path: string): Promise<number> {
    return Math.max(0, ...(await versionsOf(path)).map(Number).filter(Number.isInteger));
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
      return { bytes: await readFile(versionPath(path, version)), version: String(version) };
    },
    async repair(path) {
      for (const version of await versionsOf(path)) {
        if (!Number.isInteger(Number(version))) await rm(versionPath(path, version), { force: true });
      }
      const latest = versionPath(path, await latestVersion(path));
      const [shown, counted] = await Promise.all(
        [fullPath(path), latest].map((each) => stat(each).catch(unlessMissing(null))),
      );
      if (counted === null || counted === undefined || shown?.ino === counted.ino) return;
      const draft = `${latest}.${randomUUID()}`;
      await link(latest, draft);
      await publish(path, draft);
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
