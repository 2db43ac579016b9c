import { setMaxListeners } from 'node:events';

/** Longest delay of a Node.js timer, in milliseconds; longer ones fire immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for a promise, but not longer than `limitMs` milliseconds; then the result is that of `late`, or its error. The
 * later result of the promise is ignored, also an error.
 */
export async function timeLimited<T, Late>(
  work: Promise<T>,
  limitMs: number,
  late: () => Late,
): Promise<T | Awaited<Late>> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  }).then(late);
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** A signal, and what must be called when nothing waits by it any more. */
export interface LimitedSignal {
  readonly signal: AbortSignal;
  end(): void;
}

/** A signal that is aborted with another one, for its reason, or after `limitMs` milliseconds, for that of `late`. */
export function limitedSignal(other: AbortSignal, limitMs: number, late: () => unknown): LimitedSignal {
  const controller = new AbortController();
  // All evaluations of a call wait by it.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(() => controller.abort(late()), limitMs);
  const onAbort = (): void => controller.abort(other.reason);
  if (other.aborted) onAbort();
  else other.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      other.removeEventListener('abort', onAbort);
    },
  };
}
