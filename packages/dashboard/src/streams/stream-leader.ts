import { FEED_TIMES, Feed, type FeedTimes } from './feed.js';
import type { NewsLetter, Want } from './stream-letters.js';
import { SLOT_LIMITS, type SlotLimits, StreamSlots } from './stream-slots.js';
import type { StreamSource, StreamStep } from './stream-source.js';

/** Most messages that a tab has not processed yet. A message has at most about 256 KiB. */
const MAX_UNPROCESSED = 64;

/** Limits of a leader; others than the usual ones are for tests. */
export interface LeaderLimits {
  readonly slots: SlotLimits;
  readonly times: FeedTimes;
  readonly maxUnprocessed: number;
}

export const LEADER_LIMITS: LeaderLimits = {
  slots: SLOT_LIMITS,
  times: FEED_TIMES,
  maxUnprocessed: MAX_UNPROCESSED,
};

interface Subscriber {
  readonly tab: string;
  readonly subscription: number;
  feed: Feed;
  unprocessed: number;
}

type News = NewsLetter extends infer L
  ? L extends NewsLetter
    ? Omit<L, 'leader' | 'subscription'>
    : never
  : never;

/**
 * The streams of all tabs, opened by one of them. Listeners of the same request share a feed. One that is behind the
 * others gets a feed of its own until it has caught up, so that none misses a message or waits for another one.
 */
export class StreamLeader {
  readonly #feeds = new Set<Feed>();
  readonly #subscribers = new Map<string, Subscriber>();
  readonly #slots: StreamSlots<Feed>;

  constructor(
    readonly id: string,
    private readonly sources: ReadonlyMap<string, StreamSource>,
    private readonly send: (tab: string, letter: NewsLetter) => void,
    private readonly limits: LeaderLimits = LEADER_LIMITS,
  ) {
    this.#slots = new StreamSlots(limits.slots);
  }

  /** Everything that a tab needs from now on. */
  want(tab: string, wants: readonly Want[]): void {
    const wanted = new Set(wants.map(({ subscription }) => idOf(tab, subscription)));
    for (const [id, subscriber] of this.#subscribers) {
      if (subscriber.tab === tab && !wanted.has(id)) this.#remove(id, subscriber);
    }
    for (const want of wants) {
      if (!this.#subscribers.has(idOf(tab, want.subscription))) this.#add(tab, want);
    }
  }

  /** A tab has processed messages. */
  taken(tab: string, subscription: number, count: number): void {
    const subscriber = this.#subscribers.get(idOf(tab, subscription));
    if (subscriber !== undefined) subscriber.unprocessed -= count;
  }

  /** Opens lost streams again without waiting. */
  wake(): void {
    for (const feed of this.#feeds) feed.wake();
  }

  /** Ends all streams. */
  stop(): void {
    this.#subscribers.clear();
    for (const feed of this.#feeds) this.#close(feed);
  }

  #add(tab: string, { subscription, source: name, request, after }: Want): void {
    const source = this.sources.get(name);
    if (source === undefined) return;
    const key = `${name} ${request.join()}`;
    const feed = this.#feedFor(key, source, after) ?? this.#open(key, source, request, after);
    const subscriber = { tab, subscription, feed, unprocessed: 0 };
    this.#subscribers.set(idOf(tab, subscription), subscriber);
    this.#attached(subscriber);
  }

  /** The most advanced feed that misses nothing for a listener with this position. */
  #feedFor(key: string, source: StreamSource, after: bigint | undefined): Feed | undefined {
    let best: Feed | undefined;
    for (const feed of this.#feeds) {
      if (feed.key !== key || !feed.isWhole) continue;
      const { position } = feed;
      const fits =
        after === undefined
          ? // Not one that is behind: the listener needs what comes from now on.
            position === undefined || (source.isJoinable && feed.isCurrent)
          : // Also not one with a lower position: the server may have gone back to it, which only a stream of its own tells.
            position === after;
      if (fits && (best?.position ?? -1n) <= (position ?? -1n)) best = feed;
    }
    return best;
  }

  #open(key: string, source: StreamSource, request: Uint8Array, after: bigint | undefined): Feed {
    const events = {
      onStep: (feed: Feed, step: StreamStep) => this.#passOn(feed, step),
      onLost: (feed: Feed) => this.#tellAll(feed, { kind: 'lost', failure: feed.failure ?? NO_FAILURE }),
    };
    const feed = new Feed(key, source, request, after, events, this.limits.times);
    this.#feeds.add(feed);
    this.#slots.add(feed);
    return feed;
  }

  #passOn(feed: Feed, { bytes }: StreamStep): void {
    for (const subscriber of this.#of(feed)) {
      subscriber.unprocessed += 1;
      if (subscriber.unprocessed <= this.limits.maxUnprocessed) {
        this.#tell(subscriber, { kind: 'message', bytes });
        continue;
      }
      this.#tell(subscriber, { kind: 'dropped' });
      this.#remove(idOf(subscriber.tab, subscriber.subscription), subscriber);
    }
    this.#merge(feed);
  }

  /** Lets the listeners of a feed that has caught up with another one continue there. */
  #merge(feed: Feed): void {
    const { position } = feed;
    if (position === undefined || !feed.isWhole || !this.#feeds.has(feed)) return;
    for (const other of this.#feeds) {
      if (other === feed || other.key !== feed.key || !other.isCurrent || !other.isWhole) continue;
      if (other.position === undefined || other.position > position) continue;
      for (const subscriber of this.#of(feed)) {
        subscriber.feed = other;
        this.#attached(subscriber);
      }
      this.#close(feed);
      return;
    }
  }

  #attached(subscriber: Subscriber): void {
    const { feed } = subscriber;
    const isLive = feed.hasStarted && feed.failure === undefined;
    this.#tell(subscriber, { kind: 'attached', position: feed.position, isLive });
    if (feed.failure !== undefined) this.#tell(subscriber, { kind: 'lost', failure: feed.failure });
  }

  #remove(id: string, { feed }: Subscriber): void {
    this.#subscribers.delete(id);
    if (this.#of(feed).length === 0) this.#close(feed);
  }

  #close(feed: Feed): void {
    this.#feeds.delete(feed);
    this.#slots.remove(feed);
  }

  #of(feed: Feed): Subscriber[] {
    return [...this.#subscribers.values()].filter((subscriber) => subscriber.feed === feed);
  }

  #tellAll(feed: Feed, news: News): void {
    for (const subscriber of this.#of(feed)) this.#tell(subscriber, news);
  }

  #tell({ tab, subscription }: Subscriber, news: News): void {
    this.send(tab, { leader: this.id, subscription, ...news });
  }
}

const NO_FAILURE = { code: 2, message: '' };

function idOf(tab: string, subscription: number): string {
  return `${tab} ${subscription}`;
}
