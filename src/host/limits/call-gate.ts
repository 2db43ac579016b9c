import { ServiceError } from '../../errors/service-error.js';
import type { Principal } from '../../rpc/handler.js';

/** When a caller that has too much running may try again: evaluations take milliseconds, so soon. */
const RETRY_AFTER_SECONDS = 1;

/** Whether the process has more to do than it can. */
export interface LoadState {
  readonly isOverloaded: boolean;
}

export interface CallGateOptions {
  /** Calls of one API key that may run at the same time, streams among them; 0 for any number. */
  readonly maxCallsPerKey: number;
  readonly load: LoadState;
  /** Told of every call that is turned away, for the metrics. */
  readonly onRefused: (why: 'overload' | 'key-limit') => void;
}

/**
 * Decides whether a call may start, for every protocol. Only calls that need a key pass through it: health, metrics
 * and the documents are answered by an overloaded server, too.
 */
export interface CallGate {
  /** Calls that run and count for a key. */
  readonly running: number;
  /** Fails with SERVICE_UNAVAILABLE while the process is overloaded. Costs nothing, so it comes before everything. */
  checkLoad(): void;
  /** The place of one call. */
  place(): CallPlace;
}

/** The place that a call takes among the calls of its key. */
export interface CallPlace {
  /**
   * Takes it. Fails with RATE_LIMITED when the key has none left. Callers without a key are not counted: by their
   * address everyone behind one proxy would be one caller, and where keys are off anyone may do everything anyway.
   */
  take(principal: Principal): void;
  /** Gives it back, once; a place that was given back is never taken again. Has to be called when the call is over. */
  giveBack(): void;
}

interface KeyCount {
  running: number;
}

export function createCallGate({ maxCallsPerKey, load, onRefused }: CallGateOptions): CallGate {
  // As many entries as there are configured keys.
  const counts = new Map<string, KeyCount>();

  function countOf(fingerprint: string): KeyCount {
    let count = counts.get(fingerprint);
    if (count === undefined) {
      count = { running: 0 };
      counts.set(fingerprint, count);
    }
    return count;
  }

  class Place implements CallPlace {
    #count: KeyCount | undefined;
    #isOver = false;

    take({ keyFingerprint }: Principal): void {
      // A caller may be gone by the time it is known who it was.
      if (keyFingerprint === null || this.#isOver || this.#count !== undefined) return;
      const count = countOf(keyFingerprint);
      if (maxCallsPerKey > 0 && count.running >= maxCallsPerKey) {
        onRefused('key-limit');
        throw tooManyCalls(maxCallsPerKey);
      }
      count.running += 1;
      this.#count = count;
    }

    giveBack(): void {
      this.#isOver = true;
      if (this.#count === undefined) return;
      this.#count.running -= 1;
      this.#count = undefined;
    }
  }

  return {
    get running() {
      let sum = 0;
      for (const { running } of counts.values()) sum += running;
      return sum;
    },
    checkLoad() {
      if (!load.isOverloaded) return;
      onRefused('overload');
      throw overloaded();
    },
    place: () => new Place(),
  };
}

function tooManyCalls(limit: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    detail: `The API key has ${limit} calls running, which is the limit.`,
    hint: 'Wait for calls to end, or put many evaluations into one batch or stream.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function overloaded(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', {
    detail: 'The server is overloaded and takes no new calls at the moment.',
    hint: 'Try again after the stated time.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
