import type { AgentActivity, ProblemStore } from './problem-store.js';

/** Evaluations are known to the minute. */
const FRESH_MS = 60_000;

/**
 * The number of agents by when they were last evaluated, as it was determined last; it is determined anew meanwhile, at most
 * once a minute: a scrape waits for no database. Undefined before the first time.
 */
export function createActivityFigures(options: {
  readonly store: Pick<ProblemStore, 'activity'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly monotonic: () => number;
}): () => AgentActivity | undefined {
  const { store, now, monotonic } = options;
  let last: AgentActivity | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (monotonic() - askedAtMs >= FRESH_MS) {
      askedAtMs = monotonic();
      store.activity(Math.floor(now() / 1_000)).then(
        (found) => {
          last = found;
        },
        // The problems tell that the database does not answer.
        () => {
          askedAtMs = Number.NEGATIVE_INFINITY;
        },
      );
    }
    return last;
  };
}
