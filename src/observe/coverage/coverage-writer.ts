import { type BatchWriter, createBatchWriter } from '../../contract/runtime/batch-writer.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { isRefusedData } from '../../storage/database/errors.js';
import { portionsOf } from '../../storage/database/in-portions.js';
import type { CoverageBatch, CoverageStore } from './coverage-store.js';
import type { Sightings } from './sightings.js';

/** Steps of one transaction, which takes some ten milliseconds. */
const STEPS_PER_BATCH = 1_000;
/** How often a batch is tried that the database refuses: an agent that is removed at the same moment is a reason that passes. */
const MAX_REFUSALS = 3;
/** What was seen is written at most so often for callers that want to read it, in milliseconds. */
const SHORTEST_INTERVAL_MS = 1_000;

export interface CoverageWriterOptions {
  readonly sightings: Pick<Sightings, 'mark' | 'take'>;
  readonly store: Pick<CoverageStore, 'add'>;
  readonly writerId: string;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/** Stores what was seen. While the database is away, numbers wait in memory, with the times at which they were seen. */
export type CoverageWriter = Pick<BatchWriter<CoverageBatch>, 'flush' | 'flushSoon'>;

export function createCoverageWriter(options: CoverageWriterOptions): CoverageWriter {
  const { sightings, store, writerId, failures, now, monotonic } = options;
  let number = 0;
  let refusals = 0;
  const seconds = () => Math.floor(now() / 1_000);

  function* take(): Iterable<CoverageBatch> {
    for (const steps of portionsOf(sightings.take(seconds()), STEPS_PER_BATCH)) {
      number += 1;
      yield { writerId, number, steps };
    }
  }

  async function add(batch: CoverageBatch): Promise<void> {
    try {
      await store.add(batch, seconds());
    } catch (error) {
      refusals += isRefusedData(error) ? 1 : 0;
      if (refusals < MAX_REFUSALS) throw error;
      failures.failed('refused coverage', 'what was seen of agents cannot be stored and is lost', error);
    }
    refusals = 0;
  }

  return createBatchWriter({
    prepare: () => sightings.mark(seconds()),
    take,
    store: add,
    failed: (error) => failures.failed('coverage', 'what was seen of agents cannot be stored now', error),
    shortestMs: SHORTEST_INTERVAL_MS,
    monotonic,
  });
}
