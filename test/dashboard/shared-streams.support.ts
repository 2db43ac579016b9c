import { create, toBinary } from '@bufbuild/protobuf';
import {
  type ControlExecutionEvent,
  FellBehindReason,
  type WatchEventsResponse,
  WatchEventsResponseSchema,
} from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { eventTail, type TailPosition } from '../../packages/dashboard/src/live/event-tail.js';
import type { LeaderLimits } from '../../packages/dashboard/src/streams/stream-leader.js';
import type { Letter } from '../../packages/dashboard/src/streams/stream-letters.js';
import type { StreamSource, StreamStep } from '../../packages/dashboard/src/streams/stream-source.js';
import { StreamTab } from '../../packages/dashboard/src/streams/stream-tab.js';
import type { TabBus } from '../../packages/dashboard/src/streams/tab-bus.js';

export const LIMITS: LeaderLimits = {
  slots: { held: 3, roundMs: 3 },
  times: { silentMs: 60_000, visitMs: 60_000, retryMs: () => 1 },
  maxUnprocessed: 64,
};

/** A server whose events have a kind, which is also the request of a stream. Batches have up to three events. */
export class EventServer {
  readonly #log: { readonly position: bigint; readonly kind: number }[] = [];
  readonly #waiting = new Set<() => void>();
  /** Number of times that all streams were broken. */
  #breaks = 0;
  open = 0;
  mostOpen = 0;
  opened = 0;
  /** No stream can be opened. */
  isDown = false;

