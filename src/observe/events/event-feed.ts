import { draining } from '../../contract/errors/draining.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { unavailable } from '../../storage/database/errors.js';
import { LiveEvents } from './live-events.js';
import type { RecentLimits } from './recent-events.js';
import type { EventTail } from './store/event-tail.js';

export interface EventFeedOptions {
  readonly tail: EventTail;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
  readonly log: { error(facts: object, message: string): void };
  /** Starts to store events that this process has recorded and not stored yet. Called at each poll. */
  readonly storeRecorded?: () => void;
  readonly limits?: Partial<FeedLimits>;
}

/** Bounds of a feed. */
export interface FeedLimits {
  readonly watchers: number;
  /** Milliseconds between two reads while this process stores nothing. */
  readonly pollMs: number;
  readonly recent: RecentLimits;
}

export const FEED_LIMITS: FeedLimits = {
  // At 15,000 events a second each of them filters as many; more would cost more than storing them.
  watchers: 1_000,
  // Delay of events stored by other processes. A notification on PostgreSQL would be faster, but would make
  // all commits of events and of controls wait for each other.
  pollMs: 250,
  // Seconds of events at full speed; streams further behind read from the database.
  recent: { events: 20_000, octets: 32 * 1024 * 1024 },
};

/**
 * Reads the end of the event log for all streams of this process: once for each of its own commits, and every
 * `pollMs` for those of others. Then it has this process store its own, too, so that streams need not wait for the
 * interval of the recorder. Idle without watchers.
 */
export class EventFeed {
  readonly #options: EventFeedOptions;
  readonly #limits: FeedLimits;
  #watchers = 0;
  #live: LiveEvents | null = null;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #closed = false;

  constructor(options: EventFeedOptions) {
    this.#options = options;
    this.#limits = { ...FEED_LIMITS, ...options.limits };
  }

  /** Number of open streams. */
  get watchers(): number {
    return this.#watchers;
  }

  /**
   * Joins the feed; `leave` must be called afterwards. The result includes every event committed before the
   * call. Rejects with SERVICE_UNAVAILABLE.
   */
  async join(): Promise<LiveEvents> {
    if (this.#closed) throw shuttingDown();
    if (this.#watchers >= this.#limits.watchers) throw unavailable('Too many streams tell of events.');
    this.#watchers += 1;
    try {
      await this.#refresh();
      const live = this.#live;
      if (live === null) throw shuttingDown();
      this.#timer ??= this.#startPolling();
      return live;
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  leave(): void {
    this.#watchers -= 1;
    if (this.#watchers === 0) this.#forget();
  }

  /** Called after this process has stored events. */
  committed(): void {
    // Without streams there is nothing to update; joining reads.
    if (this.#live !== null) this.#refresh().catch(() => {});
  }

  /** Ends every stream with DRAINING, and rejects new ones. */
  close(): void {
    this.#closed = true;
    this.#live?.fail(shuttingDown());
    this.#forget();
  }

  #startPolling(): NodeJS.Timeout {
    const timer = setInterval(() => {
      this.#options.storeRecorded?.();
      if (this.#reading === null) this.#refresh().catch(() => {});
    }, this.#limits.pollMs);
    return timer.unref();
  }

  #forget(): void {
    this.#live = null;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Reads new events; a running read may have begun too early, so another one follows it. */
  #refresh(): Promise<void> {
    if (this.#reading === null) return this.#read();
    this.#next ??= this.#reading
      .catch(() => {})
      .then(() => {
        this.#next = null;
        return this.#read();
      });
    return this.#next;
  }

  #read(): Promise<void> {
    this.#reading = this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const { tail, now, log } = this.#options;
    const startedAtMs = now();
    if (this.#live === null) {
      const state = await tail.state();
      // All of them may have left in the meantime.
      if (this.#watchers > 0 && !this.#closed)
        this.#live = new LiveEvents(state, startedAtMs, this.#limits.recent);
      return;
    }
    const live = this.#live;
    try {
      for (let more = true; more && live === this.#live; ) {
        const atMs = now();
        const part = await tail.after('statistics', live.position, { namespace: 'all' });
        live.take(part, atMs);
        more = part.upTo < part.head;
      }
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE') throw error;
      // It would be read repeatedly. Later streams begin after it.
      log.error({ err: error }, 'stored events cannot be read; the streams that tell of them end');
      live.fail(error as Error);
      if (live === this.#live) this.#forget();
      throw error;
    }
  }
}

function shuttingDown(): ServiceError {
  return draining('Call again, with the position of the last message.');
}
