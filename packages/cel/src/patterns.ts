import { type LinearPattern, SearchTooCostly } from '../../linear-text/src/index.js';
import { noOverload } from './operators.js';
import type { Code } from './run.js';
import { Fault } from './values.js';

/** Compiles `matches` with a pattern that is known. A search takes no more work than the evaluation has left. */
export function compileMatches(text: Code, pattern: LinearPattern): Code {
  return (run) => {
    const value = text(run);
    if (value instanceof Fault) return value;
    if (typeof value !== 'string') return noOverload('matches', [value]);
    try {
      return pattern.testWithin(value, run.workLeft, run);
    } catch (error) {
      if (error instanceof SearchTooCostly) throw run.limitExceeded();
      throw error;
    }
  };
}
