import { randomUUID } from 'node:crypto';
import type { CoverageService as CoverageServiceDesc } from '../../../gen/proto/enforcement/v1/coverage_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import { createRegularLook } from '../../contract/runtime/regular-look.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { VerdictObserver } from '../../decide/decisions/verdict-observer.js';
import type { Database } from '../../storage/database/database.js';
import { createLease } from '../../storage/database/lease.js';
import type { Mutator } from '../../storage/database/mutator.js';
import type { NotifyOptions } from '../../storage/database/notifications.js';
import { type CoverageFigures, createCoverageFigures } from './coverage-figures.js';
import { COVERAGE_SCHEMAS } from './coverage-schemas.js';
import { createCoverageService } from './coverage-service.js';
import { createCoverageStore } from './coverage-store.js';
import { createCoverageWriter } from './coverage-writer.js';
import { createOverdueWatch } from './overdue-watch.js';
import { Sightings } from './sightings.js';

const DAY_S = 86_400;
/** What was seen is kept for so many days even if events are not: "never" must mean more than some days. */
const LEAST_DAYS = 90;
/** How often what was seen is written, and how often silence is looked for, in milliseconds. */
const WRITE_MS = 30_000;
const WATCH_MS = 15_000;
/** How long the process that watches has its lease without a look, in milliseconds. */
const WATCH_LEASE_MS = 45_000;
const PRUNE_MS = 3_600_000;

export interface CoverageOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  /** How long events are kept; 0 forever. */
  readonly retentionDays: number;
  readonly outbox: NotifyOptions;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/** Which steps of which agents are evaluated where. */
export interface Coverage {
  readonly observer: VerdictObserver;
  readonly handlers: HandlersOf<typeof CoverageServiceDesc>;
  readonly figures: () => CoverageFigures;
  /** Stores what was seen. Never rejects. */
  flush(): Promise<void>;
  start(): void;
  /** Stores the rest. Never rejects. */
  close(): Promise<void>;
}

export function createCoverage(options: CoverageOptions): Coverage {
  const { database, mutate, retentionDays, outbox, failures, now, monotonic } = options;
  const sightings = new Sightings();
  const store = createCoverageStore(database);
  const writerId = randomUUID();
  const { flush, flushSoon } = createCoverageWriter({ sightings, store, writerId, failures, now, monotonic });
  const writer = createRegularLook({ firstMs: WRITE_MS, intervalMs: WRITE_MS, look: flush });
  const lease = createLease({ bulk: database.bulk, name: 'coverage', now, leaseMs: WATCH_LEASE_MS });
  const watch = createRegularLook({
    firstMs: WATCH_MS,
    intervalMs: WATCH_MS,
    look: createOverdueWatch({ database, lease, outbox, failures, now }),
  });
  const pruner = createRegularLook({
    firstMs: PRUNE_MS / 60,
    intervalMs: PRUNE_MS,
    async look() {
      if (retentionDays === 0) return;
      const nowS = Math.floor(now() / 1_000);
      try {
        await store.prune(nowS - Math.max(retentionDays, LEAST_DAYS) * DAY_S, nowS);
      } catch (error) {
        failures.failed('coverage upkeep', 'what was last seen long ago cannot be removed now', error);
      }
    },
  });
  const service = createCoverageService({ database, mutate, store, flushSoon, now });
  return {
    observer: sightings,
    handlers: {
      listCoverage: handler(COVERAGE_SCHEMAS.listCoverage, (input, context) => service.list(context, input)),
      getCoverage: handler(COVERAGE_SCHEMAS.getCoverage, (input, context) =>
        service.get(context, input.agent_name),
      ),
      setExpectations: handler(COVERAGE_SCHEMAS.setExpectations, (input, context) =>
        service.expect(context, input),
      ),
    },
    figures: createCoverageFigures({ database, sightings, store, monotonic }),
    flush,
    start() {
      for (const part of [writer, watch, pruner]) part.start();
    },
    async close() {
      await Promise.all([writer.close(), watch.close(), pruner.close()]);
      await flush();
      try {
        await lease.release(null);
      } catch {
        // It ends by itself.
      }
    },
  };
}
