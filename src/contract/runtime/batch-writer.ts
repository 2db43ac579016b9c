export interface BatchWriterOptions<B> {
  /** Runs at the start of every write, also while an earlier batch cannot be stored. Must not reject. */
  readonly prepare?: () => void | Promise<void>;
  /**
   * The batches of what waits now, in the order in which they are stored. It is called when all earlier ones are stored, and
   * advanced when the one before is.
   */
  readonly take: () => Iterable<B>;
  /** Stores a batch. One that it rejects may be stored or not: it stays as it is, and is the first of the next write. */
  readonly store: (batch: B) => Promise<void>;
  /** Receives what `store` rejects with. */
  readonly failed: (error: unknown) => void;
  /** Time between two writes after `start`, in milliseconds. */
  readonly intervalMs?: number;
  /** Time after which `wake` writes, in milliseconds. */
  readonly wakeMs?: number;
  /** Least time between two writes by `flushSoon`, in milliseconds of `monotonic`. */
  readonly shortestMs?: number;
  readonly monotonic?: () => number;
}

/** Stores in the background what a process collects in memory: one write at a time, batch by batch, each in its order. */
export interface BatchWriter<B> {
  /** Writes at every interval, without keeping the process alive. */
  start(): void;
  /** Writes what waits; joins a write that runs. Never rejects. */
  flush(): Promise<void>;
  /** Writes what waits at the time of the call: after a write that runs, with another one. Never rejects. */
  flushLatest(): Promise<void>;
  /** As `flushLatest`, but not after a write that failed, not too early after another, and not after `close`. Never rejects. */
  flushSoon(): Promise<void>;
  /** Writes after a while, together with what comes until then. Does nothing when the writer is closed. */
  wake(): void;
  /** Writes for the last time. Never rejects. */
  close(): Promise<void>;
  /** Whether the last write failed. */
  readonly isAway: boolean;
  /** The batch that is being stored or was rejected. */
  readonly pending: B | undefined;
}

export function createBatchWriter<B>(options: BatchWriterOptions<B>): BatchWriter<B> {
  const { prepare, take, store, failed, intervalMs, wakeMs, shortestMs = 0, monotonic = () => 0 } = options;
  let pending: B | undefined;
  /** Batches that were taken and not asked for. */
  let rest: Iterator<B> | undefined;
  let isAway = false;
  let isClosed = false;
  let begunAtMs = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let interval: NodeJS.Timeout | undefined;
  let waking: NodeJS.Timeout | undefined;

  async function storeAll(batches: Iterator<B>): Promise<void> {
    rest = batches;
    for (let { value, done } = batches.next(); done !== true; { value, done } = batches.next()) {
      pending = value;
      await store(value);
      pending = undefined;
    }
    rest = undefined;
  }

  async function write(): Promise<void> {
    begunAtMs = monotonic();
    await prepare?.();
    try {
      if (pending !== undefined) await store(pending);
      pending = undefined;
      if (rest !== undefined) await storeAll(rest);
      await storeAll(take()[Symbol.iterator]());
      isAway = false;
    } catch (error) {
      isAway = true;
      failed(error);
    }
  }

  function flush(): Promise<void> {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  function flushLatest(): Promise<void> {
    if (writing === undefined) return flush();
    next ??= writing.then(() => {
      next = undefined;
      return flush();
    });
    return next;
  }

  return {
    start() {
      if (!isClosed) interval ??= setInterval(() => void flush(), intervalMs).unref();
    },
    flush,
    flushLatest,
    async flushSoon() {
      const isEarly = writing === undefined && monotonic() - begunAtMs < shortestMs;
      if (isEarly || isAway || isClosed) return;
      await writing;
      if (!isAway) await flush();
    },
    wake() {
      if (isClosed || waking !== undefined) return;
      waking = setTimeout(() => {
        waking = undefined;
        void flushLatest();
      }, wakeMs).unref();
    },
    async close() {
      isClosed = true;
      clearInterval(interval);
      clearTimeout(waking);
      await flushLatest();
    },
    get isAway() {
      return isAway;
    },
    get pending() {
      return pending;
    },
  };
}
