import { isFileChanged, type VersionedFiles } from '../../versioned-files/src/index.js';
import {
  type ListedFile,
  type ManifestOwner,
  type ManifestPart,
  PART_NAME,
  partBytes,
  partPath,
  readPart,
} from './manifest-part.js';

/** Files in one manifest; the next ones get a new one, so that what is written for each file stays small. */
const FILES_PER_MANIFEST = 1_000;

/** The list of the files that count, in numbered parts; a file that is not listed does not exist for readers. */
export interface Manifest {
  /** Everything up to this position is in listed files. */
  readonly upTo: bigint;
  readonly restorations: number;
  /** The files of the last two parts, oldest first. */
  readonly recent: readonly ListedFile[];
  /** Lists a file. Rejects with a `FileChangedError` when another process has listed one. */
  append(file: ListedFile): Promise<void>;
  /** Goes on after an earlier position, because the source was restored to it. */
  rewind(position: bigint): Promise<void>;
}

export interface ManifestOptions extends ManifestOwner {
  readonly files: VersionedFiles;
  /** Where a place without a manifest begins. */
  readonly first: () => Promise<bigint>;
  readonly filesPerPart?: number;
}

/** Reads the manifest of a place, or creates one. Rejects when it is of another source or cannot be read. */
export async function openManifest(options: ManifestOptions): Promise<Manifest> {
  const { files, source, first, filesPerPart = FILES_PER_MANIFEST } = options;
  let version: string | null = null;
  let part: ManifestPart;
  let previous: readonly ListedFile[] = [];

  /** Null when there is no such part. */
  async function read(number: number): Promise<ManifestPart | null> {
    const found = await files.read(partPath(number));
    if (found === null) return null;
    version = found.version;
    return readPart(number, found.bytes, options, files.place);
  }

  async function write(next: ManifestPart): Promise<void> {
    version = await files.replace(partPath(next.number), partBytes(next, source.id), version);
    part = next;
  }

  /** Begins the next part. */
  async function begin(next: Omit<ManifestPart, 'number' | 'sealed'>): Promise<void> {
    previous = part.files;
    version = null;
    await write({ ...next, number: part.number + 1, sealed: false });
  }

  const numbers = (await files.list('manifest/', ''))
    .flatMap((path) => PART_NAME.exec(path)?.[1] ?? [])
    .map(Number);
  let last: ManifestPart | null = null;
  // A part that a process has created before it crashed may not be in the list: it is asked for.
  for (let number = Math.max(1, ...numbers.map((each) => each - 1)); ; number += 1) {
    const found = await read(number);
    if (found === null) break;
    if (last !== null) previous = last.files;
    last = found;
  }
  if (last === null) {
    if (numbers.length > 0) throw new Error(`${files.place} has not all parts of its manifest`);
    const start = await first();
    part = { number: 1, after: start, upTo: start, restorations: 0, sealed: false, files: [] };
    await write(part);
    await demandConditions(files, part.number, partBytes(part, source.id));
  } else {
    part = last;
    await files.repair(partPath(part.number));
  }
  return {
    get upTo() {
      return part.upTo;
    },
    get restorations() {
      return part.restorations;
    },
    get recent() {
      return [...previous, ...part.files];
    },
    async append(file) {
      if (part.files.length >= filesPerPart && !part.sealed) await write({ ...part, sealed: true });
      const { upTo } = file;
      if (!part.sealed) return write({ ...part, upTo, files: [...part.files, file] });
      const { upTo: after, restorations } = part;
      await begin({ after, upTo, restorations, files: [file] });
    },
    async rewind(position) {
      const restorations = part.restorations + 1;
      if (!part.sealed) return write({ ...part, upTo: position, restorations });
      await begin({ after: position, upTo: position, restorations, files: [] });
    },
  };
}

/** Rejects when a place lets a file be created that exists: two processes could list different files. */
async function demandConditions(files: VersionedFiles, number: number, bytes: Uint8Array): Promise<void> {
  const isRefused = await files.replace(partPath(number), bytes, null).then(
    () => false,
    (error: unknown) => {
      if (isFileChanged(error)) return true;
      throw error;
    },
  );
  if (isRefused) return;
  await files.remove(partPath(number));
  throw new Error(`${files.place} ignores the conditions of writes (If-None-Match), which are necessary`);
}
