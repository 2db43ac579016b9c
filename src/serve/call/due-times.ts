import { LONGEST_TIMER_MS } from '../../contract/call/time-limited.js';

/** A clock and its timers. */
export interface Timers {
  /** Monotonic, in milliseconds. */
  now(): number;
  /** Calls `run` once after `ms`. Returns a function that prevents it. */
  start(run: () => void, ms: number): () => void;
}

/** The timers of Node.js; they do not keep the process alive. */
export const nodeTimers: Timers = {
  now: () => performance.now(),
  start(run, ms) {
    // What is overdue has a negative time, of which later versions of Node.js warn.
    const timer = setTimeout(run, Math.max(0, ms)).unref();
    return () => clearTimeout(timer);
  },
};

/** Entries that are due within this time share one timer, in milliseconds; they are at most this late. */
export const TICK_MS = 100;

interface Entry {
  readonly run: () => void;
}

/**
 * Calls functions at their time, with a single timer for any number of them: connections and streams have ages, and
 * there may be tens of thousands.
 */
export class DueTimes {
  readonly #timers: Timers;
  /** By tick, counted from the start of the clock. */
  readonly #ticks = new Map<number, Set<Entry>>();
  #nextTick = Number.POSITIVE_INFINITY;
  #stopTimer: (() => void) | undefined;

  constructor(timers: Timers = nodeTimers) {
    this.#timers = timers;
  }

  now(): number {
    return this.#timers.now();
  }

  /** Calls `run` after `ms`, never if that is infinite. Returns a function that prevents it. */
  after(ms: number, run: () => void): () => void {
    if (ms === Number.POSITIVE_INFINITY) return () => {};
    const tick = Math.ceil((this.#timers.now() + Math.max(0, ms)) / TICK_MS);
    const entries = this.#ticks.get(tick) ?? new Set();
    const entry: Entry = { run };
    entries.add(entry);
    this.#ticks.set(tick, entries);
    if (tick < this.#nextTick) this.#wakeAt(tick);
    return () => {
      entries.delete(entry);
      if (entries.size === 0 && this.#ticks.get(tick) === entries) this.#ticks.delete(tick);
    };
  }

  #wakeAt(tick: number): void {
    this.#stopTimer?.();
    this.#nextTick = tick;
    const ms = Math.min(LONGEST_TIMER_MS, Math.max(0, tick * TICK_MS - this.#timers.now()));
    this.#stopTimer = this.#timers.start(() => this.#run(), ms);
  }

  #run(): void {
    this.#stopTimer = undefined;
    this.#nextTick = Number.POSITIVE_INFINITY;
    const now = this.#timers.now();
    const due = [...this.#ticks.keys()].filter((tick) => tick * TICK_MS <= now).sort((a, b) => a - b);
    for (const tick of due) {
      const entries = this.#ticks.get(tick);
      this.#ticks.delete(tick);
      // Entries that are removed meanwhile are not run.
      for (const entry of entries ?? []) entry.run();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const tick of this.#ticks.keys()) next = Math.min(next, tick);
    if (next < this.#nextTick) this.#wakeAt(next);
  }
}
