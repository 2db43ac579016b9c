import { type FileHandle, open, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';
import { frame, readRecords } from './record-format.js';

const NAME = /^(\d{12})\.spool$/;

export const segmentName = (number: number): string => `${String(number).padStart(12, '0')}.spool`;

/** The number of a segment; undefined for other files. */
export function segmentNumber(name: string): number | undefined {
  const found = NAME.exec(name);
  return found === null ? undefined : Number(found[1]);
}

/** A file of records. Only its end is written, only from its beginning is read. */
export class Segment {
  /** Octets after its last whole record, which an earlier process has not written completely. */
  readonly cutOctets: number;
  readonly #path: string;
  /** Undefined when nothing is appended to it any more. */
  #handle: FileHandle | undefined;
  #octets: number;
  /** Records before this offset were forgotten. */
  #from = 0;

  private constructor(file: string, octets: number, cutOctets: number, handle?: FileHandle) {
    this.#path = file;
    this.#octets = octets;
    this.cutOctets = cutOctets;
    this.#handle = handle;
  }

  /** Creates an empty one. */
  static async create(folder: string, number: number): Promise<Segment> {
    const file = path.join(folder, segmentName(number));
    const segment = new Segment(file, 0, 0, await open(file, 'wx', 0o600));
    await syncFolder(folder);
    return segment;
  }

  /** Opens one of an earlier process. What follows its last whole record was never acknowledged. */
  static async recover(folder: string, number: number): Promise<Segment> {
    const file = path.join(folder, segmentName(number));
    const content = await readFile(file);
    const { end } = readRecords(content, 0);
    return new Segment(file, end, content.length - end);
  }

  /** Octets of whole records, including those that were forgotten. */
  get octets(): number {
    return this.#octets;
  }

  /** Whether all of its records were forgotten. */
  get isRead(): boolean {
    return this.#from >= this.#octets;
  }

  get isOpen(): boolean {
    return this.#handle !== undefined;
  }

  /** Resolves when the records survive a crash. After a failure nothing is appended any more. */
  async append(records: readonly Buffer[]): Promise<void> {
    if (this.#handle === undefined) throw new Error('the segment is closed');
    const framed = Buffer.concat(records.map(frame));
    try {
      await this.#handle.writev([framed], this.#octets);
      await this.#handle.datasync();
    } catch (error) {
      await this.#handle.truncate(this.#octets).catch(() => {});
      await this.close();
      throw error;
    }
    this.#octets += framed.length;
  }

  /** The next records, of about this many octets, and a function that forgets them. */
  async next(maxOctets: number): Promise<{ records: readonly Buffer[]; forget: () => void }> {
    const file = await readFile(this.#path);
    const { records, end } = readRecords(file.subarray(0, this.#octets), this.#from, maxOctets);
    return {
      records,
      forget: () => {
        // A damaged record ends the segment.
        this.#from = records.length === 0 ? this.#octets : end;
      },
    };
  }

  /** Ends appending. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async delete(): Promise<void> {
    await this.close();
    await unlink(this.#path);
  }
}

/** Makes names of new files survive a crash. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
