import { openSync, readSync } from 'node:fs';

/** How the event loop of this thread has spent its time. Both grow, in milliseconds. */
export interface ProcessorUse {
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
