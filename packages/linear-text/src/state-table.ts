import { areEqual, hashOf } from './flat-program.js';

/**
 * Memory limit of the states of one pattern, in bytes. Ordinary patterns need some kilobytes; one that
 * exceeds the limit restarts with none, which costs time and is counted.
 */
export const MAX_STATE_BYTES = 512 * 1024;
/** Memory of a state besides its row and its instructions, in bytes. */
const STATE_OVERHEAD = 200;

/** Memory of the cost of a cell and of who took it last. */
const COUNTED_CELL_BYTES = 8;

const EMPTY: Int32Array = new Int32Array(0);
/** Rows of a new table. */
const FIRST_ROWS = 8;

/** The states of an automaton: numbered sets of instructions, each with a row of cells in one table. */
export class StateTable {
  readonly #stride: number;
  #sets: Int32Array[] = [];
  #contexts: number[] = [];
  #byHash = new Map<number, number[]>();
  #bytes = 0;
  #isHolder = false;
  /** Cells of all rows; 0 where not known yet. Replaced by a larger array when full. */
  cells: Int32Array;
  /** Number of times the states were cleared. */
  generation = 0;
  /** Whether there were counted searches, which need the two arrays that follow; they are empty before. */
  isCounted = false;
  /** Sixteenths of a step that the transition of each cell took. */
  costs = EMPTY;
  /** The counted search that took the transition of each cell last. */
  takenBy = EMPTY;

  /** @param stride number of cells of a row */
  constructor(stride: number) {
    this.#stride = stride;
    this.cells = new Int32Array(FIRST_ROWS * stride);
    this.clear();
  }

  /** Clears all states and releases their memory. */
  release(): void {
    this.clear();
    this.cells = new Int32Array(FIRST_ROWS * this.#stride);
    this.isCounted = false;
    this.costs = EMPTY;
    this.takenBy = EMPTY;
    this.#isHolder = false;
  }

  /** Clears all states. */
  clear(): void {
    // Row 0 is unused: 0 in a cell means that the next state is unknown.
    this.#sets = [new Int32Array(0)];
    this.#contexts = [0];
    this.#byHash.clear();
    this.#bytes = 0;
    this.generation += 1;
  }

  /** Clears all states, and records the costs of transitions from now on. */
  count(): void {
    this.clear();
    const { length } = this.cells;
    this.isCounted = true;
    this.costs = new Int32Array(length);
    this.takenBy = new Int32Array(length);
    take(COUNTED_CELL_BYTES * length);
  }

  /** The instructions of the state whose row begins at `row`. */
  set(row: number): Int32Array {
    return this.#sets[row / this.#stride] ?? EMPTY;
  }

  /** The context of the position before that state. */
  context(row: number): number {
    return this.#contexts[row / this.#stride] ?? 0;
  }

  /** The row of the state of these sorted instructions, which are copied. May clear all other states. */
  rowOf(members: Int32Array, context: number): number {
    const hash = hashOf(members, context);
    const alike = this.#byHash.get(hash) ?? [];
    for (const state of alike) {
      if (this.#contexts[state] === context && areEqual(this.#sets[state] ?? EMPTY, members)) {
        return state * this.#stride;
      }
    }
    const bytes = STATE_OVERHEAD + 4 * (this.#stride + members.length);
    // There is always room for two states: the current one and the next one.
    if (this.#bytes + bytes > MAX_STATE_BYTES && this.#sets.length > 2) {
      this.clear();
      return this.#add(members, context, hash, [], bytes);
    }
    return this.#add(members, context, hash, alike, bytes);
  }

  #add(members: Int32Array, context: number, hash: number, alike: number[], bytes: number): number {
    const state = this.#sets.length;
    const row = state * this.#stride;
    if (row + this.#stride > this.cells.length) {
      this.cells = doubled(this.cells);
      if (this.isCounted) {
        take(COUNTED_CELL_BYTES * this.costs.length);
        this.costs = doubled(this.costs);
        this.takenBy = doubled(this.takenBy);
      }
    }
    this.cells.fill(0, row, row + this.#stride);
    this.#sets.push(members.slice());
    this.#contexts.push(context);
    alike.push(state);
    this.#byHash.set(hash, alike);
    this.#bytes += bytes;
    take(bytes);
    if (this.#isHolder) return row;
    this.#isHolder = true;
    hold(this);
    return row;
  }
}

function doubled(cells: Int32Array): Int32Array {
  const more = new Int32Array(cells.length * 2);
  more.set(cells);
  return more;
}

/** Most memory of the states of all patterns together, in bytes; a running search may exceed it. */
export const MAX_TOTAL_STATE_BYTES = 64 * 1024 * 1024;

/** A holder of releasable memory. */
export interface Releasable {
  release(): void;
}

let used = 0;
let holders: WeakRef<Releasable>[] = [];

/** Registers a holder that has allocated memory. It may be garbage-collected like any other object. */
export function hold(holder: Releasable): void {
  holders.push(new WeakRef(holder));
}

/** Counts memory allocated by a holder. Memory that it frees itself stays counted until all are released. */
export function take(bytes: number): void {
  used += bytes;
}

/** Releases all holders when their total exceeds the limit. To be called between searches only. */
export function releaseWhenFull(): void {
  if (used <= MAX_TOTAL_STATE_BYTES) return;
  const released = holders;
  used = 0;
  holders = [];
  for (const holder of released) holder.deref()?.release();
}
