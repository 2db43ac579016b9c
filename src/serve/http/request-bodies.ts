import type { IncomingMessage } from 'node:http';
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';
import type { FastifyInstance } from 'fastify';
import { interceptBody } from '../../contract/runtime/node-internals.js';
import { type CallTicket, FREE_BYTES } from '../admission/call-ticket.js';

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
function countBody(raw: RawRequest, ticket: Pick<CallTicket, 'holdMore' | 'release'>): void {
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

/**
 * Closes the stream of a request that is answered before the request is complete, as described in RFC 9113,
 * section 8.1: otherwise it stays open until the client has sent the rest, which is not read.
 */
export function abandonUnreadBodies(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const raw: RawRequest = request.raw;
    const stream = isHttp2(raw) ? raw.stream : undefined;
    // The last event before the response counts as finished, which happens only when the stream is closed.
    stream?.once('wantTrailers', () => abandonSoon(stream));
    done();
  });
}

/** Closes a stream after the end of its response, which is sent now, if its client is still sending. */
export function abandonSoon(stream: ServerHttp2Stream): void {
  setImmediate(() => {
    const unread = !stream.readableEnded && !stream.endAfterHeaders;
    if (unread && !stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
  });
}

/** A request of either HTTP version, as passed on by the listener. */
type RawRequest = IncomingMessage | Http2ServerRequest;

/** Whether a request came over HTTP/2. */
export function isHttp2(raw: RawRequest): raw is Http2ServerRequest {
  return 'stream' in raw;
}
