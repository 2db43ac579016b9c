import type { CellState, Entry, Reducers } from './cell-state.js';
import { fold, newCellState, parseEntry, parseState, printState, prune, usedByRule } from './cell-state.js';
import { type CellNews, type EntryAddition, MemoryStoreError } from './store/memory-store.js';

/** Entries after a checkpoint from which on the next one is made, or their bytes. */
const ENTRIES = 32;
const ENTRY_BYTES = 8_192;
/** The store keeps a cell for this much longer than it matters, and a process forgets it this much earlier than the store. */
const MARGIN_US = 120_000_000;
/** Memory of a cell without entries, in bytes. */
const BASE_BYTES = 800;
/** A state takes more memory than its text. */
const BYTES_OF_TEXT = 4;

export interface CellName {
  readonly id: string;
  readonly namespace: string;
  readonly label: string;
  /** The agent whose step it is read for: the one that begins it, if it does not exist. */
  readonly agent: string;
}

export interface CellContext {
  readonly reducers: Reducers;
  /** How long a step is known as repeated, in microseconds. */
  readonly stepsKeptUs: number;
}

interface Checkpoint {
  readonly text: string;
  readonly version: number;
}

interface Tentative {
  readonly text: string;
  readonly atUs: number;
  readonly checkpoint: string | null;
}

/**
 * A cell as this process knows it. Entries are folded as soon as they are made, before the store has them; if it refuses
 * them, the state is made anew of the checkpoint and the entries that it has. That spares copies of the state in the usual case.
 */
export class Cell {
  readonly name: CellName;
  readonly id: string;
  readonly namespace: string;
  readonly #context: CellContext;
  #state = newCellState();
  #generation = 0;
  #version = 0;
  #base: Checkpoint | null = null;
  #baseBytes = 0;
  /** Texts of the entries after the checkpoint that the store has, and of those it was sent or will be. */
  #tail: string[] = [];
  #tailBytes = 0;
  readonly #tentative: Tentative[] = [];
  #damage: 'checkpoint' | 'entry' | null = null;
  /** Used shares of the rules, when they were last looked at; null until then. */
  #used: Map<string, number> | null = null;

  constructor(name: CellName, context: CellContext) {
    this.name = name;
    this.id = name.id;
    this.namespace = name.namespace;
    this.#context = context;
  }

  /** With entries that the store does not have yet. */
  get state(): CellState {
    return this.#state;
  }

  /** Number of entries that the store has, as far as is known. */
  get knownVersion(): number {
    return this.#version;
  }

  /** Number of entries, with those that the store does not have yet. */
  get version(): number {
    return this.#version + this.#tentative.length;
  }

  get generation(): number {
    return this.#generation;
  }

  /** What cannot be read. A checkpoint can be made anew of the ledger; an entry cannot. The state is empty then. */
  get damage(): 'checkpoint' | 'entry' | null {
    return this.#damage;
  }

