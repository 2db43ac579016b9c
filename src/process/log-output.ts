/** The part of a writable stream that log lines are written to. */
export interface LogStream {
  write(line: string, written: (error?: Error | null) => void): boolean;
  /** What was written and has not left yet, in bytes or characters. */
  readonly writableLength: number;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Where log lines go. Writing never throws and never waits. */
export interface LogOutput {
  write(line: string): void;
  /** Lines that nobody gets to see and that nobody was told of yet. */
  readonly dropped: number;
  /** Resolves when nothing waits any more, after `limitMs` in any case. */
  flushed(limitMs: number): Promise<void>;
}

/** What may wait for a slow reader: some thousand lines. What is logged beyond is dropped. */
const MAX_WAITING = 1024 * 1024;
/** How long nothing is written after a failure: a pipe may get a new reader, a disk may get space again. */
const RETRY_AFTER_MS = 1_000;

/**
 * Writes lines to a stream that may break, or whose reader may stop reading. A full pipe must not hold the service up,
 * so `process.stdout` is the stream to use: it waits for pipes in the event loop. Writing to the file descriptor waits
 * in the thread that writes, for ever if need be, and a thread that waits in a write keeps the process from exiting.
 * `onTaken` is told how many lines were dropped as soon as the stream takes lines again.
 */
export function createLogOutput(
  stream: LogStream,
  onTaken: (dropped: number) => void,
  now: () => number = () => performance.now(),
): LogOutput {
  let dropped = 0;
  let brokenUntil = Number.NEGATIVE_INFINITY;
  const waiters: (() => void)[] = [];
  // Every failure also comes to the callback of the line that failed; nobody listening would end the process.
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
