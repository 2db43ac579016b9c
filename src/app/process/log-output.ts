/** The part of a writable stream that log lines are written to. */
export interface LogStream {
  write(line: string, written: (error?: Error | null) => void): boolean;
  /** Size of the unsent output, in bytes or characters. */
  readonly writableLength: number;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The output for log lines. Writing never throws and never blocks. */
export interface LogOutput {
  write(line: string): void;
  /** Dropped lines that were not reported yet. */
  readonly dropped: number;
  /** Resolves when nothing is pending, or after `limitMs`. */
  flushed(limitMs: number): Promise<void>;
}

/** Limit of pending output: a few thousand lines. Further lines are dropped. */
const MAX_WAITING = 1024 * 1024;
/** Pause after a failure: a pipe may get a new reader, a disk may get space again. */
const RETRY_AFTER_MS = 1_000;

/**
 * Writes lines to a stream that may break, or whose reader may stop reading. A full pipe must not block the
 * service, so use `process.stdout`, which waits for pipes in the event loop. Writing to the file descriptor
 * blocks the writing thread, possibly forever, and such a thread keeps the process from exiting. `onTaken` is
 * called with the number of dropped lines as soon as the stream accepts lines again.
 */
export function createLogOutput(
  stream: LogStream,
  onTaken: (dropped: number) => void,
  now: () => number = () => performance.now(),
): LogOutput {
  let dropped = 0;
  let brokenUntil = Number.NEGATIVE_INFINITY;
  const waiters: (() => void)[] = [];
  // Failures are also passed to the callback of their line; without a listener they would end the process.
  stream.on('error', () => {});

  function failed(): void {
    dropped += 1;
    brokenUntil = now() + RETRY_AFTER_MS;
  }

  const written = (error?: Error | null): void => {
    const hasFailed = error !== undefined && error !== null;
    if (hasFailed) failed();
    if (stream.writableLength > 0) return;
    for (const resolve of waiters.splice(0)) resolve();
    if (hasFailed || dropped === 0) return;
    const lost = dropped;
    dropped = 0;
    onTaken(lost);
  };

  return {
    write(line) {
      if (stream.writableLength >= MAX_WAITING || now() < brokenUntil) {
        dropped += 1;
        return;
      }
      try {
        stream.write(line, written);
      } catch {
        failed();
      }
    },
    get dropped() {
      return dropped;
    },
    flushed(limitMs) {
      if (stream.writableLength === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const limit = setTimeout(resolve, limitMs);
        waiters.push(() => {
          clearTimeout(limit);
          resolve();
        });
      });
    },
  };
}
