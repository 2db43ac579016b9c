import { DueTimes, type Timers } from '../../src/serve/call/due-times.js';
import { LongStreams, type StreamAges } from '../../src/serve/call/long-streams.js';
import type { Withdrawals } from '../../src/serve/call/withdrawals.js';

/** No key is ever withdrawn. */
export const NO_WITHDRAWALS: Withdrawals = { watch: () => () => {} };

/** Streams that are not asked to end, unless by `drain`. */
export function agelessStreams(): LongStreams {
  return new LongStreams(new DueTimes(), { maxAgeMs: Number.POSITIVE_INFINITY, graceMs: 0 });
}

/** A clock that a test advances, and its timers. */
export interface ManualTimers extends Timers {
  /** Number of timers that run. */
  readonly running: number;
  /** Lets time pass; timers run at their time. */
  advance(ms: number): void;
}

export function manualTimers(): ManualTimers {
  const timers = new Map<object, { readonly atMs: number; readonly run: () => void }>();
  let nowMs = 0;
  return {
    now: () => nowMs,
    start(run, ms) {
      const key = {};
      timers.set(key, { atMs: nowMs + ms, run });
      return () => timers.delete(key);
    },
    get running() {
      return timers.size;
    },
    advance(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers].sort(([, a], [, b]) => a.atMs - b.atMs);
        if (next === undefined || next[1].atMs > untilMs) break;
        nowMs = next[1].atMs;
        timers.delete(next[0]);
        next[1].run();
      }
      nowMs = untilMs;
    },
  };
}

/** Streams with ages on a clock of the test's own; ages have no jitter. */
export function agingStreams(ages: StreamAges) {
  const timers = manualTimers();
  return { timers, streams: new LongStreams(new DueTimes(timers), ages, () => 0.5) };
}
