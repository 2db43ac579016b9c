import { type Duration, durationMs, timestampDate } from '@bufbuild/protobuf/wkt';
import { Decision } from '../../../gen/proto/enforcement/v1/control_pb.js';
import type {
  EvaluateResponse,
  LimitStatus,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';

/** State of a limit after a step. Times are in milliseconds, rounded up. */
export interface Limit {
  readonly controlId: number;
  readonly controlName: string;
  /** `rate`, `budget`, `concurrency`, `loop` or `history`. */
  readonly evaluator: string;
  /** In steps, or in the unit of a budget. */
  readonly limit: number;
  readonly remaining: number;
  /** Until all of it is available again; undefined if that does not happen by itself. */
  readonly resetsAfterMs: number | undefined;
  /** After which the step may be repeated with a chance to pass; undefined unless the limit is reached and time helps. */
  readonly retryAfterMs: number | undefined;
  readonly windowMs: number | undefined;
  /** Why it was not applied as it is meant to be: `store_unavailable`, `local` or `missing_key`; empty if it was. */
  readonly degraded: string;
  /** What is counted together, as lists show it. */
  readonly key: string;
  readonly countsSince: Date | undefined;
}

/** A halt that denied a step. */
export interface Halt {
  readonly haltId: number;
  readonly reason: string;
  /** When it ends by itself; undefined if it lasts until it is lifted. */
  readonly expiresAt: Date | undefined;
}

/** The limits that were applied to a step, the one with the smallest remaining share first. */
export function limitsOf({ limits }: EvaluateResponse): Limit[] {
  return limits.map((one) => ({
    controlId: one.controlId,
    controlName: one.controlName,
    evaluator: one.evaluatorName,
    limit: one.limit,
    remaining: one.remaining,
    resetsAfterMs: msOf(one.resetsAfter),
    retryAfterMs: msOf(one.retryAfter),
    windowMs: msOf(one.window),
    degraded: one.degraded,
    key: one.key,
    countsSince: one.countsSince === undefined ? undefined : timestampDate(one.countsSince),
  }));
}

/** The halt that denied a step; undefined without one. */
export function haltOf({ halt }: EvaluateResponse): Halt | undefined {
  if (halt === undefined) return undefined;
  const { haltId, reason, expiresAt } = halt;
  return { haltId, reason, expiresAt: expiresAt === undefined ? undefined : timestampDate(expiresAt) };
}

/**
 * Milliseconds after which a step that is not safe may be repeated with a chance to pass; undefined if time alone does not
 * help one of the controls that do not let it pass.
 */
export function retryAfterMsOf({ matches, errors, limits }: EvaluateResponse): number | undefined {
  const stopping = [...matches, ...errors].filter(({ action }) => action !== Decision.OBSERVE);
  const times = stopping.map(({ controlId }) => longest(limits.filter((one) => one.controlId === controlId)));
  return times.length === 0 || times.includes(0) ? undefined : Math.max(...times);
}

/** 0 without any. */
function longest(limits: readonly LimitStatus[]): number {
  return Math.max(0, ...limits.map(({ retryAfter }) => msOf(retryAfter) ?? 0));
}

function msOf(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : Math.ceil(durationMs(duration));
}
