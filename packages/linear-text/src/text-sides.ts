import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  WORD_BOUNDARY,
} from './flat-program.js';

// Kinds of neighbours of a position in a text that assertions distinguish. Bits, combined to sets.
export const EDGE = 1;
export const NEWLINE = 2;
export const WORD = 4;
export const OTHER = 8;
export const SIDES = [EDGE, NEWLINE, WORD, OTHER] as const;
export const ANYTHING = EDGE | NEWLINE | WORD | OTHER;

/** Possible neighbours after a position for assertions to hold there, given the one before it. */
export function allowedBehind(assertions: number, before: number): number {
  let allowed = ANYTHING;
  if ((assertions & BEGIN_LINE) !== 0 && (before & (EDGE | NEWLINE)) === 0) return 0;
  if ((assertions & BEGIN_TEXT) !== 0 && before !== EDGE) return 0;
  if ((assertions & END_LINE) !== 0) allowed &= EDGE | NEWLINE;
  if ((assertions & END_TEXT) !== 0) allowed &= EDGE;
  if ((assertions & WORD_BOUNDARY) !== 0) allowed &= before === WORD ? ~WORD : WORD;
  if ((assertions & NO_WORD_BOUNDARY) !== 0) allowed &= before === WORD ? WORD : ~WORD;
  return allowed & ANYTHING;
}
