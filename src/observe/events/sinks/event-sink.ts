import type { TailEvent } from '../store/event-tail.js';

/** A destination outside of the database that every stored event is copied to. */
export interface EventSink {
  /** Identifies its row in the database, and the label of its metrics. */
  readonly name: string;
  /**
   * Connects to the destination. `stored` is the position that the database has for it; `first` finds the position of
   * a destination that has had no event yet. Rejects when the destination cannot be used now. When the signal is aborted,
   * everything that is under way fails, in the session as well.
   */
  open(stored: bigint | null, first: () => Promise<bigint>, signal: AbortSignal): Promise<SinkSession>;
}

/** An open destination. After a failure of any method it is closed, and another one is opened. */
export interface SinkSession {
  /** Every event up to this position was taken before. Delivery begins after it. */
  readonly start: bigint;
  /** Every event up to this position is in the destination for good. */
  readonly durable: bigint;
  /**
   * Takes the events after those taken before; there is none besides them up to `upTo`. Resolves when it can take more.
   * Rejects when they may be missing in the destination.
   */
  take(events: readonly TailEvent[], upTo: bigint): Promise<void>;
  /** Called again and again while there are no events to take. */
  rest(): Promise<void>;
  /** The database was restored to an earlier state, which ends at this position: the next events follow it. */
  rewind(position: bigint): Promise<void>;
  /** Makes durable what was taken, in bounded time. Not called after a failure. */
  finish(): Promise<void>;
  /** Releases resources. Never rejects. */
  close(): Promise<void>;
}

/** Where delivery to a new destination begins: with the oldest stored event, or with those stored from now on. */
export type SinkStart = 'oldest' | 'now';
