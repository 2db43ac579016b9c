import type { LinearPattern } from '../../linear-text/src/index.js';
import { noOverload } from './operators.js';
import type { Code } from './run.js';
import { Fault } from './values.js';

/** Compiles `matches` with a pattern that is known. */
export function compileMatches(text: Code, pattern: LinearPattern): Code {
  return (run) => {
    const value = text(run);
    if (value instanceof Fault) return value;
    if (typeof value !== 'string') return noOverload('matches', [value]);
    let steps = 0;
    let found: boolean | Fault;
    try {
      found = pattern.test(value, {
        spend: (spent) => {
          steps += spent;
        },
      });
    } catch (error) {
      found = new Fault(error instanceof Error ? error.message : 'the search failed');
    }
    run.spend(1 + steps);
    return found;
  };
}
