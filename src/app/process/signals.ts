import type { Logger } from 'pino';

/** Signals that ask the process to stop. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Signals that would end the process by default but are not meant to, with their log messages. */
const IGNORED_SIGNALS = {
  SIGUSR2: 'SIGUSR2 is ignored: it has no meaning here',
} as const;
type IgnoredSignal = keyof typeof IGNORED_SIGNALS;

/** The signals of this process. */
export interface Signals {
  /** Sets the handler for signals that ask the process to stop. */
  onStop(act: (signal: NodeJS.Signals) => void): void;
  /** Sets the handler for SIGHUP, which asks to read files again. Before that there is nothing to read again. */
  onReload(act: () => void): void;
  /** Logs each ignored signal, including earlier ones. */
  logIgnored(log: Pick<Logger, 'info'>): void;
}

/**
 * Installs the signal handlers. Must be called before slow modules are loaded: until `onStop` is called, a
 * stop signal ends the process immediately with exit code 0, because nothing is served yet.
 */
export function takeSignals(): Signals {
  let stop = (_signal: NodeJS.Signals): void => process.exit(0);
  let reload = (): void => {};
  const early: IgnoredSignal[] = [];
  let ignore = (signal: IgnoredSignal): void => void early.push(signal);
  for (const signal of STOP_SIGNALS) process.on(signal, () => stop(signal));
  // Also sent when a terminal is closed, which must not end the process.
  process.on('SIGHUP', () => reload());
  for (const signal of Object.keys(IGNORED_SIGNALS) as IgnoredSignal[]) {
    process.on(signal, () => {
      // With another listener, for example of a diagnostic tool, the signal has a purpose.
      if (process.listenerCount(signal) === 1) ignore(signal);
    });
  }
  return {
    onStop(act) {
      stop = act;
    },
    onReload(act) {
      reload = act;
    },
    logIgnored(log) {
      ignore = (signal) => log.info({ signal }, IGNORED_SIGNALS[signal]);
      for (const signal of early.splice(0)) ignore(signal);
    },
  };
}
