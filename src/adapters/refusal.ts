import type { HandlerCall } from '../contract/call/handler.js';
import { problemText } from '../contract/errors/item-message.js';
import { httpStatusOf, ServiceError } from '../contract/errors/service-error.js';

/** A request that was refused before it was evaluated, for protocols in which that is a reply. */
export interface Refusal {
  readonly kind: 'invalid' | 'denied' | 'limited' | 'unavailable';
  /** Stable code, see `ERROR_TABLE`. */
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds: number | null;
}

/**
 * What comes of a request that failed. Throws the error itself if nothing is to be replied: the call is over, the adapter is off,
 * or the service has a fault, after which a peer does what it is configured to do.
 */
export function refusalOf(error: unknown, { signal }: Pick<HandlerCall, 'signal'>): Refusal {
  if (!(error instanceof ServiceError) || signal.aborted || error.code === 'ADAPTER_OFF') throw error;
  const { detail, items = [], retryAfterSeconds = null } = error.options;
  const kind = KINDS[httpStatusOf(error)];
  if (kind === undefined) throw error;
  const message = items.length === 0 ? detail : items.map(problemText).join('; ');
  return { kind, code: error.code, message, retryAfterSeconds };
}

const KINDS: Readonly<Record<number, Refusal['kind']>> = {
  400: 'invalid',
  401: 'denied',
  403: 'denied',
  404: 'denied',
  413: 'invalid',
  422: 'invalid',
  429: 'limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};
