import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { LimitState, MemoryAnswer } from '../../core/memory.js';

const US_PER_SECOND = 1_000_000;

/** The answer of a rule with a limit; its metadata are added to those of the limit, which the core makes. */
export function limitAnswer(
  matched: boolean,
  message: string,
  limit: LimitState,
  more: JsonObject = {},
): MemoryAnswer {
  return { matched, message, metadata: more, limit, error: null };
}

/** The answer of a rule that has nothing to say about a step, such as a rate after it has run. */
export function notApplied(message: string): MemoryAnswer {
  return { matched: false, message, metadata: {}, limit: null, error: null };
}

/** The answer of a rule that cannot answer. `isErrorInternal`: the error quotes values or expressions. */
export function cannotAnswer(error: string, isErrorInternal = false): MemoryAnswer {
  return { matched: false, message: error, metadata: {}, limit: null, error, isErrorInternal };
}

/** A time for people, such as "12 s". */
export function secondsText(us: number): string {
  return `${Math.max(1, Math.ceil(us / US_PER_SECOND))} s`;
}

/** A time in microseconds since 1970, by RFC 3339. */
export function timeText(us: number): string {
  return new Date(Math.floor(us / 1_000)).toISOString();
}
