import { isObject, type JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { RuleReducer, RuleState } from '../../core/memory.js';

/** What a rate keeps of a key; an entry replaces it. */
interface RateState extends JsonObject {
  /** The theoretical time of the next arrival: microseconds since 1970, and so many parts of the next one, of `of`. */
  readonly us: number;
  readonly part: number;
  readonly of: number;
  /** Time in which room for a whole burst comes back, in microseconds. */
  readonly fill: number;
}

function isRateState(state: RuleState | undefined): state is RateState {
  return (
    isObject(state) &&
    Number.isSafeInteger(state.us) &&
    Number.isSafeInteger(state.part) &&
    Number.isSafeInteger(state.of) &&
    Number(state.of) > 0 &&
    typeof state.fill === 'number'
  );
}

/** The state with an arrival in 1 / `of` of a microsecond. */
export function rateState(arrival: bigint, of: number, fill: number): RateState {
  const scale = BigInt(of);
  return { us: Number(arrival / scale), part: Number(arrival % scale), of, fill };
}

/**
 * The arrival that is kept, in 1 / `of` of a microsecond, and not before `now`. After a change of the limit, the steps that
 * have not been made up for are as many as before it.
 */
export function arrivalOf(state: RuleState | undefined, now: bigint, of: number): bigint {
  if (!isRateState(state)) return now;
  const kept = BigInt(state.us) * BigInt(state.of) + BigInt(state.part);
  const keptNow = (now / BigInt(of)) * BigInt(state.of);
  // A step costs the same number of units, whatever their size.
  return kept > keptNow ? now + kept - keptNow : now;
}

export const rateReducer: RuleReducer = {
  apply: (state, delta) => (isRateState(delta) ? delta : (state ?? {})),
  prune: (state, nowUs) => (isRateState(state) && state.us >= nowUs ? state : undefined),
  used(state, nowUs) {
    if (!isRateState(state) || state.fill <= 0) return 0;
    return Math.min(1, Math.max(0, (state.us - nowUs) / state.fill));
  },
};