  get end(): bigint {
    return BigInt(this.#log.length);
  }

  positionsAfter(position: bigint, kind: number): bigint[] {
    return this.#log.filter((one) => one.position > position && one.kind === kind).map((one) => one.position);
  }

  store(kind: number): void {
    this.#log.push({ position: this.end + 1n, kind });
    this.#wake();
  }

  /** Loses its latest events, as a database that is restored. */
  restore(end: bigint): void {
    this.#log.splice(Number(end));
    this.breakStreams();
  }

  breakStreams(): void {
    this.#breaks += 1;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  readonly source: StreamSource = {
    isJoinable: true,
    open: ([kind = 0], after, signal) => this.#stream(kind, after, signal),
  };

  async *#stream(kind: number, after: bigint | undefined, signal: AbortSignal): AsyncGenerator<StreamStep> {
    this.open += 1;
    this.opened += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    const { isDown } = this;
    const breaks = this.#breaks;
    const stop = () => this.#wake();
    signal.addEventListener('abort', stop);
    try {
      await Promise.resolve();
      if (isDown) throw new Error('down');
      let seen = after ?? this.end;
      if (seen > this.end) {
        seen = this.end;
        const reason = FellBehindReason.DATABASE_RESTORED;
        yield step(seen, { case: 'fellBehind', value: { reason, upToPosition: seen } });
      }
      let owesEnd = true;
      while (!signal.aborted) {
        if (breaks !== this.#breaks) throw new Error('broken');
        const batch = this.positionsAfter(seen, kind).slice(0, 3);
        const last = batch.at(-1);
        if (last !== undefined) {
          seen = last;
          const events = batch.map((position) => ({
            position,
            event: { controlExecutionId: `${position}` },
          }));
          yield step(seen, { case: 'events', value: { events } });
          continue;
        }
        seen = this.end;
        if (owesEnd) yield step(seen, { case: 'heartbeat', value: {} });
        owesEnd = false;
        if (seen < this.end) continue;
        await new Promise<void>((resolve) => {
          this.#waiting.add(resolve);
          if (signal.aborted || breaks !== this.#breaks) resolve();
        });
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.open -= 1;
    }
  }
}

type News = Parameters<typeof create<typeof WatchEventsResponseSchema>>[1] extends infer I
  ? I extends { news?: infer N }
    ? N
    : never
  : never;

function step(position: bigint, news: News): StreamStep {
  const message: WatchEventsResponse = create(WatchEventsResponseSchema, { position, news } as never);
  return {
    position,
    bytes: toBinary(WatchEventsResponseSchema, message),
    isWhole: true,
    isCaughtUp: message.news.case === 'heartbeat',
  };
}

/** A source whose streams end with their tab. */
function endingWith(source: StreamSource, death: AbortSignal): StreamSource {
  return {
    ...source,
    open: (request, after, signal) => source.open(request, after, AbortSignal.any([signal, death])),
  };
}

/** A browser: its tabs, and the lock that makes one of them the leader. */
export class FakeBrowser {
  readonly #receivers = new Map<string, (letter: Letter) => void>();
  readonly #candidates: { readonly tab: string; readonly lead: () => void }[] = [];
  readonly #gone = new Map<string, (() => void)[]>();
  /** Tabs that no longer run: nothing that they do has an effect. */
  readonly #dead = new Set<string>();
  readonly #opened: FakeTab[] = [];
  #leading: string | undefined;
  #tabs = 0;

  constructor(
    private readonly sources: ReadonlyMap<string, StreamSource>,
    private readonly limits: LeaderLimits = LIMITS,
  ) {}

  openTab(): FakeTab {
    this.#tabs += 1;
    const name = `tab-${this.#tabs}`;
    const death = new AbortController();
    const sources = new Map([...this.sources].map(([of, source]) => [of, endingWith(source, death.signal)]));
    const tab = new FakeTab(new StreamTab(name, this.#busOf(name), sources, this.limits), () => {
      death.abort();
      this.#crash(name);
    });
    this.#opened.push(tab);
    return tab;
  }

  /** Ends all tabs, so that nothing of them goes on after a test. */
  close(): void {
    for (const tab of this.#opened) tab.crash();
  }

  /** A tab whose process ends: nothing of it says goodbye. */
  #crash(tab: string): void {
    this.#dead.add(tab);
    this.#receivers.delete(tab);
    this.#leave(tab);
    for (const tell of this.#gone.get(tab) ?? []) tell();
    this.#gone.delete(tab);
  }

  #leave(tab: string): void {
    const at = this.#candidates.findIndex((candidate) => candidate.tab === tab);
    if (at !== -1) this.#candidates.splice(at, 1);
    if (this.#leading === tab) this.#leading = undefined;
    this.#elect();
  }

  #elect(): void {
    setImmediate(() => {
      if (this.#leading !== undefined) return;
      const next = this.#candidates.shift();
      this.#leading = next?.tab;
      next?.lead();
    });
  }

  #post(from: string, to: string, letter: Letter): void {
    const copy = structuredClone(letter);
    if (this.#receivers.has(from)) setImmediate(() => this.#receivers.get(to)?.(copy));
  }

  #busOf(tab: string): TabBus {
    return {
      announce: (letter) => {
        for (const to of this.#receivers.keys()) if (to !== tab) this.#post(tab, to, letter);
      },
      send: (to, letter) => this.#post(tab, to, letter),
      join: async (name, receive) => {
        if (!this.#dead.has(name)) this.#receivers.set(name, receive);
      },
      gone: (name) =>
        new Promise((resolve) => {
          if (!this.#receivers.has(name)) return resolve();
          this.#gone.set(name, [...(this.#gone.get(name) ?? []), resolve]);
        }),
      elect: (lead, signal) => {
        if (this.#dead.has(tab)) return;
        this.#candidates.push({ tab, lead });
        signal.addEventListener('abort', () => this.#leave(tab));
        this.#elect();
      },
    };
  }
}

/** What a page with live events has received. */
export interface FakePage {
  /** Ids of the events, which are their positions. */
  readonly received: string[];
  readonly notices: string[];
  readonly position: TailPosition;
  /** Position that it started after; known when it is connected. */
  readonly start: () => bigint | undefined;
  readonly isConnected: () => boolean;
  readonly end: () => void;
}

export class FakeTab {
  readonly #pages: FakePage[] = [];

  constructor(
    private readonly streams: StreamTab,
    private readonly die: () => void,
  ) {}

  crash(): void {
    this.die();
    // What a process does ends with it. This is without effect outside of the tab, which is dead.
    for (const page of this.#pages.splice(0)) page.end();
  }

  /** Opens a page with the events of a kind: from now on, or after a position. */
  watch(kind: number, after?: bigint): FakePage {
    const received: string[] = [];
    const notices: string[] = [];
    const position: TailPosition = { value: after };
    let isConnected = false;
    let start = after;
    const tail = eventTail(position, {
      onEvents: (events: readonly ControlExecutionEvent[]) => {
        received.push(...events.map((event) => event.controlExecutionId ?? ''));
      },
      onConnected: () => {
        isConnected = true;
      },
      onLost: () => {
        isConnected = false;
      },
      onNotice: (text) => notices.push(text),
    });
    const end = this.streams.subscribe(
      { source: 'events', request: Uint8Array.of(kind) },
      {
        ...tail,
        onAttached: (at, isLive) => {
          tail.onAttached(at, isLive);
          start ??= position.value;
        },
        onMessage: (bytes) => {
          tail.onMessage(bytes);
          // The first message of a stream from now on has the position of its start.
          start ??= position.value;
        },
      },
    );
    const page = { received, notices, position, start: () => start, isConnected: () => isConnected, end };
    this.#pages.push(page);
    return page;
  }
}
