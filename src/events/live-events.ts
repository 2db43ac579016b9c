import { type ControlEvent, shownEvent } from './event.js';
import { MESSAGE_LIMITS } from './event-part.js';
import type { EventLogState, TailEvent, TailPart } from './event-tail.js';
import { RecentEvents, type RecentLimits } from './recent-events.js';

/** Streams woken before anything else gets its turn: evaluations must not wait for a thousand messages. */
const WAKE_BATCH = 8;
/** Messages kept for streams with the same filters at the same position; nearly all of those that keep up are at one. */
const MAX_SHARED_MESSAGES = 64;

/** What a stream filters by. */
export interface EventSieve {
  /** The same for sieves that let the same events through. */
  readonly key: string;
  passes(event: ControlEvent): boolean;
}

/** What is new to a stream. */
export interface EventNews {
  /** Null when nothing passes. */
  readonly message: object | null;
  /** Whatever comes up to here, the stream knows it then. */
  readonly upTo: bigint;
}

/**
 * What all streams of a process know of the end of the log: the latest events, how far they are read, and who waits
 * for the next ones. A stream itself is no more than a position, however slowly it is read.
 */
export class LiveEvents {
  readonly #limits: RecentLimits;
  #recent: RecentEvents;
  #currentAtMs: number;
  #restorations = 0;
  #deletedUpTo = 0n;
  readonly #messages = new Map<string, EventNews>();
  readonly #waiting = new Set<() => void>();
  readonly #called = new Set<() => void>();
  #waking = false;
  /** Why every stream has to end; null while they may go on. */
  failure: Error | null = null;

  /** Starts with nothing, at the end of the log as it was at `atMs`. */
  constructor({ head }: EventLogState, atMs: number, limits: RecentLimits) {
    this.#limits = limits;
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

  /** How often the log was found to end before a position that was known. */
  get restorations(): number {
    return this.#restorations;
  }

  /** Events up to this position may have been deleted before they were read here; 0 when none were. */
  get deletedUpTo(): bigint {
    return this.#deletedUpTo;
  }

  /** Takes what was read after its position at `atMs`. */
  take(part: TailPart, atMs: number): void {
    const { head, prunedPosition } = part;
    const known = this.position;
    if (head < known) {
      this.#restorations += 1;
      this.#deletedUpTo = 0n;
      this.#recent = new RecentEvents(head, this.#limits);
    } else {
      if (prunedPosition > known) this.#deletedUpTo = prunedPosition;
      this.#recent.append(part);
    }
    if (part.upTo === head) this.#currentAtMs = atMs;
    if (this.position === known) return;
    this.#messages.clear();
    this.#wake();
  }

  /** The events after a position that pass; undefined when some of those after it are not held any more. */
  newsAfter(position: bigint, sieve: EventSieve): EventNews | undefined {
    const key = `${position} ${sieve.key}`;
    const shared = this.#messages.get(key);
    if (shared !== undefined) return shared;
    const run = this.#recent.after(position, MESSAGE_LIMITS);
    if (run === undefined) return undefined;
    const passed = run.events.filter(({ event }) => sieve.passes(event));
    const news = { message: passed.length === 0 ? null : eventMessage(passed, run.upTo), upTo: run.upTo };
    // Most have nothing to be shared.
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
    if (this.#waking) return;
    this.#waking = true;
    setImmediate(() => this.#wakeSome());
  }

  #wakeSome(): void {
    let left = WAKE_BATCH;
    for (const wake of this.#called) {
      if (left === 0) break;
      left -= 1;
      this.#called.delete(wake);
      wake();
    }
    this.#waking = this.#called.size > 0;
    if (this.#waking) setImmediate(() => this.#wakeSome());
  }
}

/** A message that tells of events. */
export function eventMessage(events: readonly TailEvent[], upTo: bigint): object {
  return {
    position: upTo,
    events: { events: events.map(({ position, event }) => ({ position, event: shownEvent(event) })) },
  };
}
