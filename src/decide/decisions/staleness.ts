import { ServiceError } from '../../contract/errors/service-error.js';

const RETRY_AFTER_SECONDS = 1;

/** Rejects decisions of a program that may be too old. */
export type DemandFresh = (currentAtMs: number) => void;

/**
 * Throws SERVICE_UNAVAILABLE when the program of an agent was last known to be the latest more than
 * `maxStalenessMs` ago. `databaseUp` determines the stated cause.
 */
export function createStalenessLimit(
  maxStalenessMs: number,
  now: () => number,
  databaseUp: () => boolean,
): DemandFresh {
  return (currentAtMs) => {
    const staleMs = now() - currentAtMs;
    if (staleMs <= maxStalenessMs) return;
    const why = databaseUp()
      ? 'a change was noticed but could not be loaded'
      : 'the database does not tell whether they have changed since';
    throw new ServiceError('SERVICE_UNAVAILABLE', {
      detail:
        `The controls known here are ${seconds(staleMs)} s old, more than the ${seconds(maxStalenessMs)} s of ` +
        `SERVICE_MAX_STALENESS_SECONDS: ${why}.`,
      hint: 'Try again shortly, or at another replica.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
}

function seconds(milliseconds: number): string {
  return String(Math.round(milliseconds / 100) / 10);
}
