import { setMaxListeners } from 'node:events';
import { ServiceError } from '../../contract/errors/service-error.js';

/** Longest delay of a Node.js timer, in milliseconds; longer ones fire immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The time limit of one call. It starts on the first wait or the first use of the signal: most evaluations
 * are answered synchronously and need neither a timer nor a signal.
 */
export interface CallTime {
  /** Aborted on timeout or when the caller disconnects; the reason is the error the call fails with. */
  readonly signal: AbortSignal;
  /** Waits for a promise, but not beyond the limit; returns any other value as it is. */
  bound<T>(work: Promise<T> | T): Promise<T> | T;
  /** Must be called when the call is over. */
  end(): void;
}

/**
 * Creates the time limit of a call. `callerSignal` returns the signal that aborts when the caller disconnects
 * or its deadline passes; it is called at most once, when the time starts.
 */
export function createCallTime(limitMs: number, callerSignal: () => AbortSignal): CallTime {
  let running: { controller: AbortController; stop: () => void } | null = null;
  const start = (): AbortController => {
    if (running !== null) return running.controller;
    const controller = new AbortController();
    // All evaluations of a call wait by it.
    setMaxListeners(0, controller.signal);
    const timer = setTimeout(() => controller.abort(timeIsUp(limitMs)), limitMs);
    const caller = callerSignal();
    const onCallerAbort = (): void => controller.abort(caller.reason);
    if (caller.aborted) onCallerAbort();
    else caller.addEventListener('abort', onCallerAbort, { once: true });
    const stop = (): void => {
      clearTimeout(timer);
      caller.removeEventListener('abort', onCallerAbort);
    };
    running = { controller, stop };
    return controller;
  };
  return {
    get signal() {
      return start().signal;
    },
    bound(work) {
      if (!(work instanceof Promise)) return work;
      // The loser of the race may still reject; ignore it.
      work.catch(() => {});
      return Promise.race([work, rejection(start().signal)]);
    },
    end: () => running?.stop(),
  };
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function timeIsUp(limitMs: number): ServiceError {
  return new ServiceError('DEADLINE_EXCEEDED', {
    detail: `The request took longer than ${limitMs / 1000} s.`,
  });
}
