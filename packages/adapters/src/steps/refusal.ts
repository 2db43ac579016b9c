import type { HandlerCall } from '../../../../src/contract/call/handler.js';
import { wholeText } from '../../../../src/contract/errors/item-message.js';
import { httpStatusOf, ServiceError } from '../../../../src/contract/errors/service-error.js';

/** A request that was refused before it was evaluated, for protocols in which that is a reply: it counts as denied. */
export interface Refusal {
  readonly kind: 'refused';
  readonly cause: 'invalid' | 'denied' | 'limited' | 'unavailable';
  /** As the JSON routes would answer it. */
  readonly status: number;
  /** Stable code, see `ERROR_TABLE`. */
  readonly code: string;
  /** What is wrong, where, and what to do. */
  readonly message: string;
  readonly retryAfterSeconds: number | null;
}

/**
 * What comes of a request that failed. Throws the error itself if nothing is to be replied: the call is over, or the service has a
 * fault, after which a peer does what it is configured to do.
 */
export function refusalOf(error: unknown, { signal }: Pick<HandlerCall, 'signal'>): Refusal {
  if (!(error instanceof ServiceError) || signal.aborted) throw error;
  const { code, options } = error;
  const written = httpStatusOf(error);
  if (written === 500) throw error;
  const status = written === 422 ? 400 : written;
  const message = wholeText(code, options);
  return {
    kind: 'refused',
    cause: causeOf(status),
    status,
    code,
    message,
    retryAfterSeconds: options.retryAfterSeconds ?? null,
  };
}

function causeOf(status: number): Refusal['cause'] {
  if (status === 400 || status === 413) return 'invalid';
  if (status === 429) return 'limited';
  return status > 500 ? 'unavailable' : 'denied';
}
