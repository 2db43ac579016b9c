import { ServiceError } from '../../contract/errors/service-error.js';
import { tooMuchWork } from './configuration-problems.js';

/** Longest work in one transaction, in milliseconds: less than a mutation may take, so that there is a clear answer. */
export const WORK_LIMIT_MS = 5_000;
/** The part of it after which the work is the cause if the database ends it: its own limits include waiting for others. */
const LATE = 0.7;

/** A limit for the work in a transaction. */
export interface WorkLimit {
  /** The time begins anew. */
  begin(): void;
  /** Throws PAYLOAD_TOO_LARGE once it is over. */
  demandTime(): void;
  /** What an error means that ended the work: PAYLOAD_TOO_LARGE if the database did because it took too long. */
  meaningOf(error: unknown): unknown;
}

/** `now` is in milliseconds and only grows. */
export function createWorkLimit(limitMs: number, now: () => number): WorkLimit {
  let began: number | undefined;
  const lastsLonger = (ms: number) => began !== undefined && now() - began > ms;
  return {
    begin() {
      began = now();
    },
    demandTime() {
      if (lastsLonger(limitMs)) throw tooMuchWork(limitMs / 1000);
    },
    meaningOf(error) {
      // A single statement may take longer than all of them may: the database or the transaction ends it.
      const isEnded = error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
      return isEnded && lastsLonger(limitMs * LATE) ? tooMuchWork(limitMs / 1000) : error;
    },
  };
}
