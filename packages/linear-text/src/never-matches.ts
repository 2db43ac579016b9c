import { compileProgram, type Instruction, InstructionOp, type Program } from './engine.js';
import { createRuneClasses } from './rune-classes.js';
import { ANYTHING, allowedBehind, EDGE, NEWLINE, OTHER, SIDES, WORD } from './text-sides.js';

/** Largest program analysed, in instructions; larger ones are undecided. */
const MAX_SIZE = 500;
/** Most tests whether an instruction reads a character: about a millisecond. */
const MAX_QUESTIONS = 50_000;

export interface EmptinessOptions {
  readonly ignoreCase?: boolean;
  /** Whether only non-empty texts count. */
  readonly onlyNonEmptyTexts?: boolean;
}

/**
 * Whether a valid pattern matches no text at all. True is certain; false may also mean undecided: the pattern
 * is too large, or its program has unsupported instructions.
 *
 * Walks the program as RE2 would, over all texts simultaneously. A state is an instruction, the neighbour
 * before the position, and the possible neighbours after it, given the assertions passed.
 */
export function neverMatches(pattern: string, options: EmptinessOptions = {}): boolean {
  const { program } = compileProgram(pattern, options.ignoreCase === true);
  if (program.inst.length > MAX_SIZE) return false;
  const readable = readableSides(program);
  return readable !== null && !isFound(program, readable, options.onlyNonEmptyTexts === true);
}

/** The kinds of character that each instruction can read; null when one is unsupported. */
function readableSides({ inst, ...program }: Program): readonly number[] | null {
  const { ALT, ALT_MATCH, CAPTURE, EMPTY_WIDTH, FAIL, MATCH, NOP } = InstructionOp;
  const { RUNE, RUNE1, RUNE_ANY, RUNE_ANY_NOT_NL } = InstructionOp;
  const silent = new Set([ALT, ALT_MATCH, CAPTURE, EMPTY_WIDTH, FAIL, MATCH, NOP]);
  const reading = new Set([RUNE, RUNE1, RUNE_ANY, RUNE_ANY_NOT_NL]);
  const { samples } = createRuneClasses({ inst, ...program });
  if (samples.length * inst.length > MAX_QUESTIONS) return null;
  const sides: number[] = [];
  for (const instruction of inst) {
    if (silent.has(instruction.op)) sides.push(0);
    else if (reading.has(instruction.op)) sides.push(sidesOf(instruction, samples));
    else return null;
  }
  return sides;
}

function sidesOf(instruction: Instruction, samples: Int32Array): number {
  const { RUNE_ANY, RUNE_ANY_NOT_NL } = InstructionOp;
  if (instruction.op === RUNE_ANY) return NEWLINE | WORD | OTHER;
  if (instruction.op === RUNE_ANY_NOT_NL) return WORD | OTHER;
  let sides = 0;
  for (const code of samples) if (instruction.matchRune(code)) sides |= sideOf(code);
  return sides;
}

function sideOf(code: number): number {
  if (code === 10) return NEWLINE;
  const isWord =
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    code === 0x5f ||
    (code >= 0x61 && code <= 0x7a);
  return isWord ? WORD : OTHER;
}

/** Whether any text leads to a match. */
function isFound({ inst, start }: Program, readable: readonly number[], onlyNonEmpty: boolean): boolean {
  const { ALT, ALT_MATCH, EMPTY_WIDTH, FAIL, MATCH, CAPTURE, NOP } = InstructionOp;
  const seen = new Uint8Array(inst.length << 8);
  const open: number[] = [];
  const visit = (pc: number, before: number, behind: number) => {
    if (behind === 0) return;
    const state = (pc << 8) | (before << 4) | behind;
    if (seen[state] === 1) return;
    seen[state] = 1;
    open.push(state);
  };
  // The search may begin anywhere in a text.
  for (const before of SIDES) visit(start, before, ANYTHING);
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const pc = state >> 8;
    const before = (state >> 4) & ANYTHING;
    const behind = state & ANYTHING;
    const instruction = inst[pc];
    if (instruction === undefined || instruction.op === FAIL) continue;
    const { op, out, arg } = instruction;
    if (op === MATCH) {
      const isEmptyText = before === EDGE && behind === EDGE;
      if (!onlyNonEmpty || !isEmptyText) return true;
    } else if (op === ALT || op === ALT_MATCH) {
      visit(out, before, behind);
      visit(arg, before, behind);
    } else if (op === CAPTURE || op === NOP) {
      visit(out, before, behind);
    } else if (op === EMPTY_WIDTH) {
      visit(out, before, behind & allowedBehind(arg, before));
    } else {
      const read = behind & (readable[pc] ?? 0);
      for (const side of SIDES) if ((read & side) !== 0) visit(out, side, ANYTHING);
    }
  }
  return false;
}
