import { LEADER_LIMITS, type LeaderLimits, StreamLeader } from './stream-leader.js';
import type { Letter, NewsLetter, StreamFailure, TabLetter, Want } from './stream-letters.js';
import type { StreamSource } from './stream-source.js';
import type { TabBus } from './tab-bus.js';

/** Number of processed messages after which the leader is told so. */
const TAKEN_AT_ONCE = 16;

/** Receiver of a stream. */
export interface StreamListener {
  /** Position of the last message that it processed. It ignores messages up to it, which it may get again. */
  position(): bigint | undefined;
  /** It receives everything after this position. Messages that were incomplete are not continued. */
  onAttached(position: bigint | undefined, isLive: boolean): void;
  onMessage(bytes: Uint8Array): void;
  /** The stream will be opened again. */
  onLost(failure: StreamFailure): void;
}

/** A stream that is the same for all tabs. */
export interface StreamRequest {
  /** Name of the source. */
  readonly source: string;
  readonly request: Uint8Array;
}

interface Subscription {
  readonly stream: StreamRequest;
  readonly listener: StreamListener;
  untold: number;
}

/**
 * The streams of one tab. Of all tabs that need streams, one is the leader: it opens the streams of all of them. When
 * it no longer needs any, or is closed, another one leads, and all continue by position.
 */
export class StreamTab {
  readonly #subscriptions = new Map<number, Subscription>();
  #last = 0;
  #joined: Promise<void> | undefined;
  #candidacy: AbortController | undefined;
  #leader: StreamLeader | undefined;
  /** Id of the leader whose letters count. */
  #leaderId: string | undefined;
  readonly #knownTabs = new Set<string>();

  constructor(
    private readonly id: string,
    private readonly bus: TabBus,
    private readonly sources: ReadonlyMap<string, StreamSource>,
    private readonly limits: LeaderLimits = LEADER_LIMITS,
  ) {}

  /** Starts to listen. Returns what ends it. */
  subscribe(stream: StreamRequest, listener: StreamListener): () => void {
    const subscription = { stream, listener, untold: 0 };
    this.#add(subscription);
    this.#changed();
    return () => {
      for (const [id, one] of this.#subscriptions) {
        if (one === subscription) this.#subscriptions.delete(id);
      }
      this.#changed();
    };
  }

  /** Opens lost streams again without waiting, if it is this tab that opens them. */
  wake(): void {
    this.#leader?.wake();
  }

  #add(subscription: Subscription): void {
    this.#last += 1;
    this.#subscriptions.set(this.#last, subscription);
  }

  /** Waits until everything that changes at the same time has changed, for example the filters of a page. */
  #changed(): void {
    queueMicrotask(() => void this.#update());
  }

  async #update(): Promise<void> {
    if (this.#subscriptions.size === 0) return this.#resign();
    this.#joined ??= this.bus.join(this.id, (letter) => this.#receive(letter));
    await this.#joined;
    if (this.#subscriptions.size === 0) return;
    if (this.#candidacy === undefined) {
      this.#candidacy = new AbortController();
      const { signal } = this.#candidacy;
      this.bus.elect(() => this.#lead(signal), signal);
    }
    this.#tellWants();
  }

  #lead(signal: AbortSignal): void {
    if (signal.aborted) return;
    const send = (tab: string, letter: NewsLetter): void => {
      if (tab === this.id) this.#receive(letter);
      else this.bus.send(tab, letter);
    };
    // A tab that leads for a second time is another leader.
    const leader = new StreamLeader(
      crypto.getRandomValues(new Uint32Array(4)).join(),
      this.sources,
      send,
      this.limits,
    );
    this.#leader = leader;
    this.#leaderId = leader.id;
    signal.addEventListener('abort', () => {
      leader.stop();
      this.#leader = undefined;
      this.#knownTabs.clear();
    });
    this.bus.announce({ kind: 'lead', leader: leader.id });
    this.#tellWants();
  }

  #resign(): void {
    if (this.#candidacy === undefined) return;
    const wasLeader = this.#leader !== undefined;
    this.#candidacy.abort();
    this.#candidacy = undefined;
    this.#leaderId = undefined;
    if (!wasLeader) this.bus.announce({ kind: 'want', tab: this.id, wants: [] });
  }

  #tellWants(): void {
    const wants = [...this.#subscriptions].map(
      ([subscription, { stream, listener }]): Want => ({
        subscription,
        ...stream,
        after: listener.position(),
      }),
    );
    this.#toLeader({ kind: 'want', tab: this.id, wants });
  }

  #toLeader(letter: TabLetter): void {
    if (this.#leader === undefined) this.bus.announce(letter);
    else this.#serve(this.#leader, letter);
  }

  #receive(letter: Letter): void {
    switch (letter.kind) {
      case 'want':
      case 'taken':
        if (this.#leader !== undefined) this.#serve(this.#leader, letter);
        return;
      case 'lead':
        // There is one leader at a time, so this one led before: its letter is late.
        if (this.#leader !== undefined) return;
        this.#leaderId = letter.leader;
        if (this.#subscriptions.size > 0) this.#tellWants();
        return;
      default:
        // A tab that has just come learns who the leader is from the reply to what it needs.
        if (letter.kind === 'attached' && this.#subscriptions.has(letter.subscription)) {
          this.#leaderId ??= letter.leader;
        }
        if (letter.leader === this.#leaderId) this.#hear(letter);
    }
  }

  #serve(leader: StreamLeader, letter: TabLetter): void {
    const { tab } = letter;
    if (letter.kind === 'taken') {
      leader.taken(tab, letter.subscription, letter.count);
      return;
    }
    leader.want(tab, letter.wants);
    const signal = this.#candidacy?.signal;
    if (tab === this.id || signal === undefined || this.#knownTabs.has(tab)) return;
    this.#knownTabs.add(tab);
    void this.bus.gone(tab, signal).then(() => {
      if (signal.aborted) return;
      this.#knownTabs.delete(tab);
      leader.want(tab, []);
    });
  }

  #hear(letter: NewsLetter): void {
    const subscription = this.#subscriptions.get(letter.subscription);
    if (subscription === undefined) return;
    const { listener } = subscription;
    switch (letter.kind) {
      case 'attached':
        listener.onAttached(letter.position, letter.isLive);
        return;
      case 'lost':
        listener.onLost(letter.failure);
        return;
      case 'dropped':
        this.#subscriptions.delete(letter.subscription);
        subscription.untold = 0;
        this.#add(subscription);
        this.#tellWants();
        return;
      default:
        listener.onMessage(letter.bytes);
        subscription.untold += 1;
        if (subscription.untold < TAKEN_AT_ONCE) return;
        this.#toLeader({
          kind: 'taken',
          tab: this.id,
          subscription: letter.subscription,
          count: subscription.untold,
        });
        subscription.untold = 0;
    }
  }
}
