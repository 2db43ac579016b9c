import type { FastifyInstance } from 'fastify';
import { type CallTicket, FREE_BYTES } from '../admission/call-ticket.js';
import { isHttp2, type RawRequest } from './unread-body.js';

/**
 * Bounds what the bodies of requests take together, from their first byte until the reply. A body that is too much is
 * refused like one that could not be read, and what still comes of it is dropped.
 */
export function boundBodies(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    if (mayBeLarge(request.raw)) countBody(request.raw, request.ticket);
    done();
  });
}

/** Whether a request has a body of unknown length, or one that is longer than is always allowed. */
function mayBeLarge(raw: RawRequest): boolean {
  const length = raw.headers['content-length'];
  if (length !== undefined) return Number(length) > FREE_BYTES;
  return isHttp2(raw) ? !raw.stream.endAfterHeaders : raw.headers['transfer-encoding'] !== undefined;
}

/**
 * Counts what arrives of a body where Node.js hands it to the request, whatever reads it: a listener would start to read.
 * When it is too much, the reader gets the error and nothing more.
 */
export function countBody(raw: RawRequest, ticket: Pick<CallTicket, 'holdMore' | 'release'>): void {
  let refusal: unknown;
  const push = raw.push;
  raw.push = (chunk: Uint8Array | null, encoding?: BufferEncoding): boolean => {
    if (refusal === undefined && chunk !== null) {
      try {
        ticket.holdMore(chunk.length);
      } catch (error) {
        refusal = error;
        ticket.release();
      }
    }
    if (refusal === undefined) return push.call(raw, chunk, encoding);
    // The reading may not have begun yet; then the next chunk tells.
    if (raw.listenerCount('error') > 0) raw.emit('error', refusal);
    return chunk === null ? push.call(raw, null) : true;
  };
}
