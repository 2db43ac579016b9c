import { ServiceError } from '../errors/service-error.js';

/** A time limit on one call: its signal, and the promise race that enforces it. */
export interface CallTime {
  readonly signal: AbortSignal;
  /** Waits for `work`, but not beyond the limit or the end of the caller's interest. */
  bound<T>(work: Promise<T> | T): Promise<T>;
  /** Must be called when the call is over. */
  end(): void;
}

/**
 * Starts the time of a call. `callerSignal` aborts when the caller goes away or its own deadline passes; its reason
 * is what the call then fails with.
 */
export function startCallTime(limitMs: number, callerSignal: AbortSignal): CallTime {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(timeIsUp(limitMs)), limitMs);
  const onCallerAbort = () => controller.abort(callerSignal.reason);
  if (callerSignal.aborted) onCallerAbort();
  else callerSignal.addEventListener('abort', onCallerAbort, { once: true });
  const { signal } = controller;
  return {
    signal,
    async bound(work) {
      if (!(work instanceof Promise)) return work;
      // The loser of the race may still fail; nobody is left to care.
      work.catch(() => {});
      return Promise.race([work, rejection(signal)]);
    },
    end() {
      clearTimeout(timer);
      callerSignal.removeEventListener('abort', onCallerAbort);
    },
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
