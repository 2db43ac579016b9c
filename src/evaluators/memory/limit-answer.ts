import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { LimitState, MemoryAnswer } from '../../core/memory.js';

const US_PER_SECOND = 1_000_000;

/** The members that the metadata of every limit have; times that are not known are left out. */
export function limitMetadata(limit: LimitState): JsonObject {
  const { resetsAfterUs, retryAfterUs, windowUs } = limit;
  return {
    limit: limit.limit,
    remaining: limit.remaining,
    ...(resetsAfterUs === null ? {} : { resets_after_seconds: resetsAfterUs / US_PER_SECOND }),
    ...(retryAfterUs === null ? {} : { retry_after_seconds: retryAfterUs / US_PER_SECOND }),
    ...(windowUs === null ? {} : { window_seconds: windowUs / US_PER_SECOND }),
  };
}

/** The answer of a rule with a limit. */
export function limitAnswer(
  matched: boolean,
  message: string,
  limit: LimitState,
  more: JsonObject = {},
): MemoryAnswer {
  return { matched, message, metadata: { ...limitMetadata(limit), ...more }, limit, error: null };
}

/** The answer of a rule that has nothing to say about a step, such as a rate after it has run. */
export function notApplied(message: string): MemoryAnswer {
  return { matched: false, message, metadata: {}, limit: null, error: null };
}

/** The answer of a rule that cannot answer. */
export function cannotAnswer(error: string): MemoryAnswer {
  return { matched: false, message: error, metadata: {}, limit: null, error };
}

/** A time for people, such as "12 s". */
export function secondsText(us: number): string {
  return `${Math.max(1, Math.ceil(us / US_PER_SECOND))} s`;
}
