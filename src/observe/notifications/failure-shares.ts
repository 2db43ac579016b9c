import type { ControlResult } from '../../kernel/core/types.js';

/** Fewest checks of which a share is told. */
const MIN_CHECKS = 10;
/** Most controls that are measured at a time. */
const MAX_MEASURED = 1_000;

export interface FailureSharesOptions {
  /** Share from which on a control is told of, above 0 and at most 1. */
  readonly share: number;
  /** Longest time of a measurement, in milliseconds. */
  readonly windowMs: number;
}

interface About {
  readonly namespace: string;
  readonly agentName: string;
}

/** A control that fails too often. */
export interface FailureShare extends About {
  readonly controlId: number;
  readonly controlName: string;
  readonly checks: number;
  readonly failed: number;
}

interface Measured extends About {
  readonly controlName: string;
  readonly sinceMs: number;
  checks: number;
  failed: number;
}

/**
 * Shares of failed checks, by control. The first failure begins a measurement and is not part of it: it would make the share look
 * larger. What was measured for the whole window without a result is not measured again for as long, so that controls that fail
 * rarely cost nothing. Times are of a monotonic clock, in milliseconds.
 */
export function createFailureShares({ share, windowMs }: FailureSharesOptions) {
  const minChecks = Math.max(MIN_CHECKS, Math.ceil(2 / share));
  const measured = new Map<number, Measured>();
  /** By control: until when it is not measured. */
  const resting = new Map<number, number>();

  return {
    /** Whether a control is measured now. */
    get isMeasuring(): boolean {
      return measured.size > 0;
    },
    /** A check failed. */
    failed({ control_id, control_name }: ControlResult, about: About, nowMs: number): void {
      const known = measured.get(control_id);
      if (known !== undefined) {
        known.checks += 1;
        known.failed += 1;
      } else if (measured.size < MAX_MEASURED && !resting.has(control_id)) {
        measured.set(control_id, {
          ...about,
          controlName: control_name,
          sinceMs: nowMs,
          checks: 0,
          failed: 0,
        });
      }
    },
    /** A check did not fail. */
    passed(controlId: number): void {
      const known = measured.get(controlId);
      if (known !== undefined) known.checks += 1;
    },
    /** The controls whose share is too large. Ends their measurements, and those that took long enough. */
    take(nowMs: number): FailureShare[] {
      for (const [id, untilMs] of resting) if (untilMs <= nowMs) resting.delete(id);
      const found: FailureShare[] = [];
      for (const [controlId, { sinceMs, ...one }] of measured) {
        const isFound = one.checks >= minChecks && one.failed / one.checks >= share;
        if (isFound) found.push({ controlId, ...one });
        if (!isFound && nowMs - sinceMs < windowMs) continue;
        measured.delete(controlId);
        resting.set(controlId, nowMs + windowMs);
      }
      return found;
    },
  };
}
