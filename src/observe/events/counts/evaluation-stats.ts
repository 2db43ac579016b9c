import type { Namespace } from '../../../contract/call/namespace.js';
import { addCounts, type Count } from '../store/count.js';
import { utcTimeOfMs } from '../store/event-time.js';
import { MINUTE } from '../store/rollup-levels.js';
import { bucketStart, previousStart, type StatisticsRange, windowOf } from '../store/time-range.js';
import type { FoundCounts, ReadCounts, ReadSums } from './count-reader.js';
import { OUTCOME_SUMS } from './outcome-sums.js';

export interface EvaluationStatsOptions {
  readonly read: ReadCounts;
  /** Stores what this process has counted, if it can be done at once. */
  readonly flushSoon: () => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface EvaluationStatsInput {
  /** Normalised; undefined for all agents. */
  readonly agent_name?: string | undefined;
  readonly range: StatisticsRange;
  readonly include_timeseries: boolean;
  readonly include_previous: boolean;
  /** Number of agents to list. */
  readonly limit: number;
  /** The only agents to list, normalised; undefined or empty for those with the most denials. */
  readonly listed_agents?: readonly string[] | undefined;
}

/** Implements GetEvaluationStats. */
export type EvaluationStats = (input: EvaluationStatsInput, namespace: Namespace) => Promise<object>;

export function createEvaluationStats({ read, flushSoon, now }: EvaluationStatsOptions): EvaluationStats {
  return async (input, namespace) => {
    const {
      agent_name: agentName,
      range,
      include_timeseries,
      include_previous,
      limit,
      listed_agents,
    } = input;
    await flushSoon();
    const nowMs = now();
    const window = windowOf(range, nowMs, MINUTE);
    const previousStartS = include_previous ? previousStart(range, window, nowMs) : null;
    const found = await read({
      namespace,
      agentName: agentName ?? null,
      window,
      byBucket: include_timeseries,
      previousStartS,
      agents: limit,
      listed: listed_agents ?? [],
    });
    const { sinceS, previous, agents } = found;
    const isWhole = previousStartS !== null && sinceS !== null && sinceS <= previousStartS;
    return {
      time_range: range.name,
      start_time: timeText(window.startS),
      end_time: timeText(window.endS ?? endOfMinute(nowMs)),
      counts: counts(total(found)),
      previous: isWhole ? counts(previous ?? NOTHING) : null,
      timeseries: include_timeseries
        ? Array.from({ length: window.buckets }, (_, bucket) => ({
            timestamp: bucketStart(window, bucket),
            counts: counts(found.buckets.get(bucket) ?? NOTHING),
          }))
        : [],
      bucket_seconds: include_timeseries ? window.bucketS : 0,
      agents: agents.map((one) => ({ agent_name: one.agentName, counts: counts(one.sums) })),
      counted_since: sinceS === null ? null : timeText(sinceS),
    };
  };
}

const NOTHING: ReadSums = {
  evaluated: 0,
  denied: 0,
  steered: 0,
  denied_by_error: 0,
  observed: 0,
  failed: 0,
};

function total({ buckets }: FoundCounts): ReadSums {
  const all = { ...NOTHING } as { -readonly [Sum in keyof ReadSums]: Count };
  for (const sums of buckets.values()) {
    for (const sum of OUTCOME_SUMS) all[sum] = addCounts(all[sum], sums[sum]);
  }
  return all;
}

function counts(sums: ReadSums): object {
  const refused = addCounts(sums.denied, sums.steered);
  return { ...sums, allowed: addCounts(sums.evaluated, -refused) };
}

function timeText(atS: number): string {
  return utcTimeOfMs(atS * 1000).text;
}

function endOfMinute(nowMs: number): number {
  return (Math.floor(nowMs / 1000 / MINUTE) + 1) * MINUTE;
}
