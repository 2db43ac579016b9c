import { readdir } from 'node:fs/promises';
import { unavailable } from '../../../storage/database/errors.js';
import { Segment, segmentNumber } from './segment.js';
import { type SpoolFolder, takeFolders } from './spool-folder.js';

/** A segment is deleted as a whole, when it was read; a larger one delays that. */
const SEGMENT_OCTETS = 8 * 1024 * 1024;

export interface SpoolOptions {
  /** Directory that processes may share. */
  readonly directory: string;
  /** Most octets of all records of this process. */
  readonly maxOctets: number;
  readonly segmentOctets?: number;
}

interface Waiting {
  readonly record: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A queue of records in files, in the order in which they were appended. Records are read again after a crash, up to
 * some megabytes also if they were forgotten: readers have to know what they have done.
 */
export class Spool {
  readonly #folders: readonly [SpoolFolder, ...SpoolFolder[]];
  readonly #maxOctets: number;
  readonly #segmentOctets: number;
  /** Oldest first; only the last one may be open. */
  readonly #segments: Segment[];
  #nextNumber: number;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;

  private constructor(
    folders: readonly [SpoolFolder, ...SpoolFolder[]],
    segments: Segment[],
    nextNumber: number,
    { maxOctets, segmentOctets = SEGMENT_OCTETS }: SpoolOptions,
  ) {
    this.#folders = folders;
    this.#segments = segments;
    this.#nextNumber = nextNumber;
    this.#maxOctets = maxOctets;
    this.#segmentOctets = segmentOctets;
  }

  /** Opens the spool with all records that this process, or others that ended, have left. */
  static async open(options: SpoolOptions): Promise<Spool> {
    const folders = takeFolders(options.directory);
    try {
      const segments: Segment[] = [];
      let nextNumber = 0;
      for (const folder of folders) {
        const numbers = (await readdir(folder.path)).flatMap((name) => segmentNumber(name) ?? []);
        for (const number of numbers.sort((one, other) => one - other)) {
          segments.push(await Segment.recover(folder.path, number));
          if (folder === folders[0]) nextNumber = number + 1;
        }
      }
      return new Spool(folders, segments, nextNumber, options);
    } catch (error) {
      for (const folder of folders) folder.release();
      throw error;
    }
  }

  /** Whether nothing is in it or on its way to it. */
  get isEmpty(): boolean {
    return this.#segments.length === 0 && this.#waiting.length === 0 && this.#writing === undefined;
  }

  get octets(): number {
    return this.#segments.reduce((sum, { octets }) => sum + octets, 0);
  }

  /** Resolves when the record survives a crash; records that wait for the disk are written together. */
  append(record: Buffer): Promise<void> {
    const waiting = this.#waiting.reduce((sum, one) => sum + one.record.length, record.length);
    if (this.octets + waiting > this.#maxOctets) {
      return Promise.reject(unavailable('The event store is away, and the spool for its events is full.'));
    }
    const kept = new Promise<void>((resolve, reject) => this.#waiting.push({ record, resolve, reject }));
    this.#writing ??= this.#writeAll();
    return kept;
  }

  /** The oldest records, of about this many octets, and a function that forgets them. */
  async next(maxOctets: number): Promise<{ records: readonly Buffer[]; forget: () => Promise<void> }> {
    const [first] = this.#segments;
    if (first === undefined) return { records: [], forget: async () => {} };
    const { records, forget } = await first.next(maxOctets);
    return {
      records,
      forget: async () => {
        forget();
        await this.#deleteRead();
      },
    };
  }

  /** Octets at the ends of files that are no whole records: what was just written when a process died. */
  get cutOctets(): number {
    return this.#segments.reduce((sum, { cutOctets }) => sum + cutOctets, 0);
  }

  /** Leaves the records to the next process. */
  async close(): Promise<void> {
    await this.#writing;
    for (const segment of this.#segments) await segment.close();
    for (const folder of this.#folders) folder.release();
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await (await this.#open()).append(group.map(({ record }) => record));
        for (const { resolve } of group) resolve();
      } catch (error) {
        const failure = unavailable('The spool for events cannot be written.', error);
        for (const { reject } of group) reject(failure);
      }
    }
    this.#writing = undefined;
    await this.#deleteRead();
  }

  /** The segment to append to. */
  async #open(): Promise<Segment> {
    const last = this.#segments.at(-1);
    if (last?.isOpen && last.octets < this.#segmentOctets) return last;
    await last?.close();
    const number = this.#nextNumber;
    // A file that could not be created whole keeps its number.
    this.#nextNumber += 1;
    const segment = await Segment.create(this.#folders[0].path, number);
    this.#segments.push(segment);
    return segment;
  }

  /** Deletes the segments that were read, unless something is just appended to the last one. */
  async #deleteRead(): Promise<void> {
    while (this.#segments[0]?.isRead && this.#writing === undefined) {
      const read = this.#segments.shift();
      await read?.delete();
    }
  }
}
