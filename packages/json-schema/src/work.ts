import type { LinearPattern } from '../../linear-text/src/index.js';

/**
 * Work limit of one check, in units; a unit takes at most some tenth of a microsecond, so the total is less
 * than 50 ms. Checks beyond it cannot be evaluated, which fails closed.
 */
export const MAX_CHECK_WORK = 250_000;
/** Deepest chain of schemas that are applied inside one another; each needs some stack space. */
const MAX_APPLIED_DEPTH = 1_000;
/** Characters of a text read in the time of one unit. */
export const CHARACTERS_PER_UNIT = 32;
/** Search steps equivalent in time to one unit. */
export const STEPS_PER_UNIT = 10;

/** A check has exceeded its limits. */
export class WorkError extends Error {}

/** Counts the work of one check and throws when it exceeds the limit. */
export class Work {
  private readonly units: number;
  private left: number;
  private depth = 0;

  constructor(units = MAX_CHECK_WORK) {
    this.units = units;
    this.left = units;
  }

  /** Units spent. */
  get spent(): number {
    return this.units - this.left;
  }

  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new WorkError('the data cost too much to check');
  }

  /** Work linear in the length of a text; `times` is how often it is read. */
  read(text: string, times = 1): void {
    this.spend(1 + (text.length * times) / CHARACTERS_PER_UNIT);
  }

  /** Called before a schema of `keywords` keywords is applied, and `leave` after it. */
  enter(keywords: number): void {
    this.spend(1 + keywords);
    this.depth += 1;
    if (this.depth > MAX_APPLIED_DEPTH) throw new WorkError('the data nest too deep for the schema');
  }

  leave(): void {
    this.depth -= 1;
  }
}

/** A pattern with counted searches. */
export interface CountedPattern {
  search(text: string, work: Work): boolean;
}

/**
 * Counts the searches of a pattern in steps. The engine itself ends a search of more than 150,000 units, so a
 * check exceeds its limit by no more than that.
 */
export function countedPattern(pattern: LinearPattern): CountedPattern {
  return {
    search: (text, work) => pattern.test(text, { spend: (steps) => work.spend(1 + steps / STEPS_PER_UNIT) }),
  };
}
