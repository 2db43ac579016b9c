import type { CallClass } from './call-class.js';

/** Interval at which the delay of the event loop is measured, in milliseconds. */
const SAMPLE_INTERVAL_MS = 100;
/** Late samples in a row that count as overload: a single one may be a garbage collection pause. */
const LATE_SAMPLES = 2;
/** Samples in a row below half the limit that end an overload: about a second, to avoid flapping. */
const GOOD_SAMPLES = 10;

/** Fraction of the limit at which calls of each class are refused: lower for less urgent ones. */
const LIMIT_SHARES: Readonly<Record<CallClass, number>> = { evaluation: 1, keyed: 0.5, public: 0.125 };

/** Whether the process is overloaded. */
export interface LoadState {
  /** Whether calls of a class are refused. */
  refuses(callClass: CallClass): boolean;
}

/** Clock and timer of the shedder; replaced in tests. */
export interface ShedderClock {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Calls `tick` about every `ms` milliseconds until the returned function is called. */
  every(ms: number, tick: () => void): () => void;
}

export interface LoadShedder extends LoadState {
  /** Last measured delay of the event loop, in milliseconds. */
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
 * Measures how late the event loop runs its timers, which is how long every request waits. At `limitMs` (0:
 * never) evaluations are refused, other calls at a fraction of it, until the delay has stayed below half of
 * that for a while. An overdue timer counts too: Node.js may run other timers repeatedly before it.
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

  /** How overdue the pending timer is, in milliseconds. */
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

/** Starts after samples above a limit and ends after samples well below it. */
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
