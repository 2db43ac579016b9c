/** A worker that ends sooner than this after it was ready, or before it was, has ended early. */
export const EARLY_END_MS = 1_000;
/** Early ends in a row after which nobody can expect the next worker to live. */
export const MAX_EARLY_ENDS = 5;
/** Pause before a worker that ended early is replaced, doubled each time. The first one is replaced at once. */
const FIRST_PAUSE_MS = 100;

/** Tells how to go on after workers that ended unasked. */
export interface CrashLoop {
  /** Milliseconds to wait before the replacement starts, or null when it would be useless. */
  ended(early: boolean): number | null;
  /** A worker has lived long enough. */
  survived(): void;
}

export function createCrashLoop(): CrashLoop {
  let earlyEnds = 0;
  return {
    ended(early) {
      if (!early) return 0;
      earlyEnds += 1;
      if (earlyEnds >= MAX_EARLY_ENDS) return null;
      return earlyEnds === 1 ? 0 : FIRST_PAUSE_MS * 2 ** (earlyEnds - 2);
    },
    survived() {
      earlyEnds = 0;
    },
  };
}
