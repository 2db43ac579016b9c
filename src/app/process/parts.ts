/** Something of the service that runs: what it does at each turn of the service's life. All of it is optional. */
export interface Part {
  /** Begins its work. What it returns is awaited before the next part starts. */
  readonly start?: (() => unknown) | undefined;
  /** Begins the work that only one of the processes on a port does. */
  readonly keep?: (() => void) | undefined;
  /** Ends its endless streams, whose clients can continue with another process. */
  readonly drain?: (() => void) | undefined;
  /** Ends its work and releases what it holds. */
  readonly close?: (() => unknown) | undefined;
}

/**
 * The parts of a service, each added where it is made, so after all that it uses: they start in this order, and close in
 * the reverse one.
 */
export interface Parts {
  /** Returns the part. */
  add<T extends Part>(part: T): T;
  /** Rejects with the first failure; the parts after that one do not start. */
  start(): Promise<void>;
  keep(): void;
  drain(): void;
  /**
   * Closes each part once, even if an earlier one failed, and then rejects with the first failure. Further calls wait for
   * the same end.
   */
  close(): Promise<void>;
}

export function createParts(): Parts {
  const parts: Part[] = [];
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        await part.close?.();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    add(part) {
      parts.push(part);
      return part;
    },
    async start() {
      for (const part of parts) await part.start?.();
    },
    keep() {
      for (const part of parts) part.keep?.();
    },
    drain() {
      for (const part of parts) part.drain?.();
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}
