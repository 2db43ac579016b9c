import { isObject, type JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { RuleReducer, RuleState } from '../../core/memory.js';

/** What a limit of concurrent steps keeps of a key. */
interface SlotsState extends JsonObject {
  /** By the hash of the step: until when its slot is taken, in microseconds since 1970, that time included. */
  slots: { [stepHash: string]: number };
  limit: number;
}

function isSlotsState(state: RuleState | undefined): state is SlotsState {
  return isObject(state) && isObject(state.slots) && typeof state.limit === 'number';
}

/** The ends of the leases of the slots that are taken, in order, and whether the step has one. */
export function slotsAt(state: RuleState | undefined, nowUs: number, stepHash: string | null) {
  const slots: SlotsState['slots'] = isSlotsState(state) ? state.slots : {};
  const ends = Object.values(slots).filter((until) => until >= nowUs);
  const own = stepHash !== null && Object.hasOwn(slots, stepHash) ? slots[stepHash] : undefined;
  return { ends: ends.sort((left, right) => left - right), has: own !== undefined && own >= nowUs };
}

export const concurrencyReducer: RuleReducer = {
  apply(given, delta, atUs, stepHash) {
    const state: SlotsState = isSlotsState(given) ? given : { slots: {}, limit: 0 };
    if (stepHash === null || !isObject(delta)) return state;
    if (delta.free === true) delete state.slots[stepHash];
    else if (Number.isSafeInteger(delta.until) && Number.isSafeInteger(delta.limit)) {
      for (const [step, until] of Object.entries(state.slots)) if (until < atUs) delete state.slots[step];
      state.slots[stepHash] = delta.until as number;
      state.limit = delta.limit as number;
    }
    return state;
  },
  prune(state, nowUs) {
    if (!isSlotsState(state)) return undefined;
    for (const [step, until] of Object.entries(state.slots)) if (until < nowUs) delete state.slots[step];
    return Object.keys(state.slots).length === 0 ? undefined : state;
  },
  used(state, nowUs) {
    if (!isSlotsState(state) || state.limit <= 0) return 0;
    return Math.min(1, slotsAt(state, nowUs, null).ends.length / state.limit);
  },
};
