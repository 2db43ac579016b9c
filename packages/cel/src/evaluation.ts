import { type Code, LimitExceeded, type Run } from './run.js';
import type { CelResult, CelValues } from './types.js';
import { Fault, type Value } from './values.js';

const TRUE: CelResult = { ok: true, value: true };
const FALSE: CelResult = { ok: true, value: false };
const results = new WeakMap<Fault, CelResult>();

/** Runs compiled code. Never throws, unless `values` does. */
export function evaluateIn(
  run: Run,
  code: Code,
  nodes: number,
  values: CelValues,
  nowMs: () => number,
  spend?: (steps: number) => void,
): CelResult {
  run.begin(values, nowMs, nodes);
  try {
    return resultOf(code(run));
  } catch (error) {
    if (error instanceof LimitExceeded)
      return { ok: false, error: error.message, missing: null, isLimit: true };
    throw error;
  } finally {
    run.end();
    spend?.(run.work);
  }
}

/** Results of bools, and of faults that the code made when it was compiled, are made once. */
function resultOf(value: Value): CelResult {
  if (value === true) return TRUE;
  if (value === false) return FALSE;
  if (!(value instanceof Fault)) return { ok: true, value };
  const known = results.get(value);
  if (known !== undefined) return known;
  const result: CelResult = { ok: false, error: value.message, missing: value.missing };
  results.set(value, result);
  return result;
}
