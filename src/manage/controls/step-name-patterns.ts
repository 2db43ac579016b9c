import { setImmediate as nextTurn } from 'node:timers/promises';
import { compilePattern, type LinearPattern } from '../../../packages/linear-text/src/index.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';

/** Compiled patterns that are kept. */
const MAX_COMPILED = 1_000;
/** Patterns searched per turn of the event loop. */
const PER_TURN = 50;

/** By the stored text; null for a pattern that cannot be compiled. */
const compiled = new BoundedMap<string, LinearPattern | null>({ entries: MAX_COMPILED });

/**
 * The stored patterns of step names that match a name. One that cannot be searched counts as a match: an evaluation
 * cannot tell either that the control does not apply.
 */
export async function patternsOf(scope: Scoped, stepName: string): Promise<string[]> {
  const rows = await scope.client.$queryRaw<{ pattern: string }[]>`
    SELECT DISTINCT "step_name_pattern" AS "pattern" FROM "controls" c
    WHERE ${inNamespace('c', scope)} AND "deleted_at_ms" IS NULL AND "step_name_pattern" IS NOT NULL`;
  const found: string[] = [];
  for (const [index, { pattern }] of rows.entries()) {
    if (matches(pattern, stepName)) found.push(pattern);
    if ((index + 1) % PER_TURN === 0) await nextTurn();
  }
  return found;
}

function matches(stored: string, stepName: string): boolean {
  try {
    let pattern = compiled.get(stored);
    if (pattern === undefined) {
      pattern = compilePattern(JSON.parse(stored) as string);
      compiled.set(stored, pattern);
    }
    return pattern?.test(stepName) ?? true;
  } catch {
    compiled.set(stored, null);
    return true;
  }
}
