import { ServiceError } from '../../contract/errors/service-error.js';

/** Longest time that a timer of Node.js takes, in milliseconds; beyond it, it fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The time limit of one call. It starts when something first waits or asks for the signal: most evaluations are
 * answered at once and need neither a timer nor a signal.
 */
export interface CallTime {
  /** Aborted when the time is up or the caller went away, with the error the call then fails with as its reason. */
  readonly signal: AbortSignal;
  /** Waits for a promise, but not beyond the limit; passes anything else on. */
  bound<T>(work: Promise<T> | T): Promise<T> | T;
  /** Must be called when the call is over. */
  end(): void;
}

/**
 * The time of a call. `callerSignal` gives the signal that aborts when the caller goes away or its own deadline
 * passes; it is asked for at most once, when the time starts.
 */
export function createCallTime(limitMs: number, callerSignal: () => AbortSignal): CallTime {
  let running: { controller: AbortController; stop: () => void } | null = null;
  const start = (): AbortController => {
    if (running !== null) return running.controller;
    const controller = new AbortController();
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
      // The loser of the race may still fail; nobody is left to care.
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
