import type { FastifyInstance } from 'fastify';
import { type ByteBudgets, FREE_BYTES, HeldBytes } from './byte-budget.js';
import { connectionOf, isHttp2, type RawRequest } from './request-connection.js';

/**
 * Bounds what the bodies of requests take together, from their first byte until the reply. A body that is too much is
 * refused like one that could not be read, and what still comes of it is dropped.
 */
export function boundBodies(scope: FastifyInstance, budgets: ByteBudgets): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const raw: RawRequest = request.raw;
    if (mayBeLarge(raw)) {
      const held = new HeldBytes(budgets.of(connectionOf(raw)));
      // Comes when the reply is complete, and also when the client went away.
      reply.raw.once('close', () => held.release());
      countBody(raw, held);
    }
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
 * Counts what arrives of a body where Node.js hands it to the request, whoever reads it and however: a listener would
 * start to read. When it is too much, whoever reads gets the error and nothing more.
 */
export function countBody(raw: RawRequest, held: HeldBytes): void {
  let refusal: unknown;
  const push = raw.push;
  raw.push = (chunk: Uint8Array | null, encoding?: BufferEncoding): boolean => {
    if (refusal === undefined && chunk !== null) {
      try {
        held.add(chunk.length);
      } catch (error) {
        refusal = error;
        held.release();
      }
    }
    if (refusal === undefined) return push.call(raw, chunk, encoding);
    // Nobody may be reading yet; then the next chunk tells.
    if (raw.listenerCount('error') > 0) raw.emit('error', refusal);
    return chunk === null ? push.call(raw, null) : true;
  };
}
