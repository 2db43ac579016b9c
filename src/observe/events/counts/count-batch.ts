import type { OutcomeSums } from './outcome-sums.js';

/** Numbers of one agent within one unit of time. */
export interface CountRow {
  /** The key of the agent. */
  readonly agentName: string;
  /** Length of the unit; counts that had to wait for long are of hours or days. */
  readonly unitS: number;
  readonly startS: number;
  readonly sums: OutcomeSums;
  /** When the agent was last evaluated, to the minute. */
  readonly lastEvaluatedS: number;
  /** When it was last denied; null for never. */
  readonly lastDeniedS: number | null;
}

/** What a control did last; null for what it did not do. */
export interface ControlTimes {
  readonly controlId: number;
  readonly lastMatchedS: number | null;
  readonly lastDeniedS: number | null;
  readonly lastFailedS: number | null;
}

/** What is added to the stored counts at once, and once: it is known by its writer and its number. */
export interface CountBatch {
  readonly writerId: string;
  readonly number: number;
  /** When the writer began to count, in seconds since 1970. */
  readonly sinceS: number;
  readonly rows: readonly CountRow[];
  readonly controls: readonly ControlTimes[];
}

/** The later of two times of which each may be missing. */
export function laterOf(one: number | null, other: number | null): number | null {
  if (one === null) return other;
  return other === null || one > other ? one : other;
}
