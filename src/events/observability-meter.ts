/** Who told of events: clients, or the service itself. */
export type EventSource = 'client' | 'service';

/**
 * Why events were not stored: too many of them waited for the database; it did not take them now; it will never take
 * them; or the service ended before it did.
 */
export type DropReason = 'queue_full' | 'storage' | 'refused' | 'shutdown';

/** What is counted about events, in one process. Plain numbers, which are read when the metrics are. */
export interface ObservabilityMeter {
  /** Committed, duplicates of stored ones included. */
  readonly stored: Record<EventSource, number>;
  readonly dropped: Record<EventSource, Record<DropReason, number>>;
  /** Events that clients sent, or the recorder handed over, and that no transaction has taken yet. */
  queued: () => number;
  /** Events of the service itself that wait for the next flush. */
  buffered: () => number;
  readonly pruned: { events: number; rollups: number; batches: number; runs: number };
  /** End of the last pruning that this process did, in milliseconds since 1970; null before the first. */
  lastPruningMs: number | null;
  /** Time of the oldest stored event when it was last looked for, in milliseconds since 1970; null for none. */
  oldestEventMs: number | null;
  /** A transaction that stored events took so long, its wait for the lock of all writers included. */
  committed(seconds: number): void;
  /** Writing what the service had recorded took so long. */
  flushed(seconds: number): void;
}

/** A meter whose durations nobody wants to know. */
export function createObservabilityMeter(
  timed: Partial<Pick<ObservabilityMeter, 'committed' | 'flushed'>> = {},
): ObservabilityMeter {
  const reasons = () => ({ queue_full: 0, storage: 0, refused: 0, shutdown: 0 });
  return {
    stored: { client: 0, service: 0 },
    dropped: { client: reasons(), service: reasons() },
    queued: () => 0,
    buffered: () => 0,
    pruned: { events: 0, rollups: 0, batches: 0, runs: 0 },
    lastPruningMs: null,
    oldestEventMs: null,
    committed: timed.committed ?? (() => {}),
    flushed: timed.flushed ?? (() => {}),
  };
}
