import { timeLimited } from '../../../contract/call/time-limited.js';
import { ServiceError } from '../../../contract/errors/service-error.js';
import { createBatchWriter } from '../../../contract/runtime/batch-writer.js';
import type { RepeatLog } from '../../../contract/runtime/repeat-log.js';
import { unavailable } from '../../../storage/database/errors.js';
import { MINUTE } from '../store/rollup-levels.js';
import type { CountBatch } from './count-batch.js';
import { type CountMeter, createCountMeter } from './count-meter.js';
import type { CountSpool } from './count-spool.js';
import type { AddCounts } from './count-store.js';
import type { EvaluationCollector } from './evaluation-collector.js';
import { WaitingCounts } from './waiting-counts.js';

/** Rows of one transaction: each is added to three units, which takes some ten milliseconds. */
const ROWS_PER_BATCH = 1_000;
/** Counts are written at most so often, in milliseconds, unless a caller demands it. */
const SHORTEST_INTERVAL_MS = 1_000;
/** How long a write may take before its counts are kept in a file instead, in milliseconds. */
const SLOW_MS = 4_000;
/** After the turn of a minute: timers may fire a little early. */
const AFTER_TURN_MS = 2;
const MINUTE_MS = MINUTE * 1000;

/** Stores what a collector counts. */
export interface CountWriter {
  /** Starts writing at every interval. */
  start(): void;
  /** Stores everything that is counted now. Rejects with SERVICE_UNAVAILABLE when some of it has to wait in memory. */
  flush(): Promise<void>;
  /** The same at most once a second, and not while the database is away. Never rejects. */
  flushSoon(): Promise<void>;
  /** Stores the rest, and nothing after that. Never rejects. */
  close(): Promise<void>;
}

export interface CountWriterOptions {
  readonly collector: EvaluationCollector;
  readonly add: AddCounts;
  /** Where batches wait that the database cannot take now; undefined to keep them in memory. */
  readonly spool?: CountSpool | undefined;
  readonly writerId: string;
  readonly flushIntervalMs: number;
  readonly meter?: CountMeter;
  readonly log: { warn(facts: object, message: string): void };
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  readonly maxRows?: number;
}

export function createCountWriter(options: CountWriterOptions): CountWriter {
  const { collector, add, spool, writerId, log, failures, now, monotonic } = options;
  const { meter = createCountMeter() } = options;
  const sinceS = Math.floor(now() / 1000);
  const waiting = new WaitingCounts(options.maxRows);
  let number = 0;
  let turn: NodeJS.Timeout | undefined;
  const writer = createBatchWriter({
    prepare,
    take: batches,
    store: (batch) => orLose(batch, deliver(batch)),
    failed(error) {
      const facts = { waiting: left() };
      failures.failed('counts', 'counts of evaluations cannot be stored now', error, facts);
    },
    intervalMs: Math.max(SHORTEST_INTERVAL_MS, options.flushIntervalMs),
    shortestMs: SHORTEST_INTERVAL_MS,
    monotonic,
  });
  const left = () => waiting.evaluated + evaluatedIn(writer.pending);
  meter.totals = () => collector.totals;
  meter.waiting = () => collector.waiting + left();
  meter.beyond = () => collector.beyond;

  /** Takes what was counted, so that it is counted for its minute. */
  function take(): void {
    const counted = collector.take(now());
    if (counted !== undefined) meter.lost.queue_full += waiting.add(counted);
  }

  function* batches(): Iterable<CountBatch> {
    while (!waiting.isEmpty) {
      number += 1;
      yield { writerId, number, sinceS, ...waiting.take(ROWS_PER_BATCH) };
    }
  }

  /** Adds a batch, or keeps it in a file. Rejects when neither can be done now. */
  async function deliver(batch: CountBatch): Promise<void> {
    if (spool === undefined) return add(batch);
    if (await spool.isEmpty()) {
      try {
        return await timeLimited(add(batch), SLOW_MS, () => {
          throw unavailable('The database takes too long.');
        });
      } catch (error) {
        if (!isAway(error)) throw error;
        failures.failed('count spool', 'counts of evaluations are kept in the spool', error);
      }
    }
    // After those that wait there: the batches of a writer are added in their order.
    await spool.keep(batch);
  }

  async function prepare(): Promise<void> {
    take();
    try {
      await spool?.replay(addOrLose);
    } catch (error) {
      failures.failed('count spool', 'counts of evaluations in the spool cannot be stored now', error);
    }
  }

  const addOrLose = (batch: CountBatch) => orLose(batch, add(batch));

  /** What the database can never take must not keep back the rest. */
  async function orLose(batch: CountBatch, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (isAway(error)) throw error;
      failures.failed('refused counts', 'counts of evaluations cannot be stored and are lost', error);
      meter.lost.refused += evaluatedIn(batch);
    }
  }

  /** Takes what was counted at each turn of a minute. */
  function awaitTurn(): void {
    turn = setTimeout(
      () => {
        take();
        awaitTurn();
      },
      MINUTE_MS - (now() % MINUTE_MS) + AFTER_TURN_MS,
    );
    turn.unref();
  }

  return {
    start() {
      writer.start();
      awaitTurn();
    },
    async flush() {
      await writer.flushLatest();
      if (writer.isAway) throw unavailable('Counts of evaluations cannot be stored at present.');
    },
    flushSoon: writer.flushSoon,
    async close() {
      clearTimeout(turn);
      await writer.close();
      meter.lost.shutdown += left();
      if (left() > 0) log.warn({ lost: left() }, 'counts of evaluations were lost at shutdown');
      await spool?.close();
    },
  };
}

function evaluatedIn(batch: CountBatch | undefined): number {
  return batch === undefined ? 0 : batch.rows.reduce((sum, { sums }) => sum + sums.evaluated, 0);
}

function isAway(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
}
