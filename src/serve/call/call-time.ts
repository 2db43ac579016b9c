import { type LimitedSignal, limitedSignal } from '../../contract/call/time-limited.js';
import { ServiceError } from '../../contract/errors/service-error.js';

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
  let running: LimitedSignal | null = null;
  const start = (): AbortSignal => {
    running ??= limitedSignal(callerSignal(), limitMs, () => timeIsUp(limitMs));
    return running.signal;
  };
  return {
    get signal() {
      return start();
    },
    bound(work) {
      if (!(work instanceof Promise)) return work;
      // The loser of the race may still reject; ignore it.
      work.catch(() => {});
      return Promise.race([work, rejection(start())]);
    },
    end: () => running?.end(),
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
