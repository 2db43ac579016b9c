import { unavailable } from './errors.js';

/** A lock inside this process, granted in request order. */
export interface Mutex {
  /**
   * Waits for the lock and returns the function that releases it; further calls of that do nothing. Rejects
   * with `SERVICE_UNAVAILABLE` when too many wait already, or after waiting too long.
   */
  acquire(): Promise<() => void>;
}

/** Limits of the queue of a mutex; unlimited by default. */
export interface MutexLimits {
  readonly maxWaiting?: number;
  readonly waitLimitMs?: number;
}

/** Creates a free mutex. */
export function createMutex(limits: MutexLimits = {}): Mutex {
  const { maxWaiting = Number.POSITIVE_INFINITY, waitLimitMs } = limits;
  /** A set keeps order and deletes an aborted entry in constant time. */
  const waiting = new Set<() => void>();
  let held = false;

  function handOver(): void {
    const [next] = waiting;
    if (next === undefined) {
      held = false;
      return;
    }
    waiting.delete(next);
    next();
  }

  function createRelease(): () => void {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      handOver();
    };
  }

  function waitInLine(): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(enter);
      if (waitLimitMs === undefined) return;
      timer = setTimeout(() => {
        waiting.delete(enter);
        reject(unavailable('Waited too long for other changes to finish.'));
      }, waitLimitMs);
    });
  }

  return {
    async acquire() {
      if (!held) {
        held = true;
        return createRelease();
      }
      if (waiting.size >= maxWaiting) throw unavailable('Too many changes are waiting already.');
      await waitInLine();
      return createRelease();
    },
  };
}
