import { RE2JS } from 're2js';
import { estimateCost } from './pattern-cost.js';

/** Longest pattern text, in UTF-16 code units: more is a word list, for which there is the `list` evaluator. */
export const MAX_PATTERN_LENGTH = 65_536;
/** Largest compiled program, in instructions: each character of a text may visit all of them. */
export const MAX_PROGRAM_SIZE = 20_000;
/** Largest estimate of the program before the engine simplifies it: compiling this much takes a tenth of a second. */
export const MAX_UNSIMPLIFIED_SIZE = 100_000;
/** Most code points that character classes may make the compiler visit: about a twentieth of a second. */
export const MAX_CLASS_WORK = 2_000_000;
/** Most program size × text length of one search: about a second in the worst case measured. */
export const MAX_SEARCH_WORK = 100_000_000;

/** A compiled pattern. Searching takes time linear in the text. */
export interface LinearPattern {
  /** Whether the pattern is found anywhere in `text`. Throws when the search would cost too much. */
  test(text: string): boolean;
}

/**
 * Compiles a pattern of RE2's syntax. Throws with a message for its author when it is invalid or too large; the
 * bounds hold before the engine sees it, because patterns are as hostile as data.
 */
export function compilePattern(pattern: string, options: { ignoreCase?: boolean } = {}): LinearPattern {
  const ignoreCase = options.ignoreCase === true;
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new Error(`the pattern has ${pattern.length} characters, more than ${MAX_PATTERN_LENGTH}`);
  }
  const cost = estimateCost(pattern, ignoreCase);
  if (cost.instructions > MAX_UNSIMPLIFIED_SIZE || cost.classWork > MAX_CLASS_WORK) {
    throw new Error(
      'the pattern is too large: its repetitions or character classes cost too much to compile',
    );
  }
  const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  const size = compiled.programSize();
  if (size > MAX_PROGRAM_SIZE) {
    throw new Error(`the pattern is too large: ${size} instructions, more than ${MAX_PROGRAM_SIZE}`);
  }
  const longestText = Math.floor(MAX_SEARCH_WORK / size);
  return {
    test(text) {
      if (text.length > longestText) {
        throw new Error(
          `the search would cost too much: ${size} instructions on a text of ${text.length} characters`,
        );
      }
      return compiled.test(text);
    },
  };
}
