import { useEffect } from 'react';

const AGAIN_MS = 5_000;

/** Tries again what has failed for a reason that may pass, until it does not fail any more. */
export function useRepeatedly(failure: unknown, retry: () => void): void {
  useEffect(() => {
    if (failure === null) return;
    const timer = setTimeout(retry, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [failure, retry]);
}
