import type { OutgoingHttpHeaders } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { FrontGateOptions, RefusedCall } from '../admission/front-gate.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { REQUEST_ID_HEADER, requestIdOf, versionHeaders } from '../wire/reply-headers.js';
import { type RpcErrorReply, rpcErrorReply } from '../wire/rpc-reply.js';
import { errorAnswer, type FailedRequest } from './rest-errors.js';

export interface RefusedCallOptions {
  readonly version: string;
  /** Further headers with the version. */
  readonly versionHeaders?: readonly string[];
  readonly log: FailedRequest['log'];
  readonly now: () => Date;
  /** Whether a path belongs to an RPC, which is answered in the format of gRPC, gRPC-Web or Connect. */
  readonly isRpc: (path: string) => boolean;
}

/**
 * Answers calls that are refused before they reach Fastify, in the format of their protocol. Kept cheap: a
 * refused call must cost less than an answered one.
 */
export function createRefusedCalls(options: RefusedCallOptions): FrontGateOptions['refuse'] {
  const { version, log, now, isRpc } = options;
  const versions = Object.fromEntries(
    versionHeaders(options.versionHeaders ?? []).map((name) => [name, version]),
  );

  function replyTo(error: unknown, { path, headers }: RefusedCall): RpcErrorReply {
    const id = requestIdOf(headers);
    const common = { ...versions, [REQUEST_ID_HEADER]: id };
    if (isRpc(path)) {
      const reply = rpcErrorReply(headers, error);
      return { ...reply, headers: { ...common, ...reply.headers } };
    }
    const answer = errorAnswer(error, { url: path, id, log, headers }, { now, failures: UNLOGGED });
    const more: OutgoingHttpHeaders = { 'content-type': MEDIA_TYPES.json };
    for (let at = 0; at + 1 < answer.headers.length; at += 2)
      more[answer.headers[at] as string] = answer.headers[at + 1];
    return { status: answer.status, headers: { ...common, ...more }, body: answer.body };
  }

  return {
    stream(error, call, stream) {
      if (stream.destroyed || stream.closed) return;
      const { status, headers, body } = replyTo(error, call);
      stream.respond({ ':status': status, ...headers }, { endStream: body.length === 0 });
      if (body.length > 0) stream.end(body);
      closeBehindReply(stream);
    },
    request(error, call, response) {
      if (response.destroyed || response.closed) return;
      const { status, headers, body } = replyTo(error, call);
      // Input that the client sent after the request is not read either.
      response.shouldKeepAlive = false;
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
      response.end(body);
    },
  };
}

/** Refusals are counted by metrics; they must not fill the log. */
const UNLOGGED = { failed: () => {} };

/** The client may still be sending input that is not read; see RFC 9113, section 8.1. */
function closeBehindReply(stream: ServerHttp2Stream): void {
  if (stream.readableEnded || stream.endAfterHeaders) return;
  stream.resume();
  setImmediate(() => {
    if (!stream.readableEnded && !stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
  });
}
