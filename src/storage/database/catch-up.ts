/** Most concurrent loads that no caller awaits, unless loads are batched: a change must not flood the database. */
const MAX_AT_ONCE = 8;

/** Options of a cache whose entries are reloaded after changes. */
export interface CatchUpOptions<Key> {
  /** Keys with a change that is not loaded. A successful load removes its key; others may do so anytime. */
  readonly behind: ReadonlySet<Key>;
  /** Loads one of them; null when there is nothing to load, because it is already loading or deleted. */
  readonly load: (key: Key) => Promise<unknown> | null;
  /** Most concurrent loads. */
  readonly maxAtOnce?: number;
}

/**
 * Creates the function that resumes loading all outdated entries. To be called after changes, and
 * periodically: loads may fail, and it stops at the first failure, because the database does not answer.
 */
export function createCatchUp<Key>({
  behind,
  load,
  maxAtOnce = MAX_AT_ONCE,
}: CatchUpOptions<Key>): () => void {
  let running = 0;
  let askedAgain = false;

  async function succeeds(key: Key, loading: Promise<unknown>): Promise<boolean> {
    try {
      await loading;
      return true;
    } catch {
      // A key removed meanwhile is no reason to stop.
      return !behind.has(key);
    }
  }

  async function loadOneAfterTheOther(): Promise<void> {
    // Changes of the set during iteration are seen, so concurrent loops share the work.
    for (const key of behind) {
      const loading = load(key);
      if (loading !== null && !(await succeeds(key, loading))) return;
    }
  }

  return function catchUp(): void {
    // A running loop may be about to stop, and would then miss the new keys.
    askedAgain = running > 0;
    while (running < maxAtOnce && running < behind.size) {
      running += 1;
      void loadOneAfterTheOther().finally(() => {
        running -= 1;
        if (running === 0 && askedAgain) catchUp();
      });
    }
  };
}
