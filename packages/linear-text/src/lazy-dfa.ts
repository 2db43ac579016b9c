import type { Program } from './engine.js';
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  CLASS_VISITS,
  type FlatProgram,
  flattenProgram,
  nextMark,
  reserve,
  scratch,
} from './flat-program.js';
import { AFTER_WORD, contextAskedBy, END, holdingBefore, NEWLINE } from './position-context.js';
import { createRuneClasses, type RuneClasses } from './rune-classes.js';
import { releaseWhenFull, StateTable } from './state-table.js';
import { isWordUnit } from './word-finder.js';

/** Code units of a text equivalent in time to one visit of an instruction. */
export const UNITS_PER_STEP = 4;
/** Cells of a new row equivalent in time to one visit of an instruction. */
const CELLS_PER_STEP = 16;
/** Costs of transitions are kept as whole numbers: all parts of a step in them are of cells. */
const PARTS_OF_STEP = CELLS_PER_STEP;

/** Thrown by a search that exceeds its step limit. */
export class SearchTooCostly extends Error {}

// Cell values other than the row of the next state.
const UNKNOWN = 0;
const FOUND = -1;
const LOST = -2;

/**
 * Decides whether texts contain a match of a program. The program is run as a deterministic automaton whose
 * states, sets of instructions, are built when a text first reaches them (R. Cox, "Regular Expression
 * Matching in the Wild", 2010).
 *
 * Work is counted in steps, one for each visit of an instruction while a state is built; following an
 * existing state costs next to nothing. Whether a search is too costly depends on the program and the text
 * alone, not on earlier searches: a search that could be too costly is counted, which means that it is charged for each
 * transition when it first takes it, as if no search had been there before.
 */
export class LazyDfa {
  readonly #program: FlatProgram;
  readonly #classes: RuneClasses;
  /** The class for the end of the text, the last cell of a row. */
  readonly #endClass: number;
  readonly #states: StateTable;
  /** Most steps of one transition. */
  readonly #worstTransition: number;
  /** Context that the assertions of the program depend on. */
  readonly #asked: number;
  /** Row of the first state, the generation of states that it belongs to, and the steps that it took. */
  #startRow = UNKNOWN;
  #startGeneration = UNKNOWN;
  #startSteps = 0;
  /** Number of the last counted search. */
  #search = 0;
  #steps = 0;
  /** Those for the length of the texts. */
  #textSteps = 0;
  #maxSteps = 0;

  constructor(program: Program) {
    this.#program = flattenProgram(program);
    this.#classes = createRuneClasses(program);
    this.#endClass = this.#classes.count;
    this.#asked = contextAskedBy(this.#program);
    const stride = this.#endClass + 1;
    this.#states = new StateTable(stride);
    // Two visits of all instructions, two of all members of a set and one of those of the next.
    this.#worstTransition = (5 + CLASS_VISITS) * this.#program.size + stride / CELLS_PER_STEP + 1;
  }

  /** Steps of the last search. */
  get steps(): number {
    return this.#steps;
  }

  /** Whether `text` contains a match. Throws `SearchTooCostly` when this takes more than `maxSteps`. */
  test(text: string, maxSteps: number): boolean {
    if (this.#prepare(text.length, 1, maxSteps)) {
      const found = this.#runCounted(text);
      if (found !== undefined) return found;
      this.#startOver();
    }
    return this.#run(text);
  }

  /**
   * Whether any of the texts contains a match, each searched separately. Throws `SearchTooCostly` when all of
   * them together take more than `maxSteps`.
   */
  testAny(texts: readonly string[], maxSteps: number): boolean {
    let length = 0;
    for (const text of texts) length += text.length;
    if (this.#prepare(length, texts.length, maxSteps)) {
      const found = this.#runEachCounted(texts);
      if (found !== undefined) return found;
      this.#startOver();
    }
    for (const text of texts) {
      // The states may have been cleared during the previous text.
      if (this.#startGeneration !== this.#states.generation) this.#begin();
      if (this.#run(text)) return true;
    }
    return false;
  }

  /**
   * Prepares a search in `texts` texts of `length` code units in total. Returns whether it is counted: one that begins
   * without states needs not be.
   */
  #prepare(length: number, texts: number, maxSteps: number): boolean {
    this.#maxSteps = maxSteps;
    this.#textSteps = length / UNITS_PER_STEP + (texts - 1);
    this.#steps = 0;
    this.#charge(this.#textSteps);
    reserve(this.#program.size);
    releaseWhenFull();
    const states = this.#states;
    const mayCostTooMuch = (length + 2 * texts) * this.#worstTransition > maxSteps / 2;
    if (mayCostTooMuch && !states.isCounted) {
      states.count();
      this.#begin();
      return false;
    }
    if (this.#startGeneration !== states.generation) {
      this.#begin();
      return false;
    }
    if (!mayCostTooMuch) return false;
    this.#search += 1;
    this.#charge(this.#startSteps);
    return true;
  }

  /** Like `#runCounted`, for each of several texts. */
  #runEachCounted(texts: readonly string[]): boolean | undefined {
    for (const text of texts) {
      const found = this.#runCounted(text);
      if (found !== false) return found;
    }
    return false;
  }

  #run(text: string): boolean {
    const { latin1 } = this.#classes;
    let { cells } = this.#states;
    let row = this.#startRow;
    if (row < 0) return row === FOUND;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      let id: number;
      if (unit < 256) {
        id = latin1[unit] ?? 0;
      } else {
        const code = text.codePointAt(at) ?? unit;
        if (code > 0xffff) at += 1;
        id = this.#classes.classOf(code);
      }
      let next = cells[row + id] ?? UNKNOWN;
      if (next <= 0) {
        if (next === UNKNOWN) {
          next = this.#build(row, id);
          cells = this.#states.cells;
        }
        if (next < 0) return next === FOUND;
      }
      row = next;
    }
    return (cells[row + this.#endClass] || this.#build(row, this.#endClass)) === FOUND;
  }

  /** The same in a counted search; undefined when the states of all searches do not fit, so that it must start over. */
  #runCounted(text: string): boolean | undefined {
    const { latin1 } = this.#classes;
    const { length } = text;
    const search = this.#search;
    let { cells, takenBy } = this.#states;
    let row = this.#startRow;
    if (row < 0) return row === FOUND;
    for (let at = 0; at <= length; at += 1) {
      const unit = at < length ? text.charCodeAt(at) : 0;
      let id: number;
      if (at === length) {
        id = this.#endClass;
      } else if (unit < 256) {
        id = latin1[unit] ?? 0;
      } else {
        const code = text.codePointAt(at) ?? unit;
        if (code > 0xffff) at += 1;
        id = this.#classes.classOf(code);
      }
      const cell = row + id;
      if (takenBy[cell] !== search) {
        if (!this.#takeFirst(row, id)) return undefined;
        ({ cells, takenBy } = this.#states);
      }
      row = cells[cell] ?? LOST;
      if (row < 0) return row === FOUND;
    }
    return false;
  }

  /** Takes a transition for the first time in a counted search. Returns whether its cell was kept. */
  #takeFirst(row: number, id: number): boolean {
    const states = this.#states;
    const { generation } = states;
    const cell = row + id;
    if (states.cells[cell] === UNKNOWN) this.#build(row, id);
    else this.#charge((states.costs[cell] ?? 0) / PARTS_OF_STEP);
    if (states.generation !== generation) return false;
    states.takenBy[cell] = this.#search;
    return true;
  }

  /** Begins a counted search again, without states. */
  #startOver(): void {
    this.#steps = this.#textSteps;
    this.#begin();
  }

