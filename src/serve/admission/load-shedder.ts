import { openSync, readSync } from 'node:fs';
import type { CallClass } from './call-class.js';

/** Interval at which the delay of the event loop is measured, in milliseconds. */
const SAMPLE_INTERVAL_MS = 100;
/** Late samples in a row that count as overload: a single one may be a garbage collection pause. */
const LATE_SAMPLES = 2;
/** Samples in a row below half the limit that end an overload: about a second, to avoid flapping. */
const GOOD_SAMPLES = 10;
/** A loop that idles for less than this share of the time that it has a processor for is taken to the full. */
const FULL_IDLE_SHARE = 0.05;
/** After this long at the full, in milliseconds, it does not matter that others keep the machine busy: more comes than is done. */
const FULL_MS = 3_000;
/** Fewer calls than these a second are no reason for it: refusing them gains nothing. */
const CROWD_PER_SECOND = 50;

/** Fraction of the limit at which calls of each class are refused: lower for less urgent ones. */
const LIMIT_SHARES: Readonly<Record<CallClass, number>> = { evaluation: 1, keyed: 0.5, public: 0.125 };

/** Whether the process is overloaded. */
export interface LoadState {
  /** Whether calls of a class are refused. */
  refuses(callClass: CallClass): boolean;
}

/** Clock and timer of the shedder; replaced in tests. */
interface ShedderClock {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Calls `tick` about every `ms` milliseconds until the returned function is called. */
  every(ms: number, tick: () => void): () => void;
  readonly use: ProcessorUse;
}

export interface LoadShedder extends LoadState {
  /** Last measured delay of the event loop, in milliseconds. */
  readonly delayMs: number;
  stop(): void;
}

function processClock(): ShedderClock {
  return {
    now: () => performance.now(),
    every(ms, tick) {
      const timer = setInterval(tick, ms).unref();
      return () => clearInterval(timer);
    },
    use: createProcessorUse(),
  };
}

/**
 * Measures how late the event loop runs its timers, which is how long every request waits. At `limitMs` (0:
 * never) evaluations are refused, other calls at a fraction of it, until the delay has stayed below half of
 * that for a while. An overdue timer counts too: Node.js may run other timers repeatedly before it.
 *
 * A delay in which the thread waited for a processor is no overload: other programs keep the machine busy, and refusing calls
 * would not make it faster. It is one if many calls came and the loop has had no pause for some seconds.
 */
export function createLoadShedder(limitMs: number, clock: ShedderClock = processClock()): LoadShedder {
  const overloads = {
    evaluation: new Overload(limitMs * LIMIT_SHARES.evaluation),
    keyed: new Overload(limitMs * LIMIT_SHARES.keyed),
    public: new Overload(limitMs * LIMIT_SHARES.public),
  };
  const { use } = clock;
  let last = clock.now();
  let lastWaitedMs = use.waitedMs();
  let lastIdleMs = use.idleMs();
  let fullSince = last;
  let delayMs = 0;
  let asked = 0;

  /** The delay without the time in which others had the processors, unless more comes than is done. */
  const ownDelay = (found: number, waitedMs: number, now: number): number =>
    now - fullSince >= FULL_MS ? found : Math.max(0, found - (waitedMs - lastWaitedMs));

  const stop = clock.every(SAMPLE_INTERVAL_MS, () => {
    const now = clock.now();
    const idleMs = use.idleMs();
    const waitedMs = use.waitedMs();
    const hadMs = now - last - (waitedMs - lastWaitedMs);
    const isCrowded = asked * 1_000 >= CROWD_PER_SECOND * (now - last);
    if (!isCrowded || idleMs - lastIdleMs >= hadMs * FULL_IDLE_SHARE) fullSince = now;
    asked = 0;
    delayMs = Math.max(0, now - last - SAMPLE_INTERVAL_MS);
    const own = ownDelay(delayMs, waitedMs, now);
    last = now;
    lastIdleMs = idleMs;
    lastWaitedMs = waitedMs;
    if (limitMs === 0) return;
    for (const overload of Object.values(overloads)) overload.sample(own);
  });

  /** How overdue the pending timer is, in milliseconds. */
  const overdueMs = (): number => clock.now() - last - SAMPLE_INTERVAL_MS;

  return {
    refuses(callClass) {
      if (limitMs === 0) return false;
      asked += 1;
      const overload = overloads[callClass];
      if (overload.isOn) return true;
      const latestMs = LATE_SAMPLES * overload.limitMs;
      const overdue = overdueMs();
      return overdue >= latestMs && ownDelay(overdue, use.waitedMs(), last) >= latestMs;
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

/** How the event loop of this thread has spent its time. Both grow, in milliseconds. */
interface ProcessorUse {
  /** Time in which it had something to do and waited for a processor, because other threads and programs had them. */
  waitedMs(): number;
  /** Time in which it had nothing to do. */
  idleMs(): number;
}

/** Of the calling thread: `run_time run_delay timeslices`, in nanoseconds (Linux, sched-stats.rst). */
const SCHEDULER_STATISTICS = '/proc/thread-self/schedstat';
const LONGEST_STATISTICS = 64;

export function createProcessorUse(): ProcessorUse {
  const idleMs = () => performance.eventLoopUtilization().idle;
  return { idleMs, waitedMs: schedulerWait() ?? (() => restOfTime(idleMs())) };
}

/** Undefined where the kernel does not tell. */
function schedulerWait(): (() => number) | undefined {
  const buffer = Buffer.alloc(LONGEST_STATISTICS);
  try {
    const file = openSync(SCHEDULER_STATISTICS, 'r');
    const read = () => {
      const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, LONGEST_STATISTICS, 0));
      return Number(text.split(' ')[1]) / 1e6;
    };
    return Number.isFinite(read()) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** Time in which it neither had nothing to do nor ran. That of other threads of the process counts as time in which it ran. */
function restOfTime(idleMs: number): number {
  const { user, system } = process.cpuUsage();
  return Math.max(0, performance.now() - idleMs - (user + system) / 1_000);
}
