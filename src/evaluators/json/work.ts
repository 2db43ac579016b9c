import type { LinearPattern } from '../linear-pattern.js';
import { estimateCost } from '../pattern-cost.js';

/**
 * Work of one check, in units; a unit takes at most some tenth of a microsecond, so all of it takes less than 50 ms.
 * What needs more cannot be evaluated, which fails closed.
 */
export const MAX_CHECK_WORK = 250_000;
/** Deepest chain of schemas that are applied inside one another; each needs some space on the stack. */
const MAX_APPLIED_DEPTH = 1_000;
/** How many characters of a text are read in the time of a unit. */
export const CHARACTERS_PER_UNIT = 32;
/** How many steps of a pattern, instruction × character, take as long as a unit. */
const PATTERN_STEPS_PER_UNIT = 10;
/** Units of the longest search: the engine itself ends it when it takes longer. */
const MAX_SEARCH_UNITS = 120_000;

/** Counts the work of one check and ends it, by throwing, when it becomes too much. */
export class Work {
  private left: number;
  private depth = 0;

  constructor(units = MAX_CHECK_WORK) {
    this.left = units;
  }

  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new Error('the data cost too much to check');
  }

  /** Work that grows with a text; `times` is how often it is read. */
  read(text: string, times = 1): void {
    this.spend(1 + (text.length * times) / CHARACTERS_PER_UNIT);
  }

  /** Called before a schema of so many keywords is applied, and `leave` after it. */
  enter(keywords: number): void {
    this.spend(1 + keywords);
    this.depth += 1;
    if (this.depth > MAX_APPLIED_DEPTH) throw new Error('the data nest too deep for the schema');
  }

  leave(): void {
    this.depth -= 1;
  }
}

/** A pattern whose searches are counted. */
export interface CountedPattern {
  search(text: string, work: Work): boolean;
}

/**
 * Counts the searches of a pattern by the size that its text promises. That is the worst case, so two searches of
 * long texts are all that one check can have.
 */
export function countedPattern(source: string, pattern: LinearPattern): CountedPattern {
  const unitsPerCharacter = estimateCost(source, false).instructions / PATTERN_STEPS_PER_UNIT;
  return {
    search(text, work) {
      work.spend(Math.min(unitsPerCharacter * (text.length + 1), MAX_SEARCH_UNITS));
      return pattern.test(text);
    },
  };
}
