import { randomUUID } from 'node:crypto';
import type { Config } from '../../../contract/config/config.js';
import type { RepeatLog } from '../../../contract/runtime/repeat-log.js';
import type { VerdictObserver } from '../../../decide/decisions/verdict-observer.js';
import type { Database } from '../../../storage/database/database.js';
import type { CountMeter } from './count-meter.js';
import { createCountPruner } from './count-pruner.js';
import { createReadCounts } from './count-reader.js';
import type { CountSpool } from './count-spool.js';
import { createAddCounts } from './count-store.js';
import { type CountWriter, createCountWriter } from './count-writer.js';
import { EvaluationCollector } from './evaluation-collector.js';
import { createEvaluationStats, type EvaluationStats } from './evaluation-stats.js';

export interface EvaluationCountsParts {
  readonly config: Pick<Config['observability'], 'store' | 'spool' | 'flushIntervalSeconds'>;
  /** The database of the controls: counts are there wherever events are. */
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  readonly log: { warn(facts: object, message: string): void };
  readonly failures: Pick<RepeatLog, 'failed'>;
  readonly meter: CountMeter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/** Counts evaluations, whatever of them is recorded as events. */
export interface EvaluationCounts extends Pick<CountWriter, 'flush' | 'flushSoon'> {
  /** Counts what it is told of. */
  readonly observer: VerdictObserver;
  readonly stats: EvaluationStats;
  start(): void;
  /** Stores what is counted. Never rejects. */
  close(): Promise<void>;
}

/** Rejects when the files for counts that wait cannot be created. */
export async function createEvaluationCounts(parts: EvaluationCountsParts): Promise<EvaluationCounts> {
  const { config, database, log, failures, meter, now, monotonic } = parts;
  const collector = new EvaluationCollector(now());
  const writer = createCountWriter({
    collector,
    add: createAddCounts(database, now),
    spool: await spoolOf(parts),
    writerId: randomUUID(),
    flushIntervalMs: config.flushIntervalSeconds * 1000,
    meter,
    log,
    failures,
    now,
    monotonic,
  });
  const pruner = createCountPruner({ bulk: database.bulk, failures, now });
  return {
    observer: collector,
    stats: createEvaluationStats({ read: createReadCounts(database), flushSoon: writer.flushSoon, now }),
    flush: writer.flush,
    flushSoon: writer.flushSoon,
    start() {
      writer.start();
      pruner.start();
    },
    async close() {
      await pruner.close();
      await writer.close();
    },
  };
}

/** Counts survive a kill as events do: with the files of a spool, where events have one. It is not loaded elsewhere. */
async function spoolOf({ config, failures, meter }: EvaluationCountsParts): Promise<CountSpool | undefined> {
  if (config.store === null) return undefined;
  const { createCountSpool } = await import('./count-spool.js');
  const spool = createCountSpool({ ...config.spool, failures });
  meter.spooledOctets = () => spool.octets;
  return spool;
}