  /** Estimated memory, in bytes. */
  get weight(): number {
    return BASE_BYTES + BYTES_OF_TEXT * (this.#baseBytes + this.#tailBytes);
  }

  /** Whether nothing of it matters at this time: the store may have removed it, so what is known of it is not used. */
  hasExpired(nowUs: number): boolean {
    return this.version > 0 && this.#state.expiresUs + MARGIN_US / 2 <= nowUs;
  }

  /** The same without entries that the store does not have. */
  copy(): Cell {
    const copy = new Cell(this.name, this.#context);
    copy.#generation = this.#generation;
    copy.#version = this.#version;
    copy.#base = this.#base;
    copy.#tail = [...this.#tail];
    copy.#rebuild();
    return copy;
  }

  /** Adds an entry, which the store is sent next as its JSON text. */
  append(entry: Entry, text: string): Omit<EntryAddition, 'cell'> {
    const { reducers, stepsKeptUs } = this.#context;
    const isReset = entry.r !== undefined && entry.r.length === 0;
    this.#fold(entry);
    this.#tailBytes += text.length;
    const count = this.#tail.length + this.#tentative.length + 1;
    let checkpoint: string | null = null;
    if (isReset || (this.#damage === null && this.#isDue(count))) {
      prune(this.#state, entry.a, entry.a - stepsKeptUs, reducers);
      checkpoint = printState(this.#state);
      // Not of the tail any more, whether or not the store takes it: it is taken in most cases, and counted anew otherwise.
      this.#baseBytes = checkpoint.length;
      this.#tailBytes = 0;
    }
    this.#tentative.push({ text, atUs: entry.a, checkpoint });
    return {
      entry: text,
      atUs: entry.a,
      expiresAtUs: this.#state.expiresUs + MARGIN_US,
      used: this.#usedAfter(entry),
      checkpoint,
    };
  }

  /** The store has taken the first `applied` entries that it was sent, and refused the others. */
  settle(applied: number): void {
    const isRefused = applied < this.#tentative.length;
    for (const { text, atUs, checkpoint } of this.#tentative.slice(0, applied)) {
      this.#version += 1;
      // The generation of a cell is the time of its first entry.
      if (this.#version === 1) this.#generation = atUs;
      this.#tail.push(text);
      if (checkpoint === null) continue;
      this.#base = { text: checkpoint, version: this.#version };
      this.#tail = [];
    }
    this.#tentative.length = 0;
    if (isRefused) this.#rebuild();
  }

  /** What the store has and this process did not know; called after `settle`. Throws if it does not fit. */
  learn(news: CellNews): void {
    const first = news.checkpoint?.version ?? news.version - news.entries.length;
    const follows = news.checkpoint === null && first > 0;
    const fits = follows
      ? first === this.#version && news.generation === this.#generation
      : news.checkpoint === null || first + news.entries.length === news.version;
    if (!fits) throw new MemoryStoreError(`the news of cell ${this.id} do not follow what is known of it`);
    this.#generation = news.generation;
    this.#version = news.version;
    if (follows) {
      for (const text of news.entries) {
        this.#tail.push(text);
        this.#follow(text);
      }
      this.#compact();
      return;
    }
    this.#base = news.checkpoint;
    this.#tail = [...news.entries];
    this.#rebuild();
  }

  /** Largest used share. Those of rules without an addition are not looked at again until the next checkpoint: they only fall. */
  #usedAfter({ a, d, r }: Entry): number {
    const { reducers } = this.#context;
    const { rules } = this.#state;
    const isNew = this.#used === null || r !== undefined || this.#tailBytes === 0;
    const changed = isNew ? [...rules.keys()] : (d ?? []).map(([ruleId]) => ruleId);
    if (isNew) this.#used = new Map();
    const shares = this.#used ?? new Map<string, number>();
    for (const ruleId of changed) {
      const kept = rules.get(ruleId);
      if (kept !== undefined) shares.set(ruleId, usedByRule(ruleId, kept, a, reducers));
    }
    let most = 0;
    for (const share of shares.values()) most = Math.max(most, share);
    return Math.min(1, most);
  }

  #isDue(count: number): boolean {
    // Of a large state less often: what is written stays in proportion to what is added.
    return (count >= ENTRIES || this.#tailBytes >= ENTRY_BYTES) && 2 * this.#tailBytes >= this.#baseBytes;
  }

  #follow(text: string): void {
    this.#tailBytes += text.length;
    try {
      this.#fold(parseEntry(text));
    } catch {
      this.#damaged('entry');
    }
  }

  #fold(entry: Entry): void {
    if (entry.r !== undefined && entry.r.length === 0) this.#damage = null;
    // Times of a damaged cell grow as well.
    const kept = this.#damage === null ? entry : { a: entry.a, w: entry.w, n: entry.n, x: entry.x };
    try {
      fold(this.#state, kept, this.#context.reducers);
    } catch {
      this.#damaged('entry');
    }
  }

  /** Keeps the entries few from which the state would be made anew, where other processes make the checkpoints. */
  #compact(): void {
    if (this.#damage !== null || !this.#isDue(this.#tail.length)) return;
    this.#base = { text: printState(this.#state), version: this.#version };
    this.#tail = [];
    this.#measure();
  }

  #rebuild(): void {
    this.#damage = null;
    this.#used = null;
    this.#state = newCellState();
    this.#measure();
    this.#tailBytes = 0;
    try {
      if (this.#base !== null) this.#state = parseState(this.#base.text);
    } catch {
      this.#damaged('checkpoint');
    }
    for (const text of this.#tail) this.#follow(text);
    this.#compact();
  }

  #measure(): void {
    this.#baseBytes = this.#base?.text.length ?? 0;
    this.#tailBytes = this.#tail.reduce((sum, { length }) => sum + length, 0);
  }

  #damaged(damage: 'checkpoint' | 'entry'): void {
    this.#damage ??= damage;
    // Times are kept: they only grow.
    const { lastUs, expiresUs } = this.#state;
    this.#state = { ...newCellState(), lastUs, expiresUs };
  }
}
