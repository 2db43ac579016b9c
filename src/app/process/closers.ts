/** Resources to release when a service stops, in reverse order of the calls of `add`. */
export interface Closers {
  add(close: () => unknown): void;
  /**
   * Runs each closer once, even if an earlier one failed, and then rejects with the first failure. Further
   * calls wait for the same end.
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
