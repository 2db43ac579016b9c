import type { IncomingMessage } from 'node:http';
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';
import type { FastifyInstance } from 'fastify';

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
export type RawRequest = IncomingMessage | Http2ServerRequest;

/** Whether a request came over HTTP/2. */
export function isHttp2(raw: RawRequest): raw is Http2ServerRequest {
  return 'stream' in raw;
}
