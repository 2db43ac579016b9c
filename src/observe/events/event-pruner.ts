import { setTimeout as sleep } from 'node:timers/promises';
import { createRegularLook } from '../../contract/runtime/regular-look.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { createObservabilityMeter, type ObservabilityMeter } from './observability-meter.js';
import {
  type DeleteBatch,
  type EventRetention,
  isDue,
  type PruningCounts,
  type PruningLimits,
  pruningLimits,
} from './store/event-retention.js';

/** Interval of searches for old rows, in milliseconds. */
const PRUNING_INTERVAL_MS = 60_000;
/** Delay of the first search after the start of a process, to leave time for other start-up work. */
const FIRST_LOOK_MS = 1_000;
/** The longest pause between two batches. It is as long as the batch, so writers get half of the time. */
const MAX_REST_MS = 1_000;

/** Deletes expired rows. */
export interface EventPruner {
  /** Searches for old rows soon, and then at every interval. Of several processes one does the work. */
  start(): void;
  /** Deletes expired rows, even beside other processes. Resolves with their numbers. */
  prune(): Promise<PruningCounts>;
  /** Ends after the current batch. Never rejects. */
  close(): Promise<void>;
}

export interface EventPrunerOptions {
  readonly retention: EventRetention;
  /** How long events are kept; 0 forever. Rollups are kept as long as statistics read them. */
  readonly retentionDays: number;
  readonly log: { info(facts: object, message: string): void };
  readonly failures: Pick<RepeatLog, 'failed'>;
  readonly meter?: ObservabilityMeter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Creates the pruner. It deletes in batches, each in a separate short transaction, and pauses between them:
 * on SQLite a transaction blocks all other writers, on PostgreSQL those of events.
 */
export function createEventPruner(options: EventPrunerOptions): EventPruner {
  const { retention, retentionDays, log, failures, now, meter = createObservabilityMeter() } = options;

  async function repeat(what: keyof PruningCounts, deleteBatch: DeleteBatch): Promise<number> {
    let all = 0;
    while (!regular.isClosed) {
      const startMs = performance.now();
      const rows = await deleteBatch();
      if (rows === 0) break;
      all += rows;
      meter.pruned[what] += rows;
      meter.pruned.batches += 1;
      await sleep(Math.min(MAX_REST_MS, performance.now() - startMs));
    }
    return all;
  }

  async function deleteOld({ eventsBeforeUs, rollups: levels }: PruningLimits): Promise<PruningCounts> {
    const events =
      eventsBeforeUs === null ? 0 : await repeat('events', retention.eventBatches(eventsBeforeUs));
    let rollups = 0;
    for (const level of levels) rollups += await repeat('rollups', retention.rollupBatches(level));
    meter.pruned.runs += 1;
    meter.lastPruningMs = now();
    return { events, rollups };
  }

  async function look(): Promise<void> {
    try {
      const limits = pruningLimits(now(), retentionDays);
      const oldest = await retention.oldest();
      meter.oldestEventMs = oldest.eventUs === null ? null : Number(oldest.eventUs / 1_000n);
      // Usually there is nothing to delete, and then nothing is written.
      if (!isDue(limits, oldest) || regular.isClosed || !(await retention.claim())) return;
      const { events, rollups } = await deleteOld(limits);
      if (events + rollups > 0) log.info({ events, rollups }, 'old events and sums were pruned');
    } catch (error) {
      failures.failed('pruning', 'old events could not be pruned now', error);
    }
  }

  const regular = createRegularLook({ firstMs: FIRST_LOOK_MS, intervalMs: PRUNING_INTERVAL_MS, look });
  return {
    start: regular.start,
    prune: () => deleteOld(pruningLimits(now(), retentionDays)),
    close: regular.close,
  };
}