  /** Resets to the first state only. */
  #begin(): void {
    const { target } = scratch;
    const steps = this.#steps;
    this.#states.clear();
    nextMark();
    const before = this.#program.visits;
    const count = this.#program.close(this.#program.start, 0, 'keep', target, 0);
    this.#charge(this.#program.visits - before);
    this.#startRow = count < 0 ? FOUND : this.#enter(count, BEGIN_TEXT | BEGIN_LINE);
    this.#startGeneration = this.#states.generation;
    this.#startSteps = this.#steps - steps;
  }

  /** Computes and stores the transition of class `id` from the state at `row`. */
  #build(row: number, id: number): number {
    const states = this.#states;
    const { generation } = states;
    const steps = this.#steps;
    const before = this.#program.visits;
    const code = id === this.#endClass ? END : (this.#classes.samples[id] ?? 0);
    const next = this.#next(row, code);
    this.#charge(this.#program.visits - before + 1);
    // A new state may have evicted all others; then there is no cell to store it in.
    if (states.generation !== generation) return next;
    states.cells[row + id] = next;
    if (states.isCounted) states.costs[row + id] = (this.#steps - steps) * PARTS_OF_STEP;
    return next;
  }

  #next(row: number, code: number): number {
    const program = this.#program;
    const { source, target } = scratch;
    const reached = this.#reach(row, code);
    if (reached < 0) return FOUND;
    if (code === END) return LOST;
    this.#charge(reached);
    nextMark();
    let count = 0;
    for (let at = 0; at < reached; at += 1) {
      const pc = source[at] ?? 0;
      if (!program.reads(pc, code)) continue;
      count = program.close(program.next(pc), 0, 'keep unless at the beginning', target, count);
      if (count < 0) return FOUND;
    }
    // A match may begin anywhere.
    count = program.close(program.start, 0, 'keep unless at the beginning', target, count);
    if (count < 0) return FOUND;
    if (count === 0) return LOST;
    return this.#enter(count, (code === NEWLINE ? BEGIN_LINE : 0) | (isWordUnit(code) ? AFTER_WORD : 0));
  }

  /**
   * Writes the reading instructions of a state to `source`, including those after assertions that hold before
   * `code`. Returns their number, or -1 when a match is reached.
   */
  #reach(row: number, code: number): number {
    const program = this.#program;
    const { source } = scratch;
    const set = this.#states.set(row);
    this.#charge(set.length);
    nextMark();
    const { mark, marks } = scratch;
    const holding = holdingBefore(code, this.#states.context(row));
    let count = 0;
    for (let at = 0; at < set.length; at += 1) {
      const pc = set[at] ?? 0;
      if (!program.isAssertion(pc)) {
        if (marks[pc] === mark) continue;
        marks[pc] = mark;
        source[count++] = pc;
      } else if ((program.assertions(pc) & ~holding) === 0) {
        count = program.close(program.next(pc), holding, 'drop', source, count);
        if (count < 0) return -1;
      }
    }
    return count;
  }

  /** The row of the state of the first `count` instructions of `target`. */
  #enter(count: number, context: number): number {
    const members = scratch.target.subarray(0, count);
    this.#charge(count + (this.#endClass + 1) / CELLS_PER_STEP);
    members.sort();
    // What precedes distinguishes states only if an assertion depends on it. An assertion may be followed by
    // others, so then everything the program depends on counts.
    const asks = members.some((pc) => this.#program.isAssertion(pc));
    return this.#states.rowOf(members, asks ? context & this.#asked : 0);
  }

  #charge(steps: number): void {
    this.#steps += steps;
    if (this.#steps <= this.#maxSteps) return;
    // The same for each order of charges.
    this.#steps = this.#maxSteps;
    throw new SearchTooCostly();
  }
}
