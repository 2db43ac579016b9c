import { ServiceError } from '../../src/contract/errors/service-error.js';

/** The error that some work throws; fails when it throws none. */
export function errorOf(work: () => unknown): ServiceError {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** The code of the error that a promise is rejected with; fails when it is fulfilled. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
  throw new Error('nothing was thrown');
}
