/** What has to be let go of when a service stops: in the reverse order of the calls of `add`. */
export interface Closers {
  add(close: () => unknown): void;
  /**
   * Runs each once, also when one before it failed, and then rejects with the first failure. Called again, waits for
   * the same end.
   */
  close(): Promise<void>;
}

export function createClosers(): Closers {
  const stack: (() => unknown)[] = [];
  let closing: Promise<void> | undefined;
  async function closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = stack.pop(); close !== undefined; close = stack.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
  return {
    add: (close) => void stack.push(close),
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}
