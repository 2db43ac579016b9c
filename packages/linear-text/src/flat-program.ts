import { InstructionOp, type Program } from './engine.js';

// Assertions of an empty-width instruction, as numbered by RE2.
export const BEGIN_LINE = 1;
export const END_LINE = 2;
export const BEGIN_TEXT = 4;
export const END_TEXT = 8;
export const WORD_BOUNDARY = 16;
export const NO_WORD_BOUNDARY = 32;

/** Cost of a lookup in a class of many ranges, in visits of an instruction. */
export const CLASS_VISITS = 2;

/** How to treat assertions that are not known to hold. */
export type Unmet = 'drop' | 'keep' | 'keep unless at the beginning';

/**
 * Buffers in which sets of instructions are built. Shared by all patterns, because searches do not
 * interleave.
 */
export const scratch = {
  /** Instructions still to be visited. */
  stack: new Int32Array(0),
  /** The instructions of the current state, and of the next one. */
  source: new Int32Array(0),
  target: new Int32Array(0),
  /** The number of the last visit that reached an instruction. */
  marks: new Int32Array(0),
  mark: 0,
};

/** Grows the buffers for a program of `size` instructions. */
export function reserve(size: number): void {
  if (scratch.marks.length >= size) return;
  // An instruction is pushed by at most two others, besides the first one.
  scratch.stack = new Int32Array(2 * size + 2);
  scratch.source = new Int32Array(size);
  scratch.target = new Int32Array(size);
  scratch.marks = new Int32Array(size);
  scratch.mark = 0;
}

/** Begins a new visit, in which no instruction is marked. */
export function nextMark(): void {
  if (scratch.mark === 0x7fffffff) {
    scratch.marks.fill(0);
    scratch.mark = 0;
  }
  scratch.mark += 1;
}

/** A program as plain numbers. Instructions without effect are skipped. */
export interface FlatProgram {
  readonly size: number;
  readonly start: number;
  /** Whether an instruction is an assertion kept in a set. */
  isAssertion(pc: number): boolean;
  /** The assertions of such an instruction. */
  assertions(pc: number): number;
  next(pc: number): number;
  /** Whether an instruction reads the code point. Adds to `visits` the cost beyond testing one range. */
  reads(pc: number, code: number): boolean;
  /**
   * Follows all non-reading instructions from `pc` and appends the results, reading instructions and
   * assertions, to `members`, which already has `count` and is marked for these. Returns the new count, or -1
   * when a match is reached. Adds the number of visited instructions to `visits`.
   */
  close(pc: number, known: number, unmet: Unmet, members: Int32Array, count: number): number;
  /** Instructions visited so far. */
  visits: number;
}

/** Flattens a program. */
export function flattenProgram(program: Program): FlatProgram {
  const { inst } = program;
  const size = inst.length;
  reserve(size);
  const passOver = (from: number): number => {
    let pc = from;
    for (;;) {
      const instruction = inst[pc];
      if (instruction?.op !== InstructionOp.NOP && instruction?.op !== InstructionOp.CAPTURE) return pc;
      pc = instruction.out;
    }
  };
  const { ALT, ALT_MATCH, EMPTY_WIDTH, FAIL, MATCH, RUNE1 } = InstructionOp;
  const isChoice = (op: number) => op === ALT || op === ALT_MATCH;
  const op = Uint8Array.from(inst, (instruction) => instruction.op);
  const out = Int32Array.from(inst, (instruction) => passOver(instruction.out));
  const arg = Int32Array.from(inst, (one) => (isChoice(one.op) ? passOver(one.arg) : one.arg));
  // Most instructions read one range of code points; the others have no range here.
  const isRange = inst.map(({ op: kind, runes }) => kind === RUNE1 || runes.length === 2);
  const low = Int32Array.from(inst, ({ runes }, pc) => (isRange[pc] ? (runes[0] ?? 0) : 1));
  const high = Int32Array.from(inst, ({ runes }, pc) => (isRange[pc] ? (runes[runes.length - 1] ?? 0) : 0));

  const flat: FlatProgram = {
    size,
    start: passOver(program.start),
    visits: 0,
    isAssertion: (pc) => op[pc] === EMPTY_WIDTH,
    assertions: (pc) => arg[pc] ?? 0,
    next: (pc) => out[pc] ?? 0,
    reads(pc, code) {
      const first = low[pc] ?? 0;
      const last = high[pc] ?? 0;
      if (first <= last) return first <= code && code <= last;
      flat.visits += CLASS_VISITS;
      return inst[pc]?.matchRune(code) === true;
    },
    close(from, known, unmet, members, initial) {
      const { stack, marks, mark } = scratch;
      let count = initial;
      let depth = 0;
      stack[depth++] = from;
      while (depth > 0) {
        const pc = stack[--depth] ?? 0;
        if (marks[pc] === mark) continue;
        marks[pc] = mark;
        flat.visits += 1;
        const kind = op[pc];
        if (kind === ALT || kind === ALT_MATCH) {
          stack[depth++] = arg[pc] ?? 0;
          stack[depth++] = out[pc] ?? 0;
        } else if (kind === MATCH) {
          return -1;
        } else if (kind === EMPTY_WIDTH) {
          const needed = arg[pc] ?? 0;
          if ((needed & ~known) === 0) stack[depth++] = out[pc] ?? 0;
          else if (unmet === 'keep' || (unmet !== 'drop' && (needed & BEGIN_TEXT) === 0))
            members[count++] = pc;
        } else if (kind !== FAIL) {
          members[count++] = pc;
        }
      }
      return count;
    },
  };
  return flat;
}

/** The key of the hashes is random per process, so that lists with equal hashes cannot be prepared. */
const hashKey = Math.floor(Math.random() * 0x7fffffff);

/** A hash of a list of integers. */
export function hashOf(list: ArrayLike<number>, first = 0): number {
  let hash = hashKey ^ first;
  for (let at = 0; at < list.length; at += 1) {
    hash = Math.imul(hash ^ (list[at] ?? 0), 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  return hash;
}

/** Whether two lists have the same integers in the same order. */
export function areEqual(left: ArrayLike<number>, right: ArrayLike<number>): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false;
  return true;
}
