import { type JsonObject, parseStoredJson, stringifyJson } from '../../exact-json/src/index.js';
import type { LogSource } from './parquet-log.js';

const VERSION = 1;
/** Names of parts, with their number. */
export const PART_NAME = /^manifest\/(\d{8})\.json$/;

/** A file that counts. */
export interface ListedFile {
  readonly path: string;
  /** It has every row after this position, and up to the other one. */
  readonly after: bigint;
  readonly upTo: bigint;
  readonly rows: number;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  /** How often the source had been restored to an earlier state: positions are unique only for the same number. */
  readonly restorations: number;
}

/** A file of the manifest. */
export interface ManifestPart {
  readonly number: number;
  readonly after: bigint;
  readonly upTo: bigint;
  readonly restorations: number;
  /** Whether another part follows: nothing may be added. */
  readonly sealed: boolean;
  readonly files: readonly ListedFile[];
}

/** Whose manifest it is. */
export interface ManifestOwner {
  /** What the files have, for messages. */
  readonly contents: string;
  readonly source: LogSource;
}

export function partPath(number: number): string {
  return `manifest/${String(number).padStart(8, '0')}.json`;
}

export function partBytes(
  { number, after, upTo, restorations, sealed, files }: ManifestPart,
  source: string,
): Uint8Array {
  const head = { version: VERSION, source, number, after, up_to: upTo, restorations, sealed };
  const entries = files.map(({ upTo: up_to, ...file }) => stringifyJson({ ...file, up_to }));
  // One file in each line.
  const text = `${stringifyJson(head).slice(0, -1)},"files":[\n${entries.join(',\n')}\n]}\n`;
  return Buffer.from(text);
}

/** Throws when the bytes are no part, or one of another source. */
export function readPart(
  number: number,
  bytes: Uint8Array,
  { contents, source }: ManifestOwner,
  place: string,
): ManifestPart {
  const problem = (text: string, cause?: unknown) =>
    new Error(`${partPath(number)} in ${place} ${text}`, cause === undefined ? {} : { cause });
  let read: JsonObject;
  try {
    read = parseStoredJson(Buffer.from(bytes).toString()) as JsonObject;
  } catch (error) {
    throw problem('is damaged', error);
  }
  if (read.version !== VERSION) throw problem('is of another version');
  if (read.source !== source.id) throw problem(`lists the ${contents} of another ${source.kind}`);
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
