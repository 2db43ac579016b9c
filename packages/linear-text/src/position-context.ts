import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  type FlatProgram,
  NO_WORD_BOUNDARY,
  WORD_BOUNDARY,
} from './flat-program.js';
import { isWordUnit } from './word-finder.js';

/** Context of a position, besides assertions: the preceding character is a word character. */
export const AFTER_WORD = 64;
export const NEWLINE = 10;
/** Stands for the end of the text as a code point. */
export const END = -1;

/** The context that the assertions of a program depend on. */
export function contextAskedBy(program: FlatProgram): number {
  let asked = 0;
  for (let pc = 0; pc < program.size; pc += 1) if (program.isAssertion(pc)) asked |= program.assertions(pc);
  const asksForWords = (asked & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0;
  return (asked & (BEGIN_LINE | BEGIN_TEXT)) | (asksForWords ? AFTER_WORD : 0);
}

/** The assertions that hold between a position with the given `context` and the code point `code`. */
export function holdingBefore(code: number, context: number): number {
  let holding = context & (BEGIN_LINE | BEGIN_TEXT);
  if (code === NEWLINE) holding |= END_LINE;
  if (code === END) holding |= END_LINE | END_TEXT;
  const isBoundary = isWordUnit(code) !== ((context & AFTER_WORD) !== 0);
  return holding | (isBoundary ? WORD_BOUNDARY : NO_WORD_BOUNDARY);
}
