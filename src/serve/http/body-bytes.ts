import type { FastifyInstance } from 'fastify';
import { interceptBody } from '../../contract/runtime/node-internals.js';
import { type CallTicket, FREE_BYTES } from '../admission/call-ticket.js';
import { isHttp2, type RawRequest } from './unread-body.js';

/**
 * Limits the total size of request bodies in memory, from their first byte until the reply. A body above the
 * limit is refused like an unreadable one, and the rest of it is dropped.
 */
export function boundBodies(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    if (mayBeLarge(request.raw)) countBody(request.raw, request.ticket);
    done();
  });
}

/** Whether a request has a body of unknown length, or one longer than the size that is always allowed. */
function mayBeLarge(raw: RawRequest): boolean {
  const length = raw.headers['content-length'];
  if (length !== undefined) return Number(length) > FREE_BYTES;
  return isHttp2(raw) ? !raw.stream.endAfterHeaders : raw.headers['transfer-encoding'] !== undefined;
}

/** Counts the bytes of a body as they arrive. Above the limit, the reader gets the error and no more data. */
export function countBody(raw: RawRequest, ticket: Pick<CallTicket, 'holdMore' | 'release'>): void {
  let refusal: unknown;
  interceptBody(raw, (chunk, pass) => {
    if (refusal === undefined && chunk !== null) {
      try {
        ticket.holdMore(chunk.length);
      } catch (error) {
        refusal = error;
        ticket.release();
      }
    }
    if (refusal === undefined) return pass(chunk);
    // If reading has not started yet, the next chunk reports it.
    if (raw.listenerCount('error') > 0) raw.emit('error', refusal);
    return chunk === null ? pass(null) : true;
  });
}
