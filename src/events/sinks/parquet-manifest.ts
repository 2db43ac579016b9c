import { type JsonObject, parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { FileChangedError, type SinkFiles } from './sink-files.js';

/** Files in one manifest; the next ones get a new one, so that what is written for each file stays small. */
const FILES_PER_MANIFEST = 1_000;
const VERSION = 1;
const NAME = /^manifest\/(\d{8})\.json$/;

/** A file that counts. */
export interface ListedFile {
  readonly path: string;
  /** It has every event after this position, and up to the other one. */
  readonly after: bigint;
  readonly upTo: bigint;
  readonly rows: number;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  /** How often the database had been restored to an earlier state: positions are unique only for the same number. */
  readonly restorations: number;
}

/** The list of the files that count, in numbered parts; a file that is not listed does not exist for readers. */
export interface Manifest {
  /** Everything up to this position is in listed files. */
  readonly upTo: bigint;
  readonly restorations: number;
  /** The files of the last two parts, oldest first. */
  readonly recent: readonly ListedFile[];
  /** Lists a file. Rejects with a `FileChangedError` when another process has listed one. */
  append(file: ListedFile): Promise<void>;
  /** Goes on after an earlier position, because the database was restored to it. */
  rewind(position: bigint): Promise<void>;
}

interface Part {
  readonly number: number;
  readonly after: bigint;
  readonly upTo: bigint;
  readonly restorations: number;
  /** Whether another part follows: nothing may be added. */
  readonly sealed: boolean;
  readonly files: readonly ListedFile[];
}

export interface ManifestOptions {
  readonly files: SinkFiles;
  /** Id of the database whose events the files have. */
  readonly source: string;
  /** Where a place without a manifest begins. */
  readonly first: () => Promise<bigint>;
  readonly filesPerPart?: number;
}

/** Reads the manifest of a place, or creates one. Rejects when it is of another database or cannot be read. */
export async function openManifest(options: ManifestOptions): Promise<Manifest> {
  const { files, source, first, filesPerPart = FILES_PER_MANIFEST } = options;
  let version: string | null = null;
  let part: Part;
  let previous: readonly ListedFile[] = [];

  /** Null when there is no such part. */
  async function read(number: number): Promise<Part | null> {
    const found = await files.read(pathOf(number));
    if (found === null) return null;
    version = found.version;
    return readPart(number, found.bytes, source, files.place);
  }

  async function write(next: Part): Promise<void> {
    version = await files.replace(pathOf(next.number), bytesOf(next, source), version);
    part = next;
  }

  async function begin(next: Part): Promise<void> {
    previous = part.files;
    version = null;
    await write(next);
  }

  const numbers = (await files.list('manifest/', ''))
    .flatMap((path) => NAME.exec(path)?.[1] ?? [])
    .map(Number);
  let last: Part | null = null;
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
    await demandConditions(files, part.number, bytesOf(part, source));
  } else {
    part = last;
    await files.repair(pathOf(part.number));
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
      const { number, restorations } = part;
      await begin({
        number: number + 1,
        after: part.upTo,
        upTo,
        restorations,
        sealed: false,
        files: [file],
      });
    },
    async rewind(position) {
      const restorations = part.restorations + 1;
      if (!part.sealed) return write({ ...part, upTo: position, restorations });
      await begin({
        number: part.number + 1,
        after: position,
        upTo: position,
        restorations,
        sealed: false,
        files: [],
      });
    },
  };
}

/** Rejects when a place lets a file be created that exists: two processes could list different files. */
async function demandConditions(files: SinkFiles, number: number, bytes: Uint8Array): Promise<void> {
  const isRefused = await files.replace(pathOf(number), bytes, null).then(
    () => false,
    (error: unknown) => {
      if (error instanceof FileChangedError) return true;
      throw error;
    },
  );
  if (isRefused) return;
  await files.remove(pathOf(number));
  throw new Error(`${files.place} ignores the conditions of writes (If-None-Match), which are necessary`);
}

function pathOf(number: number): string {
  return `manifest/${String(number).padStart(8, '0')}.json`;
}

function bytesOf({ number, after, upTo, restorations, sealed, files }: Part, source: string): Uint8Array {
  const head = { version: VERSION, source, number, after, up_to: upTo, restorations, sealed };
  const entries = files.map(({ upTo: up_to, ...file }) => stringifyJson({ ...file, up_to }));
  // One file in each line.
  const text = `${stringifyJson(head).slice(0, -1)},"files":[\n${entries.join(',\n')}\n]}\n`;
  return Buffer.from(text);
}

function readPart(number: number, bytes: Uint8Array, source: string, place: string): Part {
  const problem = (text: string, cause?: unknown) =>
    new Error(`${pathOf(number)} in ${place} ${text}`, cause === undefined ? {} : { cause });
  let read: JsonObject;
  try {
    read = parseStoredJson(Buffer.from(bytes).toString()) as JsonObject;
  } catch (error) {
    throw problem('is damaged', error);
  }
  if (read.version !== VERSION) throw problem('is of another version of the service');
  if (read.source !== source) throw problem('lists the events of another database');
  return {
    number,
    after: BigInt(String(read.after)),
    upTo: BigInt(String(read.up_to)),
    restorations: Number(read.restorations),
    sealed: read.sealed === true,
    files: (read.files as JsonObject[]).map((file) => ({
      path: String(file.path),
      after: BigInt(String(file.after)),
      upTo: BigInt(String(file.up_to)),
      rows: Number(file.rows),
      bytes: Number(file.bytes),
      sha256: String(file.sha256),
      restorations: Number(file.restorations),
    })),
  };
}
