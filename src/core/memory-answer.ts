import type { JsonObject } from '../../packages/exact-json/src/index.js';
import type { AppliedLimit, Degraded, LimitState, MemoryAnswer } from './memory.js';
import { brokenCheck, failedCheck } from './memory-leaf.js';
import type { MemoryLeaf } from './memory-rules.js';
import type { Outcome } from './outcome.js';

/** Most limits of a verdict. */
const MAX_LIMITS = 20;
const US_PER_SECOND = 1_000_000;

/** The outcome of a check with memory, with the limit that it applied; null for a check without one. */
export interface AnsweredCheck {
  readonly outcome: Outcome;
  readonly limit: AppliedLimit | null;
  /** Makes the metadata, which are part of the result of the control whatever detail is requested. Absent without any. */
  readonly kept?: () => JsonObject;
}

/**
 * What a rule answered. `degraded` is set if it answered by the memory of this process alone. `isFull` tells whether the
 * message and the metadata of a check that does not match are used too.
 */
export function answeredCheck(
  leaf: MemoryLeaf,
  answer: MemoryAnswer,
  key: string,
  sinceUs: number | null,
  degraded: Degraded | null,
  isFull: boolean,
): AnsweredCheck {
  const { matched, limit } = answer;
  const applied =
    limit === null && degraded === null ? null : appliedLimit(leaf, limit, key, sinceUs, degraded);
  if (answer.error !== null) return { outcome: brokenCheck(leaf.label, answer.error), limit: applied };
  const kept = (): JsonObject => ({
    ...(limit === null ? {} : metadataOf(limit)),
    ...(sinceUs === null ? {} : { since: new Date(sinceUs / 1000).toISOString() }),
    ...(degraded === null ? {} : { degraded }),
    ...(typeof answer.metadata === 'function' ? answer.metadata() : answer.metadata),
  });
  const isTold = matched || isFull;
  const { message } = answer;
  const outcome: Outcome = {
    matched,
    confidence: 1,
    message: isTold ? (typeof message === 'function' ? message() : message) : null,
    metadata: isTold ? kept() : null,
    error: null,
    leaf: leaf.label,
  };
  return { outcome, limit: applied, kept };
}

/** A check that lets the step pass although it was not made. */
export function passedOver(leaf: MemoryLeaf, degraded: Degraded, message: string): AnsweredCheck {
  const metadata = { degraded };
  const outcome: Outcome = {
    matched: false,
    confidence: 1,
    message,
    metadata,
    error: null,
    leaf: leaf.label,
  };
  return { outcome, limit: appliedLimit(leaf, null, '', null, degraded), kept: () => metadata };
}

/** A check that fails closed because it was not made. */
export function refusedCheck(leaf: MemoryLeaf, error: string): AnsweredCheck {
  return { outcome: failedCheck(leaf.label, error), limit: null };
}

/** The limits of a verdict: the one with the smallest remaining share first, those that were not applied last. */
export function inOrderOfShare(limits: readonly AppliedLimit[]): readonly AppliedLimit[] {
  return [...limits].sort((left, right) => shareLeft(left) - shareLeft(right)).slice(0, MAX_LIMITS);
}

function shareLeft({ limit, remaining, degraded }: AppliedLimit): number {
  if (degraded !== null && degraded !== 'local') return 2;
  return limit > 0 ? Math.min(1, remaining / limit) : 0;
}

function metadataOf(limit: LimitState): JsonObject {
  return {
    limit: limit.limit,
    remaining: limit.remaining,
    ...seconds('resets_after_seconds', limit.resetsAfterUs),
    ...seconds('retry_after_seconds', limit.retryAfterUs),
    ...seconds('window_seconds', limit.windowUs),
  };
}

function seconds(name: string, us: number | null): JsonObject {
  return us === null ? {} : { [name]: us / US_PER_SECOND };
}

const NOT_APPLIED: LimitState = {
  limit: 0,
  remaining: 0,
  resetsAfterUs: null,
  retryAfterUs: null,
  windowUs: null,
};

function appliedLimit(
  { controlId, controlName, label }: MemoryLeaf,
  limit: LimitState | null,
  key: string,
  sinceUs: number | null,
  degraded: Degraded | null,
): AppliedLimit {
  // Written out: a step may have a thousand of them.
  const { limit: most, remaining, resetsAfterUs, retryAfterUs, windowUs } = limit ?? NOT_APPLIED;
  return {
    controlId,
    controlName,
    evaluatorName: label.evaluatorName,
    limit: most,
    remaining,
    resetsAfterUs,
    retryAfterUs,
    windowUs,
    key,
    degraded,
    sinceUs,
  };
}
