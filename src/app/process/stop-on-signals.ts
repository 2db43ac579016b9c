import type { ServiceLog } from './logger.js';
import type { Signals } from './signals.js';

/**
 * Signals within this time of the first one, in milliseconds, are the same stop request: with Ctrl-C, both
 * the service and `npm start` receive it from the terminal, and npm forwards it to the service.
 */
const SAME_REQUEST_MS = 1_000;

/** Time in which a client that uses its connection is told by a reply that it closes, in milliseconds. */
export const STOP_NOTICE_MS = 1_000;

/** Something that runs until it is closed. */
export interface Running {
  /** Finishes running work. */
  close(): Promise<void>;
  /** Ends other processes immediately; this one ends by itself. */
  kill?(): void;
}

/** Stops the service on signals. */
export interface Stopper {
  /** Whether the process is stopping. */
  readonly stopping: boolean;
  /**
   * Sets what a signal closes. Before that there is nothing to finish, and it ends the process immediately.
   */
  closes(running: Running): void;
}

/**
 * Stops the service on SIGTERM and SIGINT: with exit code 0 once running requests are finished, and with 1 if
 * that fails or a later signal asks not to wait.
 */
export function stopOnSignals(signals: Signals, { log, flushed }: ServiceLog): Stopper {
  let running: Running | undefined;
  let stoppingSinceMs: number | undefined;
  const exit = (code: number) => void flushed().then(() => process.exit(code));

  signals.onStop((signal) => {
    if (stoppingSinceMs !== undefined) {
      if (performance.now() - stoppingSinceMs < SAME_REQUEST_MS) return;
      log.warn({ signal }, 'stopping at once');
      running?.kill?.();
      process.exit(1);
    }
    stoppingSinceMs = performance.now();
    if (running === undefined) {
      log.info({ signal }, 'stopped before it was ready');
      exit(0);
      return;
    }
    log.info({ signal }, 'finishing running requests');
    running.close().then(
      () => {
        log.info({}, 'stopped');
        exit(0);
      },
      (error: unknown) => {
        log.error({ err: error }, 'stopped with an error');
        exit(1);
      },
    );
  });

  return {
    get stopping() {
      return stoppingSinceMs !== undefined;
    },
    closes(what) {
      running = what;
    },
  };
}
