import { createMemoryIds, type MemoryIds } from './keyed-hash.js';
import { MemoryClock } from './memory-clock.js';
import type { MemoryMeter } from './memory-meter.js';
import {
  type ExchangeReply,
  type ExchangeRequest,
  type MemoryStore,
  MemoryStoreError,
  memoryOf,
} from './store/memory-store.js';

/** Time and timers, so that tests have their own. */
export interface MemoryTimes {
  /** Of a monotonic clock, in microseconds. */
  monotonicUs(): number;
  /** In microseconds since 1970. Used only while the store was never reached, for decisions of this process alone. */
  wallUs(): number;
  /** Calls back once; returns a function that cancels it. `keepsAlive`: the process does not end before. */
  after(ms: number, then: () => void, keepsAlive: boolean): () => void;
}

/** Lines of the log about the memory. */
export interface MemoryLog {
  told(level: 'info' | 'warn' | 'error', kind: string, message: string, facts: object): void;
  failed(kind: string, message: string, error: unknown): void;
}

export interface StoreLinkOptions {
  readonly openStore: () => Promise<MemoryStore>;
  readonly times: MemoryTimes;
  readonly log: MemoryLog;
  readonly meter: MemoryMeter;
  /** The store was opened. */
  readonly onOpen: () => void;
  /** The memory was lost or replaced, or its store started again: what is known of it is void. */
  readonly onVoid: () => void;
}

/** The memory was emptied or replaced. */
export class MemoryLostError extends MemoryStoreError {}

const EMPTY: ExchangeRequest = { epoch: null, cells: [], groups: [], rules: [] };

/** The store, opened when it is first needed, and opened anew when opening failed or the memory was replaced. */
export class StoreLink {
  readonly clock = new MemoryClock();
  readonly #options: StoreLinkOptions;
  #store: MemoryStore | null = null;
  #opened: MemoryStore | null = null;
  #opening: Promise<MemoryStore> | null = null;
  #ids: MemoryIds | null = null;
  #hashKey: Uint8Array | null = null;

  constructor(options: StoreLinkOptions) {
    this.#options = options;
  }

  /** Null while the store was never reached. */
  get ids(): MemoryIds | null {
    return this.#ids;
  }

  get hashKey(): Uint8Array | null {
    return this.#hashKey;
  }

  get kind(): MemoryStore['kind'] | null {
    return this.#store?.kind ?? null;
  }

  /** The time of the memory, in microseconds. */
  nowUs(): number {
    const { times } = this.#options;
    return this.clock.now(times.monotonicUs(), times.wallUs());
  }

  /** The opened store. Rejects with a `MemoryStoreError` after `limitMs`. */
  async open(limitMs: number): Promise<MemoryStore> {
    if (this.#opened !== null) return this.#opened;
    this.#opening ??= this.#open();
    return this.inTime(this.#opening, limitMs, 'opened');
  }

  get isOpen(): boolean {
    return this.#opened !== null;
  }

  /** One exchange. Rejects with a `MemoryStoreError` after `limitMs`; whether it was applied is unknown then. */
  async exchange(request: ExchangeRequest, limitMs: number): Promise<ExchangeReply> {
    const { times, meter } = this.#options;
    const store = this.#opened ?? (await this.open(limitMs));
    const sentUs = times.monotonicUs();
    const reply = await this.inTime(store.exchange(request), limitMs, 'answered');
    const receivedUs = times.monotonicUs();
    meter.exchanged((receivedUs - sentUs) / 1e6, request.groups.length);
    const known = this.clock.known?.epoch ?? reply.clock.epoch;
    if (memoryOf(known) !== memoryOf(reply.clock.epoch)) this.#lost(store);
    const jump = this.clock.saw(reply.clock, sentUs, receivedUs);
    if (jump !== null) await this.#compensate(store, jump, limitMs);
    if (known !== reply.clock.epoch) this.#restarted(store);
    return reply;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opened = null;
    this.#opening = Promise.reject(new MemoryStoreError('the memory is closed'));
    this.#opening.catch(() => {});
    const store = await opening?.catch(() => null);
    await store?.close();
  }

  async #open(): Promise<MemoryStore> {
    const { openStore, times } = this.#options;
    try {
      this.#store ??= await openStore();
      const { hashKey } = await this.#store.open();
      const sentUs = times.monotonicUs();
      const { clock } = await this.#store.exchange(EMPTY);
      if (this.clock.known !== null && this.clock.known.epoch !== clock.epoch) this.#options.onVoid();
      this.clock.saw(clock, sentUs, times.monotonicUs());
      this.#ids = createMemoryIds(hashKey);
      this.#hashKey = hashKey;
      this.#opened = this.#store;
      this.#options.onOpen();
      return this.#store;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  /** The key of the hashes may be another one as well. */
  #lost(store: MemoryStore): never {
    const { log, onVoid } = this.#options;
    this.#opening = null;
    this.#opened = null;
    onVoid();
    log.told(
      'error',
      'memory lost',
      'the store of memory was emptied or replaced; all limits and histories begin anew',
      {
        store: store.kind,
      },
    );
    throw new MemoryLostError('the store of memory was emptied or replaced');
  }

  /** What was written last may be gone, as after a failover. Nothing of the exchange was applied: it is repeated. */
  #restarted(store: MemoryStore): never {
    const { log, onVoid } = this.#options;
    onVoid();
    log.told(
      'info',
      'memory restarted',
      'the store of memory was started again, or its tables were rewritten; what is known of it is read anew',
      { store: store.kind },
    );
    throw new MemoryStoreError('the store of memory was started again');
  }

  async #compensate(
    store: MemoryStore,
    { offsetUs, version, jumpedUs }: { offsetUs: number; version: number; jumpedUs: number },
    limitMs: number,
  ): Promise<void> {
    const { log, times } = this.#options;
    try {
      const sentUs = times.monotonicUs();
      const clock = await this.inTime(store.setOffset(offsetUs, version), limitMs, 'answered');
      this.clock.saw(clock, sentUs, times.monotonicUs());
    } catch (error) {
      // It is noticed again with the next exchange; until then time passes by the monotonic clock.
      log.failed('memory clock', 'the offset of the clock of the memory cannot be set now', error);
      return;
    }
    log.told(
      'warn',
      'memory clock',
      'the clock of the store of memory was set; windows go on as if it was not',
      {
        jumpedSeconds: jumpedUs / 1e6,
      },
    );
  }

  async inTime<Value>(promise: Promise<Value>, limitMs: number, done = 'answered'): Promise<Value> {
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      const fail = () =>
        reject(new MemoryStoreError(`the store of memory has not ${done} within ${limitMs} ms`));
      cancel = this.#options.times.after(Math.max(1, limitMs), fail, true);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      cancel();
      // A late failure is no news.
      promise.catch(() => {});
    }
  }
}
