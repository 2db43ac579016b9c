import { compileProgram, InstructionOp, type Program } from './engine.js';
import { allowedBehind, EDGE, NEWLINE, OTHER, SIDES, WORD } from './text-sides.js';

/** Largest program analysed, in instructions; larger ones are undecided. */
const MAX_SIZE = 500;
/** A pattern of nothing but any characters: found in every text of one line. */
const ANY_CHARACTERS = /^(?:\(\?s\))?\^?\.[*+]\??\$?$/;

/**
 * Whether a valid pattern is found in every text that has a character besides line breaks. True is certain; false may also
 * mean undecided.
 *
 * A pattern is, if at the beginning of any text it matches the empty text, or one character of any kind.
 */
export function alwaysMatches(pattern: string): boolean {
  if (ANY_CHARACTERS.test(pattern)) return true;
  const { program } = compileProgram(pattern, false);
  if (program.inst.length > MAX_SIZE) return false;
  const isFoundAt = (before: number, behind: number): boolean => {
    const { isMatch, afterAny } = silently(program, program.start, before, behind);
    return (
      isMatch || afterAny.some((pc) => SIDES.every((next) => silently(program, pc, behind, next).isMatch))
    );
  };
  if (![WORD, OTHER].every((first) => isFoundAt(EDGE, first))) return false;
  // A text that begins with line breaks: at its beginning, or at the first other character.
  const { isMatch } = silently(program, program.start, EDGE, NEWLINE);
  return isMatch || [WORD, OTHER].every((first) => isFoundAt(NEWLINE, first));
}

/** A pattern of nothing but any characters, or none: found in every text. */
const ANY_TEXT = /^(?:\(\?s\)\^?\.\*\??\$?|\^?\.\*\??)$/;

/** Whether a valid pattern is found in every text, also in the empty one, and in line breaks. True is certain. */
export function matchesEveryText(pattern: string): boolean {
  if (ANY_TEXT.test(pattern)) return true;
  const { program } = compileProgram(pattern, false);
  if (program.inst.length > MAX_SIZE) return false;
  return SIDES.every((behind) => silently(program, program.start, EDGE, behind).isMatch);
}

/** What an instruction leads to, between two neighbours, without reading. */
interface Reached {
  readonly isMatch: boolean;
  /** Instructions that follow when any character is read, except a line break. */
  readonly afterAny: readonly number[];
}

function silently({ inst }: Program, start: number, before: number, behind: number): Reached {
  const { ALT, ALT_MATCH, EMPTY_WIDTH, MATCH, CAPTURE, NOP, RUNE_ANY, RUNE_ANY_NOT_NL } = InstructionOp;
  const seen = new Set<number>();
  const open = [start];
  const afterAny: number[] = [];
  for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
    const instruction = inst[pc];
    if (instruction === undefined || seen.has(pc)) continue;
    seen.add(pc);
    const { op, out, arg } = instruction;
    if (op === MATCH) return { isMatch: true, afterAny };
    if (op === ALT || op === ALT_MATCH) open.push(out, arg);
    else if (op === CAPTURE || op === NOP) open.push(out);
    else if (op === EMPTY_WIDTH) {
      if ((behind & allowedBehind(arg, before)) !== 0) open.push(out);
    } else if (op === RUNE_ANY || op === RUNE_ANY_NOT_NL) afterAny.push(out);
  }
  return { isMatch: false, afterAny };
}
