import { createHash, randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { setImmediate as othersTurn } from 'node:timers/promises';
import {
  checksumLine,
  DamagedFileError,
  headerLine,
  readChecksum,
  readHeader,
  readRecord,
  type StateHeader,
} from './file-format.js';
import type { FileSystem } from './file-system.js';
import { KeptState } from './kept-state.js';
import { LOCK_LIMIT_MS, withLock } from './lock-file.js';

/** Result of reading a file. */
export type Found<T> =
  | { readonly kind: 'absent' }
  /** It exists but cannot be used; `problem` completes "the file …: ". */
  | { readonly kind: 'damaged'; readonly problem: string }
  | { readonly kind: 'usable'; readonly value: T };

/** Result of saving a state. */
export type Saved =
  | { readonly kind: 'saved'; readonly header: StateHeader }
  /** The file is kept, because it has a later revision of the same database, or is another one's. */
  | { readonly kind: 'kept'; readonly found: StateHeader; readonly header: StateHeader };

/** Writes a state: first its header, then its lines. */
export interface StateWriter {
  header(header: StateHeader): Promise<void>;
  /** One or more whole lines. */
  lines(text: string): Promise<void>;
}

/** Larger files are not read: they would not fit into memory. */
const MAX_FILE_BYTES = 1024 * 1024 * 1024;
/** The first line is much shorter. */
const MAX_HEADER_BYTES = 4_096;
/** Bytes hashed without yielding to the event loop: about 2 ms. */
const HASH_SLICE_BYTES = 1024 * 1024;
/** How long lines are read without yielding to the event loop, in milliseconds. */
const TURN_MS = 5;
/** A temporary file unchanged for this long was left by a killed process, in milliseconds. */
const ABANDONED_MS = 10 * 60_000;

const NEW_LINE = 0x0a;

/**
 * The file of the last known good state. A new state replaces the old one atomically: whatever happens during
 * saving, the file is either the old one or the new one.
 */
export class StateFile {
  readonly path: string;
  readonly #files: FileSystem;
  readonly #lockLimitMs: number;

  constructor(path: string, files: FileSystem, lockLimitMs: number = LOCK_LIMIT_MS) {
    this.path = path;
    this.#files = files;
    this.#lockLimitMs = lockLimitMs;
  }

  /** The header of the file, without checking the rest. Null if the file is missing or cannot be read. */
  async header(): Promise<StateHeader | null> {
    try {
      const start = await this.#files.readStart(this.path, MAX_HEADER_BYTES);
      const end = start.indexOf(NEW_LINE);
      return end < 0 ? null : readHeader(start.toString('utf8', 0, end));
    } catch {
      return null;
    }
  }

  /** The header of the file, if its checksum is correct. Never rejects. */
  check(): Promise<Found<StateHeader>> {
    return this.#found(async () => (await this.#verified()).header);
  }

  /** The state in the file. Never rejects. */
  read(): Promise<Found<KeptState>> {
    return this.#found(async () => {
      const { header, bytes, from, to } = await this.#verified();
      return readState(header, bytes, from, to);
    });
  }

  /**
   * Saves the output of `write`. `mayReplace` decides, at the last moment, whether the existing file may be
   * replaced; by default a later revision of the same database may not. Rejects with errors of the file
   * system and of `write`; the file is then unchanged.
   */
  async save(
    write: (writer: StateWriter) => Promise<void>,
    mayReplace: (found: StateHeader, header: StateHeader) => boolean = isNotLater,
  ): Promise<Saved> {
    const folder = dirname(this.path);
    await this.#files.createFolder(folder);
    await this.#removeAbandoned(folder);
    const temporary = `${this.path}.${randomBytes(8).toString('hex')}.tmp`;
    try {
      const header = await this.#writeTo(temporary, write);
      return await withLock(`${this.path}.lock`, this.#files, this.#lockLimitMs, async (): Promise<Saved> => {
        const found = await this.#contradicting(header, mayReplace);
        if (found !== null) return { kind: 'kept', found, header };
        await this.#files.rename(temporary, this.path);
        await this.#files.syncFolder(folder);
        return { kind: 'saved', header };
      });
    } finally {
      // After the rename nothing exists under this name.
      await this.#files.remove(temporary).catch(() => {});
    }
  }

  /** Renames the file, so that a new one does not replace it. */
  async putAside(path: string): Promise<void> {
    await this.#files.rename(this.path, path);
    await this.#files.syncFolder(dirname(this.path));
  }

  /** The header of the file if it must not be replaced. Only an intact file counts. */
  async #contradicting(
    header: StateHeader,
    mayReplace: (found: StateHeader, header: StateHeader) => boolean,
  ): Promise<StateHeader | null> {
    const found = await this.header();
    if (found === null || mayReplace(found, header)) return null;
    return (await this.check()).kind === 'usable' ? found : null;
  }

  async #writeTo(path: string, write: (writer: StateWriter) => Promise<void>): Promise<StateHeader> {
    const file = await this.#files.create(path);
    try {
      const hash = createHash('sha256');
      let written: StateHeader | null = null;
      const append = async (text: string): Promise<void> => {
        const bytes = Buffer.from(text);
        hash.update(bytes);
        await file.write(bytes);
      };
      await write({
        async header(header) {
          written = header;
          await append(headerLine(header));
        },
        lines: append,
      });
      if (written === null) throw new Error('a state without a header cannot be saved');
      await file.write(Buffer.from(checksumLine(hash.digest('hex'))));
      await file.sync();
      return written;
    } finally {
      await file.close();
    }
  }

  async #removeAbandoned(folder: string): Promise<void> {
    const start = `${basename(this.path)}.`;
    for (const name of await this.#files.list(folder)) {
      if (!name.startsWith(start) || !name.endsWith('.tmp')) continue;
      const path = join(folder, name);
      const changedAtMs = await this.#files.changedAtMs(path);
      if (changedAtMs !== null && Date.now() - changedAtMs > ABANDONED_MS) await this.#files.remove(path);
    }
  }

  async #found<T>(read: () => Promise<T>): Promise<Found<T>> {
    try {
      return { kind: 'usable', value: await read() };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
      return { kind: 'damaged', problem: error instanceof Error ? error.message : String(error) };
    }
  }

  /** The bytes of the file, its header, and the range of its records. */
  async #verified(): Promise<{ bytes: Buffer; header: StateHeader; from: number; to: number }> {
    const size = await this.#files.size(this.path);
    if (size > MAX_FILE_BYTES) throw new DamagedFileError(`it is larger than ${MAX_FILE_BYTES} bytes`);
    const bytes = await this.#files.read(this.path);
    if (bytes.length === 0) throw new DamagedFileError('it is empty');
    const headerEnd = bytes.indexOf(NEW_LINE);
    // The header is checked first: for a different kind of file the checksum is irrelevant.
    const header = readHeader(bytes.toString('utf8', 0, headerEnd < 0 ? MAX_HEADER_BYTES : headerEnd));
    const to = bytes.lastIndexOf(NEW_LINE, bytes.length - 2) + 1;
    if (to === 0 || bytes.at(-1) !== NEW_LINE) throw new DamagedFileError('it is not complete');
    const expected = readChecksum(bytes.toString('utf8', to));
    const hash = createHash('sha256');
    for (let at = 0; at < to; at += HASH_SLICE_BYTES) {
      if (at > 0) await othersTurn();
      hash.update(bytes.subarray(at, Math.min(to, at + HASH_SLICE_BYTES)));
    }
    if (hash.digest('hex') !== expected) throw new DamagedFileError('its checksum is wrong');
    return { bytes, header, from: headerEnd + 1, to };
  }
}

/** Whether the file is not at a later revision of the same database. */
function isNotLater(found: StateHeader, header: StateHeader): boolean {
  return found.instanceId !== header.instanceId || found.revision <= header.revision;
}

async function readState(header: StateHeader, bytes: Buffer, from: number, to: number): Promise<KeptState> {
  const state = new KeptState(header);
  let turnBegan = performance.now();
  let number = 2;
  for (let at = from; at < to; number += 1) {
    const end = bytes.indexOf(NEW_LINE, at);
    state.add(readRecord(bytes.toString('utf8', at, end), number));
    at = end + 1;
    if (performance.now() - turnBegan < TURN_MS) continue;
    await othersTurn();
    turnBegan = performance.now();
  }
  state.complete();
  return state;
}
