import { noOverload } from './operators.js';
import type { Code } from './run.js';
import { Fault, type Value } from './values.js';

/**
 * A chain of `&&` (`deciding` false) or `||` (`deciding` true): one operand with the deciding value decides, whatever errors
 * others have. Without it the first error is the result.
 */
export function compileLogic(terms: readonly Code[], deciding: boolean): Code {
  const symbol = deciding ? '||' : '&&';
  const [first, second] = terms;
  if (terms.length === 2 && first !== undefined && second !== undefined) {
    return (run) => {
      const left = first(run);
      if (left === deciding) return deciding;
      const right = second(run);
      if (right === deciding) return deciding;
      if (left === !deciding && right === !deciding) return !deciding;
      return faultOf(left, symbol) ?? faultOf(right, symbol) ?? !deciding;
    };
  }
  return (run) => {
    let fault: Fault | null = null;
    for (const term of terms) {
      const value = term(run);
      if (value === deciding) return deciding;
      if (value !== !deciding) fault ??= faultOf(value, symbol);
    }
    return fault ?? !deciding;
  };
}

function faultOf(value: Value, symbol: string): Fault | null {
  if (typeof value === 'boolean') return null;
  return value instanceof Fault ? value : noOverload(symbol, [value]);
}

export function compileCondition(test: Code, yes: Code, no: Code): Code {
  return (run) => {
    const value = test(run);
    if (value === true) return yes(run);
    if (value === false) return no(run);
    return value instanceof Fault ? value : noOverload('?:', [value]);
  };
}
