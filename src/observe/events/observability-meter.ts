/** Source of events: clients, or the service itself. */
export type EventSource = 'client' | 'service';

/**
 * Why events were not stored: the queue was full; the database did not accept them now; it will never accept
 * them; or the service ended before.
 */
export type DropReason = 'queue_full' | 'storage' | 'refused' | 'shutdown';

/** Counters of events, in one process. Plain numbers, read when metrics are collected. */
export interface ObservabilityMeter {
  /** Committed, duplicates of stored ones included. */
  readonly stored: Record<EventSource, number>;
  readonly dropped: Record<EventSource, Record<DropReason, number>>;
  /** Events of clients that were dated ahead of the clock of the service. */
  ahead: number;
  /** Events sent by clients, or passed on by the recorder, that are not yet in a transaction. */
  queued: () => number;
  /** Events of the service itself waiting for the next flush. */
  buffered: () => number;
  /** Bytes of events on the disk of this service, which wait for their store to be back. */
  spooledOctets: () => number;
  readonly pruned: { events: number; rollups: number; batches: number; runs: number };
  /** End of the last pruning by this process, in milliseconds since 1970; null before the first. */
  lastPruningMs: number | null;
  /** Time of the oldest stored event at the last search, in milliseconds since 1970; null for none. */
  oldestEventMs: number | null;
  /** Records the duration of a transaction that stored events, with its wait for the lock of all writers. */
  committed(seconds: number): void;
  /** Records the duration of a flush of the service's own events. */
  flushed(seconds: number): void;
}

/** A meter that ignores durations. */
export function createObservabilityMeter(
  timed: Partial<Pick<ObservabilityMeter, 'committed' | 'flushed'>> = {},
): ObservabilityMeter {
  const reasons = () => ({ queue_full: 0, storage: 0, refused: 0, shutdown: 0 });
  return {
    stored: { client: 0, service: 0 },
    dropped: { client: reasons(), service: reasons() },
    ahead: 0,
    queued: () => 0,
    buffered: () => 0,
    spooledOctets: () => 0,
    pruned: { events: 0, rollups: 0, batches: 0, runs: 0 },
    lastPruningMs: null,
    oldestEventMs: null,
    committed: timed.committed ?? (() => {}),
    flushed: timed.flushed ?? (() => {}),
  };
}
