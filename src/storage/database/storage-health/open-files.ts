import { type BigIntStats, closeSync, fstatSync, openSync } from 'node:fs';
import { identityOf, movedFile, type OpenedFiles } from './file-check.js';
import { StorageError } from './storage-state.js';

/**
 * Descriptors for reading files of SQLite beside it. POSIX ends all locks of a process on a file when the
 * process closes any descriptor of it, including those of SQLite, and the driver keeps a closed connection,
 * with its locks, until it is garbage-collected. Therefore databases of one process share the descriptors,
 * and only those of deleted files are closed.
 */
interface OpenFile {
  readonly descriptors: [number, ...number[]];
  users: number;
}

const files = new Map<string, OpenFile>();

/** One use of a file. */
export interface FileUse {
  readonly path: string;
  /** See `identityOf`. */
  readonly identity: string;
  readonly descriptor: number;
  release(): void;
}

/** Throws a `StorageError` when a file was deleted, moved away or replaced; see `movedFile`. */
export function demandUnmoved(files: OpenedFiles): void {
  const moved = movedFile(files);
  if (moved !== null) throw new StorageError(moved.state, { particular: moved.particular });
}

/** Opens a file for reading, or shares a descriptor of it. `stats` are those of the path. */
export function useFile(path: string, stats: BigIntStats): FileUse {
  closeDeleted();
  const known = files.get(identityOf(stats));
  if (known !== undefined) return useOf(path, identityOf(stats), known);
  const descriptor = openSync(path, 'r');
  const identity = identityOf(fstatSync(descriptor, { bigint: true }));
  // Another file may have been moved to this path in between, even one in use.
  const file = files.get(identity) ?? { descriptors: [descriptor], users: 0 };
  if (file.descriptors[0] !== descriptor) file.descriptors.push(descriptor);
  files.set(identity, file);
  return useOf(path, identity, file);
}

function useOf(path: string, identity: string, file: OpenFile): FileUse {
  file.users += 1;
  let released = false;
  return {
    path,
    identity,
    descriptor: file.descriptors[0],
    release() {
      if (released) return;
      released = true;
      file.users -= 1;
      closeDeleted();
    },
  };
}

/** Closes the descriptors of unused files without a name, which would keep their disk space. */
function closeDeleted(): void {
  for (const [identity, { descriptors, users }] of files) {
    if (users > 0 || fstatSync(descriptors[0]).nlink > 0) continue;
    files.delete(identity);
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}
