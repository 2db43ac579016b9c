/** Upper bound of the first pause. */
const FIRST_PAUSE_MS = 25;
/** Upper bound of every pause: a service that is back is detected within this time. */
const LONGEST_PAUSE_MS = 2_000;

/**
 * Pause before the next attempt: a random time up to a bound that doubles with each failure, so that clients
 * that lost the same server do not return simultaneously ("full jitter"). `failures` counts from 0;
 * `atLeastMs` is the pause requested by the service.
 */
export function pauseMs(failures: number, atLeastMs = 0, random: () => number = Math.random): number {
  const bound = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 16));
  return Math.min(atLeastMs, LONGEST_PAUSE_MS) + random() * bound;
}

/** Resolves after a time, or as soon as the signal is aborted. */
export function resting(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
