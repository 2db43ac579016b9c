import type { CallClass } from './call-class.js';

/** How often the event loop is asked how late it is, in milliseconds. */
const SAMPLE_INTERVAL_MS = 100;
/** Late samples in a row that make an overload: one alone is a pause, of the garbage collector for instance. */
const LATE_SAMPLES = 2;
/** Samples in a row below half the limit that end it: about a second, so that it does not end and begin all the time. */
const GOOD_SAMPLES = 10;

/** At which part of the limit calls of each class are refused: the less urgent, the earlier. */
const LIMIT_SHARES: Readonly<Record<CallClass, number>> = { evaluation: 1, keyed: 0.5, public: 0.125 };

/** Whether the process has more to do than it can. */
export interface LoadState {
  /** Whether it is too late for calls of a class. */
  refuses(callClass: CallClass): boolean;
}

/** What the shedder measures with; tests bring their own. */
export interface ShedderClock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls `tick` about every `ms` milliseconds until the returned function is called. */
  every(ms: number, tick: () => void): () => void;
}

export interface LoadShedder extends LoadState {
  /** How late the event loop was last time, in milliseconds. */
  readonly delayMs: number;
  stop(): void;
}

const PROCESS_CLOCK: ShedderClock = {
  now: () => performance.now(),
  every(ms, tick) {
    const timer = setInterval(tick, ms).unref();
    return () => clearInterval(timer);
  },
};

/**
 * Watches how late the event loop gets to its timers, which is what every request waits for. At `limitMs` (0: never)
 * evaluations are refused, other calls at a part of it, until the delay has stayed below half of that for a while. A
 * timer whose time is long over counts, too: Node.js may run other timers again and again before it.
 */
export function createLoadShedder(limitMs: number, clock: ShedderClock = PROCESS_CLOCK): LoadShedder {
  const overloads = {
    evaluation: new Overload(limitMs * LIMIT_SHARES.evaluation),
    keyed: new Overload(limitMs * LIMIT_SHARES.keyed),
    public: new Overload(limitMs * LIMIT_SHARES.public),
  };
  let last = clock.now();
  let delayMs = 0;

  const stop = clock.every(SAMPLE_INTERVAL_MS, () => {
    const now = clock.now();
    delayMs = Math.max(0, now - last - SAMPLE_INTERVAL_MS);
    last = now;
    if (limitMs === 0) return;
    for (const overload of Object.values(overloads)) overload.sample(delayMs);
  });

  /** How late the timer is that has not come yet, in milliseconds. */
  const overdueMs = (): number => clock.now() - last - SAMPLE_INTERVAL_MS;

  return {
    refuses(callClass) {
      if (limitMs === 0) return false;
      const overload = overloads[callClass];
      return overload.isOn || overdueMs() >= LATE_SAMPLES * overload.limitMs;
    },
    get delayMs() {
      return Math.max(delayMs, overdueMs());
    },
    stop,
  };
}

/** Begins after samples above a limit and ends after samples well below it. */
class Overload {
  readonly limitMs: number;
  isOn = false;
  #late = 0;
  #good = 0;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
  }

  sample(delayMs: number): void {
    this.#late = delayMs >= this.limitMs ? this.#late + 1 : 0;
    this.#good = delayMs < this.limitMs / 2 ? this.#good + 1 : 0;
    if (this.#late >= LATE_SAMPLES) this.isOn = true;
    else if (this.#good >= GOOD_SAMPLES) this.isOn = false;
  }
}
