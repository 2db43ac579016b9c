import type { ControlEvent } from './event.js';
import type { EventFilter } from './event-filter.js';

/** Queue of a read: short ones must not wait behind long ones. */
export type ReadLane = 'statistics' | 'search';

/** Size limits of one part of a long list of events. */
export interface PartLimits {
  readonly events: number;
  /** Approximate bytes, exceeded by one event at most. */
  readonly octets: number;
}

/** A few milliseconds of work for the thread that serves requests, and little memory for large events. */
export const PART_LIMITS: PartLimits = { events: 500, octets: 1024 * 1024 };

/** Message size of a stream: a stopped reader holds one such message, and there may be a thousand of them. */
export const MESSAGE_LIMITS: PartLimits = { events: 500, octets: 256 * 1024 };

/** An event as stored. */
export interface StoredEvent {
  readonly position: bigint;
  readonly event: ControlEvent;
}

/** State of the event log. */
export interface EventLogState {
  /** Position of the last committed event, or of one skipped after it. */
  readonly head: bigint;
  /** The highest position of an event that was deleted because of its age. */
  readonly prunedPosition: bigint;
  /**
   * The positions after `from` and before `to` were given away by a state of the database that was replaced by an
   * earlier one: a reader of them may have read events that are gone. Later events begin after `to`. Both 0 when the
   * database was never restored.
   */
  readonly restored: { readonly from: bigint; readonly to: bigint };
}

/** An event and its approximate size in bytes. */
export interface TailEvent extends StoredEvent {
  readonly octets: number;
}

/** Events after a position, with the consistent state of the log. */
export interface TailPart extends EventLogState {
  /** In the order of their positions. */
  readonly events: readonly TailEvent[];
  /** Every event up to here was read. Below the requested position if the head is (restored database). */
  readonly upTo: bigint;
}

/**
 * Reads events in the order in which they were committed. Positions are assigned under a lock that is held
 * until the commit, so a reader of a position has seen all before it.
 */
export interface EventTail {
  state(): Promise<EventLogState>;
  /** The events after a position; reads only as many as fit into the limits, whether they match or not. */
  after(lane: ReadLane, position: bigint, filter: EventFilter): Promise<TailPart>;
}
