import { setMaxListeners } from 'node:events';
import { ServiceError } from '../../contract/errors/service-error.js';

/** Most waiting evaluations. Revisions are chosen by callers, and may never be reached. */
const MAX_WAITING = 10_000;
/** Seconds after which a caller may retry, possibly at a replica that is further ahead. */
const RETRY_AFTER_SECONDS = 1;

export interface RevisionGateOptions {
  /** How long to wait for a revision, in milliseconds. */
  readonly waitMs: number;
  readonly maxWaiting?: number;
  /** The currently known revision. */
  readonly revision: () => number;
  /** Called when an evaluation starts to wait. */
  readonly onWaiting: () => void;
}

/** Holds evaluations until their required revision is known. */
export class RevisionGate {
  readonly #options: RevisionGateOptions;
  readonly #waiting = new Map<() => void, number>();

  constructor(options: RevisionGateOptions) {
    this.#options = options;
  }

  /** Number of waiting evaluations. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Fulfilled when the revision is known. Rejects with SERVICE_UNAVAILABLE after the wait, or immediately
   * when too many wait: the same call may succeed later, or elsewhere. Rejects with the reason of `signal` as
   * soon as that is aborted.
   */
  reach(demanded: number, signal?: AbortSignal): Promise<void> {
    const { waitMs, maxWaiting = MAX_WAITING, revision, onWaiting } = this.#options;
    if (revision() >= demanded) return Promise.resolve();
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#waiting.size >= maxWaiting) return Promise.reject(revisionNotReached(demanded, revision()));
    const reached = new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        this.#waiting.delete(enter);
      };
      const enter = (): void => {
        leave();
        resolve();
      };
      const giveUp = (): void => {
        leave();
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        leave();
        reject(revisionNotReached(demanded, revision()));
      }, waitMs);
      if (signal !== undefined) {
        // All evaluations of one call share its signal.
        setMaxListeners(0, signal);
        signal.addEventListener('abort', giveUp);
      }
      this.#waiting.set(enter, demanded);
    });
    onWaiting();
    return reached;
  }

  /** Releases every evaluation whose revision is now known. */
  advanced(): void {
    const known = this.#options.revision();
    for (const [enter, demanded] of this.#waiting) if (demanded <= known) enter();
  }
}

/** UNAVAILABLE, not FAILED_PRECONDITION: clients retry it, and may reach a replica that is further ahead. */
export function revisionNotReached(demanded: number, known: number): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', {
    detail: `Revision ${demanded} is demanded, but this process knows the controls up to revision ${known} only.`,
    hint: 'Try again shortly, with a revision that a change reported.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
