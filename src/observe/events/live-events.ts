import { createWakeTurns } from '../../contract/call/wake-turns.js';
import { RecentEvents, type RecentLimits } from './recent-events.js';
import { type ControlEvent, shownEvent } from './store/event.js';
import { type EventLogState, MESSAGE_LIMITS, type TailEvent, type TailPart } from './store/event-tail.js';

/** Messages cached for streams with the same filters and position; nearly all that keep up share one. */
const MAX_SHARED_MESSAGES = 64;

/** Filter of a stream. */
export interface EventSieve {
  /** Equal for sieves that pass the same events. */
  readonly key: string;
  passes(event: ControlEvent): boolean;
}

/** News for a stream. */
export interface EventNews {
  /** Null when nothing passes. */
  readonly message: object | null;
  /** After this message the stream has received everything up to here. */
  readonly upTo: bigint;
}

/**
 * Shared state of all streams of a process: the latest events, the position up to which they are read, and
 * the waiting streams. The only state of a stream itself is a position, however slowly it is read.
 */
export class LiveEvents {
  readonly #limits: RecentLimits;
  #recent: RecentEvents;
  #currentAtMs: number;
  #restorations = 0;
  #restored: EventLogState['restored'];
  #deletedUpTo = 0n;
  readonly #messages = new Map<string, EventNews>();
  readonly #waiting = new Set<() => void>();
  readonly #called = new Set<() => void>();
  readonly #wakeReaders = createWakeTurns((batch) => this.#wakeSome(batch));
  /** Why every stream has to end; null while they may continue. */
  failure: Error | null = null;

  /** Starts empty, at the end of the log as of `atMs`. */
  constructor({ head, restored }: EventLogState, atMs: number, limits: RecentLimits) {
    this.#limits = limits;
    this.#restored = restored;
    this.#recent = new RecentEvents(head, limits);
    this.#currentAtMs = atMs;
  }

  /** Every event up to this position is known. */
  get position(): bigint {
    return this.#recent.upTo;
  }

  /** When it was last known that there is no later event, in milliseconds of the clock of `take`. */
  get currentAtMs(): number {
    return this.#currentAtMs;
  }

  /** Number of times the log was found to be of an earlier state than a known position. */
  get restorations(): number {
    return this.#restorations;
  }

  /** Whether a position was given away by a state of the database that was replaced by an earlier one. */
  isOfReplacedState(position: bigint): boolean {
    const { from, to } = this.#restored;
    return position > this.position || (position > from && position < to);
  }

  /** Events up to this position may have been deleted before they were read here; 0 when none were. */
  get deletedUpTo(): bigint {
    return this.#deletedUpTo;
  }

  /** Adds the part read after its position at `atMs`. */
  take(part: TailPart, atMs: number): void {
    const { head, prunedPosition, restored } = part;
    const known = this.position;
    const isReplaced = restored.to !== this.#restored.to && known > restored.from;
    this.#restored = restored;
    if (head < known || isReplaced) {
      this.#restorations += 1;
      this.#deletedUpTo = 0n;
      this.#recent = new RecentEvents(part.upTo, this.#limits);
    } else {
      if (prunedPosition > known) this.#deletedUpTo = prunedPosition;
      this.#recent.append(part);
    }
    if (part.upTo === head) this.#currentAtMs = atMs;
    if (this.position === known) return;
    this.#messages.clear();
    this.#wake();
  }

  /** The matching events after a position; undefined when some after it were evicted. */
  newsAfter(position: bigint, sieve: EventSieve): EventNews | undefined {
    const key = `${position} ${sieve.key}`;
    const shared = this.#messages.get(key);
    if (shared !== undefined) return shared;
    const run = this.#recent.after(position, MESSAGE_LIMITS);
    if (run === undefined) return undefined;
    const passed = run.events.filter(({ event }) => sieve.passes(event));
    const news = { message: passed.length === 0 ? null : eventMessage(passed, run.upTo), upTo: run.upTo };
    // Most have no message to share.
    if (news.message !== null && this.#messages.size < MAX_SHARED_MESSAGES) this.#messages.set(key, news);
    return news;
  }

  /** Ends every stream. */
  fail(error: Error): void {
    this.failure ??= error;
    this.#wake();
  }

  /** Calls `wake` once, after the next events or when the streams have to end. */
  wait(wake: () => void): void {
    this.#waiting.add(wake);
  }

  stopWaiting(wake: () => void): void {
    this.#waiting.delete(wake);
    this.#called.delete(wake);
  }

  #wake(): void {
    for (const wake of this.#waiting) this.#called.add(wake);
    this.#waiting.clear();
    this.#wakeReaders();
  }

  #wakeSome(batch: number): boolean {
    let left = batch;
    for (const wake of this.#called) {
      if (left === 0) break;
      left -= 1;
      this.#called.delete(wake);
      wake();
    }
    return this.#called.size > 0;
  }
}

/** A message with events. */
export function eventMessage(events: readonly TailEvent[], upTo: bigint): object {
  return {
    position: upTo,
    events: { events: events.map(({ position, event }) => ({ position, event: shownEvent(event) })) },
  };
}
