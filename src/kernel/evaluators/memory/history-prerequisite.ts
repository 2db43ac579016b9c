import { isObject, type JsonObject } from '../../../../packages/exact-json/src/index.js';
import { HISTORY_OPS, isMeasuring } from './history-config.js';

/** Earlier steps that a statement is about. */
export interface EarlierStep {
  /** One of these; at least one. */
  readonly names: readonly string[];
  /** Whether only steps count that were let pass. */
  readonly hasRun: boolean;
  /** Whether a step passes only after one of them. */
  readonly isRequired: boolean;
}

/**
 * The earlier steps of a configuration of `history`; null if it names none. `positive`: whether its match favours that of its
 * control.
 */
export function earlierStepOf({ op, event, compare }: JsonObject, positive: boolean): EarlierStep | null {
  if (!isObject(event) || !Array.isArray(event.kinds) || !Array.isArray(event.step_names)) return null;
  const names = event.step_names.filter((name) => typeof name === 'string');
  if (names.length === 0) return null;
  const hasRun = !event.kinds.includes('denied');
  const known = HISTORY_OPS.find((one) => one === op);
  if (known === undefined) return null;
  // "Fewer than" and "none since" match while the event is missing.
  const lower = isObject(compare) && ['lt', 'lte'].some((name) => (compare[name] ?? null) !== null);
  const matchesWithout = known === 'not_since' || (isMeasuring(known) && lower);
  return { names, hasRun, isRequired: positive === matchesWithout };
}
