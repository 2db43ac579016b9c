import type { FastifyInstance } from 'fastify';
import { sessionTokenOf } from '../auth/session-cookie.js';
import { mediaTypeOf } from '../wire/media-types.js';

/** Header of every reply that a browser could read: its type is the declared one. */
export const NO_SNIFFING = ['x-content-type-options', 'nosniff'] as const;

/**
 * Headers for browsers, which plain gRPC does not serve: no reply is taken for another type, and none that depends on
 * a session is stored. Files and pages set a `cache-control` of their own later.
 */
export function protectReplies(app: FastifyInstance): void {
  app.addHook('onRequest', ({ headers }, reply, done) => {
    if (mediaTypeOf(headers['content-type']).protocol === 'grpc') return done();
    reply.header(...NO_SNIFFING);
    if (headers.cookie !== undefined && sessionTokenOf(headers.cookie) !== undefined)
      reply.header('cache-control', 'private, no-store');
    done();
  });
}
