import type { ControlFailure } from '../core/linked-control.js';

/** Time during which a failing control is not logged again, in milliseconds. */
const QUIET_MS = 60_000;
/** Most remembered controls. */
const MAX_REMEMBERED = 10_000;

/** Logs why controls cannot be evaluated: each control once a minute, because it may fail in every step. */
export function createFailureLog(
  log: { warn(facts: object, message: string): void },
  now: () => number,
): (failure: ControlFailure) => void {
  const lastLogged = new Map<number, number>();
  return (failure) => {
    const time = now();
    if (time - (lastLogged.get(failure.controlId) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    if (lastLogged.size >= MAX_REMEMBERED) lastLogged.clear();
    lastLogged.set(failure.controlId, time);
    log.warn({ ...failure }, 'a control cannot be evaluated');
  };
}
