import { setTimeout as sleep } from 'node:timers/promises';
import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { Database } from '../database/database.js';
import type { RepeatLog } from '../process/repeat-log.js';
import {
  eventSteps,
  findOldest,
  isDue,
  type PruningCounts,
  type PruningLimits,
  type PruningStep,
  pruningLimits,
  rollupSteps,
} from './event-pruning.js';
import { createObservabilityMeter, type ObservabilityMeter } from './observability-meter.js';

/** How often old rows are looked for, in milliseconds. */
const PRUNING_INTERVAL_MS = 60_000;
/** How long after its start a process looks for the first time: until then it has better things to do. */
const FIRST_LOOK_MS = 1_000;
/** A process that has not said for so long that it prunes does not do so any more. Longer than any of its steps. */
const CLAIM_MS = 30_000;
/** The longest rest between two batches. It is as long as the batch took, so that writers have half of the time. */
const MAX_REST_MS = 1_000;

/** Deletes what is older than its time. */
export interface EventPruner {
  /** Looks for old rows soon, and at every interval from then on. Several processes leave the work to one of them. */
  start(): void;
  /** Deletes what is too old, whoever else does. Resolves with what it deleted. */
  prune(): Promise<PruningCounts>;
  /** Ends after the batch that is being deleted. Never rejects. */
  close(): Promise<void>;
}

export interface EventPrunerOptions {
  readonly database: { readonly bulk: Pick<Database['bulk'], 'read' | 'transaction'> };
  /** How long events are kept; 0 for ever. Rollups are kept for as long as statistics read them. */
  readonly retentionDays: number;
  readonly log: { info(facts: object, message: string): void };
  readonly failures: Pick<RepeatLog, 'failed'>;
  readonly meter?: ObservabilityMeter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Creates the pruner. It deletes in batches, each in a short transaction of its own, and rests between them: on SQLite
 * a transaction keeps all other writers waiting, on PostgreSQL those of events.
 */
export function createEventPruner(options: EventPrunerOptions): EventPruner {
  const { retentionDays, log, failures, now, meter = createObservabilityMeter() } = options;
  const { bulk } = options.database;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let first: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  /** Takes the work, unless another process is at it. A claim far in the future is that of a wrong clock. */
  async function claim(): Promise<boolean> {
    const nowMs = now();
    return bulk.transaction(async (tx) => {
      const [claimed] = await tx.run(Prisma.sql`
        UPDATE "event_log" SET "pruning_at_ms" = ${BigInt(nowMs)} WHERE "id" = 1
          AND ("pruning_at_ms" <= ${BigInt(nowMs - CLAIM_MS)} OR "pruning_at_ms" > ${BigInt(nowMs + CLAIM_MS)})`);
      return claimed?.changes === 1;
    });
  }

  async function repeat(what: keyof PruningCounts, step: PruningStep): Promise<number> {
    let all = 0;
    while (!closed) {
      const startMs = performance.now();
      const rows = await bulk.transaction(step);
      if (rows === 0) break;
      all += rows;
      meter.pruned[what] += rows;
      meter.pruned.batches += 1;
      await sleep(Math.min(MAX_REST_MS, performance.now() - startMs));
    }
    return all;
  }

  async function deleteOld({ eventsBeforeUs, rollups: levels }: PruningLimits): Promise<PruningCounts> {
    const events = eventsBeforeUs === null ? 0 : await repeat('events', eventSteps(eventsBeforeUs, now));
    let rollups = 0;
    for (const level of levels) rollups += await repeat('rollups', rollupSteps(level, now));
    meter.pruned.runs += 1;
    meter.lastPruningMs = now();
    return { events, rollups };
  }

  async function look(): Promise<void> {
    try {
      const limits = pruningLimits(now(), retentionDays);
      const oldest = await findOldest(bulk);
      meter.oldestEventMs = oldest.eventUs === null ? null : Number(oldest.eventUs / 1_000n);
      // Most of the time there is nothing to delete, and then nothing is written.
      if (!isDue(limits, oldest) || closed || !(await claim())) return;
      const { events, rollups } = await deleteOld(limits);
      log.info({ events, rollups }, 'old events and sums were pruned');
    } catch (error) {
      failures.failed('pruning', 'old events could not be pruned now', error);
    }
  }

  function lookOnce(): void {
    running ??= look().finally(() => {
      running = undefined;
    });
  }

  return {
    start() {
      timer = setInterval(lookOnce, PRUNING_INTERVAL_MS);
      timer.unref();
      first = setTimeout(lookOnce, FIRST_LOOK_MS);
      first.unref();
    },
    prune: () => deleteOld(pruningLimits(now(), retentionDays)),
    async close() {
      closed = true;
      clearInterval(timer);
      clearTimeout(first);
      await running;
    },
  };
}
