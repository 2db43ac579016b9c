import { timeLimited } from '../../contract/call/time-limited.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { unavailable } from './errors.js';

/** Rejects when a promise exceeds its time limit; its later result is ignored. */
export function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return timeLimited(promise, milliseconds, () => {
    throw new Error(`timeout after ${milliseconds} ms`);
  });
}

/** How long to wait, in milliseconds: a caller may be waiting, too. */
const LOAD_LIMIT_MS = 3_000;

/**
 * Waits for what a call needs of the database, by default the controls of an agent, but not as long as the drivers
 * would: a database may not respond at all. Rejects with SERVICE_UNAVAILABLE and the detail `late` then.
 */
export async function loadedInTime<T>(
  loading: Promise<T>,
  late = 'The controls of the agent could not be loaded in time.',
): Promise<T> {
  try {
    return await withTimeout(loading, LOAD_LIMIT_MS);
  } catch (error) {
    throw error instanceof ServiceError ? error : unavailable(late, error);
  }
}
