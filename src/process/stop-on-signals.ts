import type { ServiceLog } from './logger.js';
import type { Signals } from './signals.js';

/**
 * Signals within this time of the first one, in milliseconds, are the same request to stop: with Ctrl-C, `npm start`
 * hears of it from the terminal, as the service does, and passes it on to the service once more.
 */
const SAME_REQUEST_MS = 1_000;

/** What runs until it is told to stop. */
export interface Running {
  /** Finishes what is under way. */
  close(): Promise<void>;
  /** Ends other processes at once; this one ends by itself. */
  kill?(): void;
}

/** Stops the service on signals. */
export interface Stopper {
  /** Whether the process is about to end. */
  readonly stopping: boolean;
  /** What a signal has to close from now on. Before, there is nothing to finish, and a signal ends the process at once. */
  closes(running: Running): void;
}

/**
 * Stops the service on SIGTERM and SIGINT: with exit code 0 once running requests are finished, and with 1 when that
 * fails or when a later signal asks not to wait for it.
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
