import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { RuleReducer, RuleState } from '../../core/memory.js';

/** Most steps of a key that are kept. */
export const MAX_LAST = 1_000;

/** What a loop check keeps of a key. */
interface LoopState extends JsonObject {
  /** Time and digest of each step in turn. */
  seen: (number | string)[];
  /** How many of them count, and for how long, in microseconds. */
  last: number;
  span: number;
  /** Used share of the limit at the last step. */
  share: number;
}

/** An entry: a step with its digest. */
export interface LoopDelta extends JsonObject {
  digest: string;
  last: number;
  span: number;
  share: number;
}

/** A step that was seen. */
export interface SeenStep {
  readonly atUs: number;
  readonly digest: string;
}

function isLoopState(state: RuleState | undefined): state is LoopState {
  return isObject(state) && Array.isArray(state.seen) && typeof state.span === 'number';
}

function isLoopDelta(delta: JsonValue): delta is LoopDelta {
  return (
    isObject(delta) &&
    typeof delta.digest === 'string' &&
    Number.isSafeInteger(delta.last) &&
    Number.isSafeInteger(delta.span) &&
    typeof delta.share === 'number'
  );
}

/** The steps that count at a time, the latest first: at most `last`, and none that is more than `span` back. */
export function* seenAt(
  state: RuleState | undefined,
  last: number,
  span: number,
  nowUs: number,
): Generator<SeenStep, void> {
  if (!isLoopState(state)) return;
  const { seen } = state;
  const end = Math.max(0, seen.length - 2 * last);
  for (let index = seen.length - 2; index >= end; index -= 2) {
    const atUs = Number(seen[index]);
    if (atUs < nowUs - span) return;
    yield { atUs, digest: String(seen[index + 1]) };
  }
}

function drop(state: LoopState, nowUs: number): void {
  const { seen, last, span } = state;
  let first = Math.max(0, seen.length - 2 * Math.min(last, MAX_LAST));
  while (first < seen.length && Number(seen[first]) < nowUs - span) first += 2;
  if (first > 0) seen.splice(0, first);
}

export const loopReducer: RuleReducer = {
  apply(given, delta, atUs) {
    if (!isLoopDelta(delta)) return given ?? {};
    const state: LoopState = isLoopState(given) ? given : { seen: [], last: 0, span: 0, share: 0 };
    // A step is seen once, however many checks of a control see it.
    if (state.seen.at(-2) === atUs) return state;
    const { digest, last, span, share } = delta;
    state.seen.push(atUs, digest);
    Object.assign(state, { last, span, share });
    drop(state, atUs);
    return state;
  },
  prune(state, nowUs) {
    if (!isLoopState(state)) return undefined;
    drop(state, nowUs);
    return state.seen.length === 0 ? undefined : state;
  },
  used(state, nowUs) {
    if (!isLoopState(state) || Number(state.seen.at(-2) ?? 0) < nowUs - state.span) return 0;
    return Math.min(1, Math.max(0, state.share));
  },
};
