import type { EventGroup } from './statistics-store.js';
import { bucketStart, type TimeWindow } from './time-range.js';

/** Sums over any number of groups. */
export type Sums = { -readonly [Figure in Exclude<keyof EventGroup, keyof GroupKey>]: EventGroup[Figure] };
type GroupKey = Pick<EventGroup, 'controlId' | 'controlName' | 'bucket'>;

/** Sums of one control under one name. */
export interface ControlSums extends Sums {
  readonly controlId: number;
  readonly controlName: string;
}

function noSums(): Sums {
  return {
    executions: 0,
    matches: 0,
    nonMatches: 0,
    errors: 0,
    denies: 0,
    steers: 0,
    observes: 0,
    confidenceSum: 0,
    durationSum: 0,
    durations: 0,
  };
}

const FIGURES = Object.keys(noSums()) as (keyof Sums)[];

function add(sums: Sums, group: EventGroup): void {
  for (const figure of FIGURES) sums[figure] += group[figure];
}

/** The sums of each control and name, most executions first; what is equal in that is ordered by id and name. */
export function controlSums(groups: readonly EventGroup[]): ControlSums[] {
  const found = new Map<string, ControlSums>();
  for (const group of groups) {
    const { controlId, controlName } = group;
    const key = `${controlId} ${controlName}`;
    let sums = found.get(key);
    if (sums === undefined) {
      sums = { controlId, controlName, ...noSums() };
      found.set(key, sums);
    }
    add(sums, group);
  }
  return [...found.values()].sort(
    (a, b) =>
      b.executions - a.executions ||
      a.controlId - b.controlId ||
      (a.controlName < b.controlName ? -1 : Number(a.controlName > b.controlName)),
  );
}

/** Totals over all groups; with buckets when a window is given. */
export function totals(groups: readonly EventGroup[], window: TimeWindow | null): object {
  const sums = noSums();
  for (const group of groups) add(sums, group);
  return { ...counts(sums), timeseries: window === null ? null : timeseries(groups, window) };
}

function timeseries(groups: readonly EventGroup[], window: TimeWindow): object[] {
  const buckets = Array.from({ length: window.buckets }, noSums);
  for (const group of groups) {
    const sums = group.bucket === null ? undefined : buckets[group.bucket];
    if (sums !== undefined) add(sums, group);
  }
  return buckets.map((sums, index) => ({
    timestamp: bucketStart(window, index),
    ...counts(sums),
    avg_confidence: sums.executions === 0 ? null : sums.confidenceSum / sums.executions,
    avg_duration_ms: averageDuration(sums),
  }));
}

/** What is shown of a control. */
export function controlStats(sums: ControlSums): object {
  return {
    control_id: sums.controlId,
    control_name: sums.controlName,
    execution_count: sums.executions,
    match_count: sums.matches,
    non_match_count: sums.nonMatches,
    deny_count: sums.denies,
    steer_count: sums.steers,
    observe_count: sums.observes,
    error_count: sums.errors,
    avg_confidence: sums.executions === 0 ? 0 : sums.confidenceSum / sums.executions,
    avg_duration_ms: averageDuration(sums),
  };
}

function counts(sums: Sums): object {
  return {
    execution_count: sums.executions,
    match_count: sums.matches,
    non_match_count: sums.nonMatches,
    error_count: sums.errors,
    action_counts: {
      ...(sums.denies > 0 ? { deny: sums.denies } : {}),
      ...(sums.steers > 0 ? { steer: sums.steers } : {}),
      ...(sums.observes > 0 ? { observe: sums.observes } : {}),
    },
  };
}

function averageDuration({ durations, durationSum }: Sums): number | null {
  return durations === 0 ? null : durationSum / durations;
}
