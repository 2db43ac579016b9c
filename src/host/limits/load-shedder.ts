import type { LoadState } from './call-gate.js';

/** How often the event loop is asked how late it is, in milliseconds. */
const SAMPLE_INTERVAL_MS = 100;
/** Late samples in a row that make an overload: one alone is a pause, of the garbage collector for instance. */
const LATE_SAMPLES = 2;
/** Samples in a row below half the limit that end it: about a second, so that it does not end and begin all the time. */
const GOOD_SAMPLES = 10;

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
 * and above it the process counts as overloaded until the delay has stayed below half of that for a while. A timer
 * whose time is long over counts, too: Node.js may run other timers again and again before it.
 */
export function createLoadShedder(limitMs: number, clock: ShedderClock = PROCESS_CLOCK): LoadShedder {
  let last = clock.now();
  let delayMs = 0;
  let late = 0;
  let good = 0;
  let isOverloaded = false;

  const stop = clock.every(SAMPLE_INTERVAL_MS, () => {
    const now = clock.now();
    delayMs = Math.max(0, now - last - SAMPLE_INTERVAL_MS);
    last = now;
    if (limitMs === 0) return;
    late = delayMs >= limitMs ? late + 1 : 0;
    good = delayMs < limitMs / 2 ? good + 1 : 0;
    if (late >= LATE_SAMPLES) isOverloaded = true;
    else if (good >= GOOD_SAMPLES) isOverloaded = false;
  });

  /** How late the timer is that has not come yet, in milliseconds. */
  const overdueMs = (): number => clock.now() - last - SAMPLE_INTERVAL_MS;

  return {
    get isOverloaded() {
      return isOverloaded || (limitMs > 0 && overdueMs() >= LATE_SAMPLES * limitMs);
    },
    get delayMs() {
      return Math.max(delayMs, overdueMs());
    },
    stop,
  };
}
