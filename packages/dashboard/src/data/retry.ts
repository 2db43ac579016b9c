const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/** Time before a lost stream is opened again, after this many failures in a row. */
export function retryDelayMs(failures: number): number {
  const delay = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 10));
  // Tabs that lost their server at the same time return at different times.
  return delay * (0.5 + Math.random() / 2);
}

/** Fulfilled after a time, or at once when the signal is aborted. */
export function waitFor(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener('abort', done);
  });
}
