import type { RepeatLog } from '../../src/contract/runtime/repeat-log.js';

/** A log of failures for tests that look at none. */
export const NO_FAILURES: RepeatLog = { told: () => {}, failed: () => {}, close: () => {} };

/** What a log of failures was told. */
export interface LoggedFailure {
  readonly facts: object;
  readonly message: string;
}

/** A log of failures that keeps every one of them in `logged`. */
export function keptFailures(logged: LoggedFailure[]): RepeatLog {
  return {
    told: (_level, _kind, message, facts) => void logged.push({ facts, message }),
    failed: (_kind, message, _error, facts = {}) => void logged.push({ facts, message }),
    close: () => {},
  };
}
