import { Counter, Histogram, type Registry } from 'prom-client';
import {
  createObservabilityMeter,
  type DropReason,
  type EventSource,
  type ObservabilityMeter,
} from '../../observe/events/observability-meter.js';
import { DATABASE_OPERATIONS, type DatabaseOperation } from '../../storage/database/metered-database.js';
import { createMetricKinds } from './metric-kinds.js';

/** Upper bounds in seconds, for database operations: from one small commit up to the longest statement. */
const BUCKETS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const SOURCES: readonly EventSource[] = ['client', 'service'];
const REASONS: readonly DropReason[] = ['queue_full', 'storage', 'refused', 'shutdown'];

/** The metric for the duration of database operations. Returns a function that records one operation. */
export function createDatabaseMetrics(
  prefix: string,
  registers: Registry[],
): (operation: DatabaseOperation, seconds: number) => void {
  const durations = new Histogram({
    name: `${prefix}_database_duration_seconds`,
    help: 'Time of work on the database by operation (mutation, statistics, search, scan, bulk_write), its wait for its turn included.',
    labelNames: ['operation'],
    buckets: BUCKETS,
    registers,
  });
  // Creates a row for each operation from the start.
  for (const operation of DATABASE_OPERATIONS) durations.zero({ operation });
  return (operation, seconds) => durations.observe({ operation }, seconds);
}

/** Metrics of events. Returns their meter; all values except durations are read from it on each scrape. */
export function createEventMetrics(prefix: string, registers: Registry[]): ObservabilityMeter {
  const histogram = (name: string, help: string) =>
    new Histogram({ name: `${prefix}_${name}`, help, buckets: BUCKETS, registers });
  const commits = histogram(
    'event_commit_duration_seconds',
    'Time of a transaction that stores events, its wait for the lock of all writers included.',
  );
  const flushes = histogram(
    'event_flush_duration_seconds',
    'Time in which the service wrote all events that it had recorded itself since the last flush.',
  );
  const meter = createObservabilityMeter({
    committed: (seconds) => commits.observe(seconds),
    flushed: (seconds) => flushes.observe(seconds),
  });

  const { gauge, counter } = createMetricKinds(prefix, registers);
  new Counter({
    name: `${prefix}_events_stored_total`,
    help: 'Events that were committed, duplicates of stored ones included, by who told of them (client, service).',
    labelNames: ['source'],
    registers,
    collect() {
      this.reset();
      for (const source of SOURCES) this.inc({ source }, meter.stored[source]);
    },
  });
  new Counter({
    name: `${prefix}_events_dropped_total`,
    help: 'Events that are not known to be stored, by who told of them and why. Clients were told so and can send theirs again.',
    labelNames: ['source', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const source of SOURCES) {
        for (const reason of REASONS) this.inc({ source, reason }, meter.dropped[source][reason]);
      }
    },
  });
  counter(
    'events_ahead_total',
    'Events of clients that were dated more than five minutes ahead of the clock of the service.',
    () => meter.ahead,
  );
  gauge('event_queue_depth', 'Events that wait for their transaction, or are in one.', 'sum', () =>
    meter.queued(),
  );
  gauge('event_buffer_depth', 'Events of the service itself that wait for the next flush.', 'sum', () =>
    meter.buffered(),
  );
  gauge('event_spool_bytes', 'Events on disk that wait until their store is back.', 'sum', () =>
    meter.spooledOctets(),
  );
  counter('events_pruned_total', 'Events that were deleted because of their age.', () => meter.pruned.events);
  counter(
    'event_rollups_pruned_total',
    'Sums behind the statistics that were deleted because of their age.',
    () => meter.pruned.rollups,
  );
  counter('event_pruning_batches_total', 'Transactions that deleted old rows.', () => meter.pruned.batches);
  counter(
    'event_pruning_runs_total',
    'Finished prunings that had something to delete.',
    () => meter.pruned.runs,
  );
  gauge(
    'event_pruning_timestamp_seconds',
    'When the last pruning ended that had something to delete; 0 for none since the start.',
    'max',
    () => seconds(meter.lastPruningMs),
  );
  gauge(
    'event_oldest_timestamp_seconds',
    'Time of the oldest stored event when it was last looked for, once a minute; 0 when there is none.',
    'max',
    () => seconds(meter.oldestEventMs),
  );
  return meter;
}

function seconds(ms: number | null): number {
  return ms === null ? 0 : ms / 1000;
}
