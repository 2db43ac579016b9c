/** Work in the background that a process repeats. */
export interface RegularLook {
  /** Works soon, and then at every interval. Does nothing when it was started or closed before. */
  start(): void;
  /** Ends when what is running has ended. Never rejects. */
  close(): Promise<void>;
  /** Whether `close` was called: work that takes long stops then. */
  readonly isClosed: boolean;
}

export interface RegularLookOptions {
  /** Delay of the first time after the start, in milliseconds. */
  readonly firstMs: number;
  readonly intervalMs: number;
  /** Must not reject. It is not called again while it runs. */
  look(): Promise<void>;
}

/** Repeats work until it is closed, without keeping the process alive. */
export function createRegularLook({ firstMs, intervalMs, look }: RegularLookOptions): RegularLook {
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let first: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  function lookOnce(): void {
    running ??= look().finally(() => {
      running = undefined;
    });
  }

  return {
    start() {
      if (timer !== undefined || closed) return;
      timer = setInterval(lookOnce, intervalMs).unref();
      first = setTimeout(lookOnce, firstMs).unref();
    },
    async close() {
      closed = true;
      clearInterval(timer);
      clearTimeout(first);
      await running;
    },
    get isClosed() {
      return closed;
    },
  };
}
