/** Files in a place that several processes write to, such as a folder or a bucket. Paths are relative, with slashes. */
export interface VersionedFiles {
  /** For messages. */
  readonly place: string;
  /** Paths of the files that begin with `start`, from `from` on in the order of characters. */
  list(start: string, from: string): Promise<string[]>;
  /** Null when there is no such file. */
  read(path: string): Promise<VersionedFile | null>;
  /** Writes a file that no other process writes. Resolves when it survives a crash. `sha256` is that of the bytes, in hex. */
  write(path: string, bytes: Uint8Array, sha256: string): Promise<void>;
  /**
   * Replaces a file as a whole if it has this version still, or creates it if that is null. Resolves with the new
   * version when it survives a crash; rejects with a `FileChangedError` when another process was first.
   */
  replace(path: string, bytes: Uint8Array, version: string | null): Promise<string>;
  /** Completes what a crash of another process interrupted while it replaced this file. */
  repair(path: string): Promise<void>;
  /** Does nothing when there is no such file. */
  remove(path: string): Promise<void>;
  /** Fails what is under way. */
  close(): void;
}

export interface VersionedFile {
  readonly bytes: Uint8Array;
  readonly version: string;
}

/** Another process has written a file since it was read. */
export class FileChangedError extends Error {
  constructor(path: string) {
    super(`${path} was changed by another process`);
    this.name = 'FileChangedError';
  }
}

/** Whether it is a `FileChangedError`, also one of another copy of this package. */
export function isFileChanged(error: unknown): boolean {
  return error instanceof Error && error.name === 'FileChangedError';
}
