import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { AppliedLimit, Degraded, LimitState, MemoryAnswer } from './memory.js';
import { brokenCheck, failedCheck } from './memory-leaf.js';
import type { MemoryLeaf } from './memory-rules.js';
import type { Outcome } from './outcome.js';

/** Most limits of a verdict. */
const MAX_LIMITS = 20;
const US_PER_SECOND = 1_000_000;

/** A limit, of which most are not told: a step may have a thousand of them. */
interface LimitOfCheck {
  readonly leaf: MemoryLeaf;
  /** Null for a limit that was not applied. */
  readonly limit: LimitState | null;
  readonly key: string;
  readonly sinceUs: number | null;
  readonly degraded: Degraded | null;
}

/** The outcome of a check with memory, with what it answered; without an answer for a check that was not made. */
export interface AnsweredCheck extends LimitOfCheck {
  readonly outcome: Outcome;
  readonly answer: MemoryAnswer | null;
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
  const { matched, limit, error } = answer;
  // Written out, here and below: a step may concern a thousand checks, and copies of objects are slow.
  const check = { leaf, outcome: leaf.unmatched, answer, limit, key, sinceUs, degraded };
  if (error !== null) {
    check.outcome =
      answer.isErrorInternal === true
        ? brokenCheck(leaf.label, error)
        : failedCheck(leaf.label, error, error);
  } else if (matched || isFull) {
    const message = typeof answer.message === 'function' ? answer.message() : answer.message;
    check.outcome = { ...leaf.unmatched, matched, message, metadata: keptMetadata(check) ?? null };
  }
  return check;
}

/** A check that lets the step pass although it was not made. */
export function passedOver(leaf: MemoryLeaf, degraded: Degraded, message: string): AnsweredCheck {
  const outcome: Outcome = { ...leaf.unmatched, message, metadata: { degraded } };
  return { leaf, outcome, answer: null, limit: null, key: '', sinceUs: null, degraded };
}

/** A check that fails closed because it was not made. */
export function refusedCheck(leaf: MemoryLeaf, outcome: Outcome): AnsweredCheck {
  return { leaf, outcome, answer: null, limit: null, key: '', sinceUs: null, degraded: null };
}

/** The metadata of a check, which are part of the result of its control whatever detail is requested. Undefined without any. */
export function keptMetadata({ answer, limit, sinceUs, degraded }: AnsweredCheck): JsonObject | undefined {
  if (answer === null) return degraded === null ? undefined : { degraded };
  if (answer.error !== null) return undefined;
  return {
    ...(limit === null ? {} : metadataOf(limit)),
    ...(sinceUs === null ? {} : { since: new Date(sinceUs / 1000).toISOString() }),
    ...(degraded === null ? {} : { degraded }),
    ...(typeof answer.metadata === 'function' ? answer.metadata() : answer.metadata),
  };
}

/** The limits of a verdict, as they come. */
export class ReachedLimits {
  /** Those to be told so far, in their order, and their shares. */
  readonly #told: LimitOfCheck[] = [];
  readonly #shares: number[] = [];

  add(check: LimitOfCheck): void {
    const { limit, degraded } = check;
    if (limit === null && degraded === null) return;
    const share = shareLeft(limit, degraded);
    let at = this.#told.length;
    while (at > 0 && (this.#shares[at - 1] ?? 0) > share) at -= 1;
    if (at >= MAX_LIMITS) return;
    this.#told.splice(at, 0, check);
    this.#shares.splice(at, 0, share);
    if (this.#told.length <= MAX_LIMITS) return;
    this.#told.pop();
    this.#shares.pop();
  }

  /** The one with the smallest remaining share first, those that were not applied last. */
  list(): readonly AppliedLimit[] {
    return this.#told.map(appliedLimit);
  }
}

function shareLeft(limit: LimitState | null, degraded: Degraded | null): number {
  if (limit === null || (degraded !== null && degraded !== 'local')) return 2;
  return limit.limit > 0 ? Math.min(1, limit.remaining / limit.limit) : 0;
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

function appliedLimit({ leaf, limit, key, sinceUs, degraded }: LimitOfCheck): AppliedLimit {
  const { controlId, controlName, label } = leaf;
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
