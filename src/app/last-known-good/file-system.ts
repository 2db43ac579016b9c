import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';

/** A file that is being written. */
export interface WritableFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything written so far is on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The operations used for the last known good file. The process may crash after each of them. */
export interface FileSystem {
  /** Rejects with code ENOENT if the file does not exist. */
  read(path: string): Promise<Buffer>;
  /** The first bytes of a file, at most `length`. Rejects if it is not a regular file. */
  readStart(path: string, length: number): Promise<Buffer>;
  /** Size in bytes. Rejects if it is not a regular file. */
  size(path: string): Promise<number>;
  /** Creates a file that only its owner may read and write. Rejects with code EEXIST if it exists. */
  create(path: string): Promise<WritableFile>;
  /** Replaces the file at `to` atomically. */
  rename(from: string, to: string): Promise<void>;
  /** Does nothing if the file does not exist. */
  remove(path: string): Promise<void>;
  /** Names of the files in a folder. */
  list(folder: string): Promise<string[]>;
  /** Time of the last change, in milliseconds since 1970; null if the file does not exist. */
  changedAtMs(path: string): Promise<number | null>;
  /** Creates a folder unless it exists. Its parent folder must exist. */
  createFolder(folder: string): Promise<void>;
  /** Resolves when the directory entries are on the disk. */
  syncFolder(folder: string): Promise<void>;
}

const OWNER_ONLY = 0o600;

/** A special file may be endless or block its reader forever. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error('it is no ordinary file');
  return found.size;
}

export const nodeFileSystem: FileSystem = {
  read: (path) => readFile(path),
  async readStart(path, length) {
    await sizeOf(path);
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  },
  size: sizeOf,
  async create(path) {
    const file = await open(path, 'wx', OWNER_ONLY);
    return {
      write: async (bytes) => {
        await file.writeFile(bytes);
      },
      sync: () => file.sync(),
      close: () => file.close(),
    };
  },
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { force: true }),
  list: (folder) => readdir(folder),
  async changedAtMs(path) {
    try {
      return (await stat(path)).mtimeMs;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  },
  async createFolder(folder) {
    // Not recursively: Node.js never returns if a folder cannot be created, as below /proc.
    await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  },
  async syncFolder(folder) {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};
