import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { AppliedLimit } from '../../kernel/core/memory.js';
import type { ControlResult, Verdict } from '../../kernel/core/types.js';
import type { HaltNotice } from '../halts/halt.js';

/** The parts of a Duration. */
export interface DurationParts {
  readonly seconds: number;
  /** 0 to 999,999,999. */
  readonly nanos: number;
}

/** The parts of a time of at least 0 microseconds; fractions of a microsecond are rounded up. */
export function durationParts(us: number): DurationParts {
  const whole = Math.max(0, Math.ceil(us));
  return { seconds: Math.floor(whole / 1_000_000), nanos: (whole % 1_000_000) * 1_000 };
}

/** A limit with the members of LimitStatus, in the form of JSON. */
export function presentLimit(limit: AppliedLimit): JsonObject {
  return {
    control_id: limit.controlId,
    control_name: limit.controlName,
    evaluator_name: limit.evaluatorName,
    limit: limit.limit,
    remaining: limit.remaining,
    resets_after: durationText(limit.resetsAfterUs),
    retry_after: durationText(limit.retryAfterUs),
    window: durationText(limit.windowUs),
    degraded: limit.degraded ?? '',
    key: limit.key,
    counts_since: limit.sinceUs === null ? null : timeText(limit.sinceUs / 1_000),
  };
}

/** A halt with the members of HaltNotice, in the form of JSON. */
export function presentHalt({ haltId, reason, expiresAtMs }: HaltNotice): JsonObject {
  return { halt_id: haltId, reason, expires_at: expiresAtMs === null ? null : timeText(expiresAtMs) };
}

/** As protobuf prints a Duration: 0, 3, 6 or 9 digits behind the point. */
function durationText(us: number | null): string | null {
  if (us === null) return null;
  const { seconds, nanos } = durationParts(us);
  if (nanos === 0) return `${seconds}s`;
  const digits = nanos.toString().padStart(9, '0');
  return `${seconds}.${nanos % 1_000_000 === 0 ? digits.slice(0, 3) : digits.slice(0, 6)}s`;
}

/** The same for a Timestamp, in whole milliseconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/**
 * The time after which an unsafe step may be repeated with a chance to pass, in microseconds; null for a safe step, and
 * if one of the controls that do not let it pass has no limit that time alone restores.
 */
export function retryAfterOf(
  verdict: Pick<Verdict, 'is_safe' | 'matches' | 'errors' | 'limits'>,
): number | null {
  const { limits } = verdict;
  if (limits === undefined || verdict.is_safe) return null;
  let longest: number | null = null;
  for (const { control_id } of [...verdict.matches, ...verdict.errors].filter(stops)) {
    const times = limits.flatMap(({ controlId, retryAfterUs }) =>
      controlId === control_id && retryAfterUs !== null ? [retryAfterUs] : [],
    );
    if (times.length === 0) return null;
    longest = Math.max(longest ?? 0, ...times);
  }
  return longest;
}

const stops = ({ action }: ControlResult): boolean => action !== 'observe';
