import type { LinearPattern } from '../linear-text/linear-pattern.js';

/**
 * Work of one check, in units; a unit takes at most some tenth of a microsecond, so all of it takes less than 50 ms.
 * What needs more cannot be evaluated, which fails closed.
 */
export const MAX_CHECK_WORK = 250_000;
/** Deepest chain of schemas that are applied inside one another; each needs some space on the stack. */
const MAX_APPLIED_DEPTH = 1_000;
/** How many characters of a text are read in the time of a unit. */
export const CHARACTERS_PER_UNIT = 32;
/** How many steps of a search take as long as a unit. */
export const STEPS_PER_UNIT = 10;

/** Counts the work of one check and ends it, by throwing, when it becomes too much. */
export class Work {
  private readonly units: number;
  private left: number;
  private depth = 0;

  constructor(units = MAX_CHECK_WORK) {
    this.units = units;
    this.left = units;
  }

  /** Units that were spent. */
  get spent(): number {
    return this.units - this.left;
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
 * Counts the searches of a pattern by the steps that they take. The engine itself ends a search that takes more than
 * 150,000 units, so a check goes beyond its bound by no more than that.
 */
export function countedPattern(pattern: LinearPattern): CountedPattern {
  return {
    search: (text, work) => pattern.test(text, { spend: (steps) => work.spend(1 + steps / STEPS_PER_UNIT) }),
  };
}
