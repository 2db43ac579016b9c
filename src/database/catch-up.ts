/** Loads under way at the same time that nobody waits for: a change must not flood the database. */
const MAX_AT_ONCE = 8;

/** What keeps something in memory that is loaded anew after changes. */
export interface CatchUpOptions<Key> {
  /** What has a change that is not loaded. A load that succeeds takes it out; so may others, at any time. */
  readonly behind: ReadonlySet<Key>;
  /** Loads one of them; null when there is nothing to load, because somebody else does or it is gone. */
  readonly load: (key: Key) => Promise<unknown> | null;
}

/**
 * Makes what goes on loading whatever is behind. To be called after changes, and now and then: loads may fail, and it
 * gives up at the first failure, because the database does not answer.
 */
export function createCatchUp<Key>({ behind, load }: CatchUpOptions<Key>): () => void {
  let running = 0;
  let askedAgain = false;

  async function succeeds(key: Key, loading: Promise<unknown>): Promise<boolean> {
    try {
      await loading;
      return true;
    } catch {
      // One that is gone is no reason to stop.
      return !behind.has(key);
    }
  }

  async function loadOneAfterTheOther(): Promise<void> {
    // What is added to the set or taken from it in the meantime is seen, so several of these share the work.
    for (const key of behind) {
      const loading = load(key);
      if (loading !== null && !(await succeeds(key, loading))) return;
    }
  }

  return function catchUp(): void {
    // One under way may be about to give up, and then it would not see what it is asked for now.
    askedAgain = running > 0;
    while (running < MAX_AT_ONCE && running < behind.size) {
      running += 1;
      void loadOneAfterTheOther().finally(() => {
        running -= 1;
        if (running === 0 && askedAgain) catchUp();
      });
    }
  };
}
