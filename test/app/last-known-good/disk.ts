import type { FileSystem, WritableFile } from '../../../src/app/last-known-good/file-system.js';

interface Inode {
  bytes: Buffer;
  /** What is certainly on the disk. */
  synced: Buffer;
  changedAtMs: number;
}

type NameChange =
  | { readonly kind: 'set'; readonly path: string; readonly inode: Inode }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string };

/** Thrown by the step in which the process dies, and by all after it. */
export class Died extends Error {}

/** How much of what was not synced is there after the power failed. */
export interface PowerFailure {
  /** Of the changes of names that were not synced, so many are there. */
  readonly nameChanges: number;
  /** Of what was written to each file and not synced, this part is there, from 0 to 1. */
  readonly bytes: number;
}

/**
 * A disk in memory that can die at any step. What was not synced may be lost, in part or as a whole, when the power
 * fails; when only the process is killed, everything it did stays.
 */
export class Disk implements FileSystem {
  readonly #names = new Map<string, Inode>();
  /** Names that are certainly on the disk. */
  #syncedNames = new Map<string, Inode>();
  #pending: NameChange[] = [];
  /** Steps so far. A write is two steps: half of it, and the rest. */
  steps = 0;
  /** The step that is the last one of the process. */
  diesAt = Number.POSITIVE_INFINITY;
  nowMs = Date.now();

  /** What is left for the next process. */
  afterDeath(power?: PowerFailure): Disk {
    const left = new Disk();
    left.nowMs = this.nowMs;
    const names = power === undefined ? this.#names : this.#namesAfter(power.nameChanges);
    for (const [path, inode] of names) {
      const lost = inode.bytes.length - inode.synced.length;
      const length = power === undefined ? inode.bytes.length : inode.synced.length + lost * power.bytes;
      const bytes = inode.bytes.subarray(0, Math.floor(length));
      const kept = { bytes, synced: bytes, changedAtMs: inode.changedAtMs };
      left.#names.set(path, kept);
      left.#syncedNames.set(path, kept);
    }
    return left;
  }

  /** Makes every file an hour older. */
  age(): void {
    for (const inode of this.#names.values()) inode.changedAtMs -= 3_600_000;
  }

  get paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  async read(path: string): Promise<Buffer> {
    this.#step();
    return Buffer.from(this.#inode(path).bytes);
  }

  async readStart(path: string, length: number): Promise<Buffer> {
    this.#step();
    return Buffer.from(this.#inode(path).bytes.subarray(0, length));
  }

  async size(path: string): Promise<number> {
    this.#step();
    return this.#inode(path).bytes.length;
  }

  async create(path: string): Promise<WritableFile> {
    this.#step();
    if (this.#names.has(path)) throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' });
    const inode: Inode = { bytes: Buffer.alloc(0), synced: Buffer.alloc(0), changedAtMs: this.nowMs };
    this.#change({ kind: 'set', path, inode });
    return {
      write: async (bytes) => {
        const half = bytes.length >> 1;
        for (const part of [bytes.subarray(0, half), bytes.subarray(half)]) {
          this.#step();
          inode.bytes = Buffer.concat([inode.bytes, part]);
          inode.changedAtMs = this.nowMs;
        }
      },
      sync: async () => {
        this.#step();
        inode.synced = inode.bytes;
      },
      close: async () => this.#step(),
    };
  }

  async rename(from: string, to: string): Promise<void> {
    this.#step();
    this.#inode(from);
    this.#change({ kind: 'rename', from, to });
  }

  async remove(path: string): Promise<void> {
    this.#step();
    if (this.#names.has(path)) this.#change({ kind: 'remove', path });
  }

  async list(folder: string): Promise<string[]> {
    this.#step();
    return this.paths.map((path) => path.slice(folder.length + 1));
  }

  async changedAtMs(path: string): Promise<number | null> {
    this.#step();
    return this.#names.get(path)?.changedAtMs ?? null;
  }

  async createFolder(): Promise<void> {
    this.#step();
  }

  async syncFolder(): Promise<void> {
    this.#step();
    this.#syncedNames = new Map(this.#names);
    this.#pending = [];
  }

  #step(): void {
    if (this.steps >= this.diesAt) throw new Died();
    this.steps += 1;
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    return inode;
  }

  #change(change: NameChange): void {
    apply(this.#names, change);
    this.#pending.push(change);
  }

  /** File systems keep the order of these changes. */
  #namesAfter(count: number): Map<string, Inode> {
    const names = new Map(this.#syncedNames);
    for (const change of this.#pending.slice(0, count)) apply(names, change);
    return names;
  }
}

function apply(names: Map<string, Inode>, change: NameChange): void {
  if (change.kind === 'set') names.set(change.path, change.inode);
  else if (change.kind === 'remove') names.delete(change.path);
  else {
    const inode = names.get(change.from);
    if (inode !== undefined) names.set(change.to, inode);
    names.delete(change.from);
  }
}
