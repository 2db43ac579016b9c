import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';

/** A file that is being written. */
export interface WritableFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything written so far is on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The operations that the last known good file needs, each of which may be the last one of the process. */
export interface FileSystem {
  /** Rejects with code ENOENT when there is no such file. */
  read(path: string): Promise<Buffer>;
  /** The first bytes of a file, at most `length`. Rejects when it is no ordinary file. */
  readStart(path: string, length: number): Promise<Buffer>;
  /** In bytes. Rejects when it is no ordinary file. */
  size(path: string): Promise<number>;
  /** Creates a file that only its owner may read and write. Rejects with code EEXIST when it is there already. */
  create(path: string): Promise<WritableFile>;
  /** Replaces what is at `to`; others find there the one file or the other. */
  rename(from: string, to: string): Promise<void>;
  /** Does nothing when there is no such file. */
  remove(path: string): Promise<void>;
  /** Names of the files in a folder. */
  list(folder: string): Promise<string[]>;
  /** When a file was changed last, in milliseconds since 1970; null when there is none. */
  changedAtMs(path: string): Promise<number | null>;
  /** Creates a folder unless it is there. The folder above it must be there. */
  createFolder(folder: string): Promise<void>;
  /** Resolves when the names in the folder are on the disk. */
  syncFolder(folder: string): Promise<void>;
}

const OWNER_ONLY = 0o600;

/** What is no ordinary file may have no end, or keep its reader waiting for ever. */
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
    // Not recursively: Node.js does not return from that where a folder can never be created, as below /proc.
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
