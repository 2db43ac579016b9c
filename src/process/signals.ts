import type { Logger } from 'pino';

/** Signals that ask the process to stop. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Signals that would end the process by default though they do not ask for that, with what the log says of them. */
const IGNORED_SIGNALS = {
  // Comes when a terminal is closed. Daemons read their configuration again; this one may do so one day.
  SIGHUP: 'SIGHUP is ignored: the configuration is read at the start only',
  SIGUSR2: 'SIGUSR2 is ignored: it has no meaning here',
} as const;
type IgnoredSignal = keyof typeof IGNORED_SIGNALS;

/** The signals of this process. */
export interface Signals {
  /** From now on `act` decides what a signal does that asks the process to stop. */
  onStop(act: (signal: NodeJS.Signals) => void): void;
  /** Logs each signal that is ignored, those that came before included. */
  logIgnored(log: Pick<Logger, 'info'>): void;
}

/**
 * Takes the signals over. To be called before anything that takes time is loaded: until `onStop` is called, a signal
 * that asks the process to stop ends it at once with exit code 0, because nothing is served yet.
 */
export function takeSignals(): Signals {
  let stop = (_signal: NodeJS.Signals): void => process.exit(0);
  const early: IgnoredSignal[] = [];
  let ignore = (signal: IgnoredSignal): void => void early.push(signal);
  for (const signal of STOP_SIGNALS) process.on(signal, () => stop(signal));
  for (const signal of Object.keys(IGNORED_SIGNALS) as IgnoredSignal[]) {
    process.on(signal, () => {
      // With another listener, for example one of a diagnostic tool, the signal has a meaning.
      if (process.listenerCount(signal) === 1) ignore(signal);
    });
  }
  return {
    onStop(act) {
      stop = act;
    },
    logIgnored(log) {
      ignore = (signal) => log.info({ signal }, IGNORED_SIGNALS[signal]);
      for (const signal of early.splice(0)) ignore(signal);
    },
  };
}
