import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { isRefusedData } from '../../storage/database/errors.js';
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
export interface CoverageWriter {
  /** Stores what was seen since the last call; the same as a call that is under way. Never rejects. */
  flush(): Promise<void>;
  /** Stores what was seen before the call, at most once a second. Never rejects. */
  flushSoon(): Promise<void>;
}

export function createCoverageWriter(options: CoverageWriterOptions): CoverageWriter {
  const { sightings, store, writerId, failures, now, monotonic } = options;
  let flushing: Promise<void> | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  /** Their outcome may be unknown, so they stay as they are until they are known to be stored. */
  let waiting: CoverageBatch[] = [];
  let number = 0;
  let refusals = 0;
  const seconds = () => Math.floor(now() / 1_000);

  function take(): CoverageBatch[] {
    const steps = sightings.take(seconds());
    const batches: CoverageBatch[] = [];
    for (let at = 0; at < steps.length; at += STEPS_PER_BATCH) {
      number += 1;
      batches.push({ writerId, number, steps: steps.slice(at, at + STEPS_PER_BATCH) });
    }
    return batches;
  }

  async function writeWaiting(): Promise<void> {
    for (let batch = waiting[0]; batch !== undefined; batch = waiting[0]) {
      try {
        await store.add(batch, seconds());
        refusals = 0;
      } catch (error) {
        refusals += isRefusedData(error) ? 1 : 0;
        if (refusals < MAX_REFUSALS) throw error;
        refusals = 0;
        failures.failed('refused coverage', 'what was seen of agents cannot be stored and is lost', error);
      }
      waiting.shift();
    }
  }

  async function write(): Promise<void> {
    sightings.mark(seconds());
    try {
      await writeWaiting();
      waiting = take();
      await writeWaiting();
    } catch (error) {
      failures.failed('coverage', 'what was seen of agents cannot be stored now', error);
    }
  }

  function flush(): Promise<void> {
    flushing ??= write().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  return {
    flush,
    async flushSoon() {
      if (flushing === undefined && monotonic() - askedAtMs < SHORTEST_INTERVAL_MS) return;
      askedAtMs = monotonic();
      await flushing;
      await flush();
    },
  };
}
