import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { ControlFailure } from '../../kernel/core/linked-control.js';

/** Time during which a failing control is not logged again, in milliseconds. */
const QUIET_MS = 60_000;
/** Most remembered controls. */
const MAX_REMEMBERED = 10_000;

/** Logs why controls cannot be evaluated: each control once a minute, because it may fail in every step. */
export function createFailureLog(
  log: { warn(facts: object, message: string): void },
  now: () => number,
): (failure: ControlFailure) => void {
  const lastLogged = new BoundedMap<number, number>({ entries: MAX_REMEMBERED });
  return (failure) => {
    const time = now();
    if (time - (lastLogged.get(failure.controlId) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    lastLogged.set(failure.controlId, time);
    log.warn({ ...failure }, 'a control cannot be evaluated');
  };
}
