import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { codeToHttpStatus, endStreamToJson, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { statusTrailers } from './encode-status.js';
import { ENVELOPE_FLAGS, textInEnvelope } from './envelope.js';
import { toConnectError, toRpcStatus } from './error-status.js';
import { MEDIA_TYPES, mediaTypeOf } from './media-types.js';
import { toServiceError } from './problem.js';
import { CHALLENGE_HEADER } from './reply-headers.js';

/** A complete reply to a gRPC, gRPC-Web or Connect call that failed before reaching a handler. */
export interface RpcErrorReply {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Empty if the reply consists only of headers. */
  readonly body: Uint8Array | string;
}

/** The trailers of errors that are sent repeatedly. */
const knownTrailers = new WeakMap<object, OutgoingHttpHeaders>();

/** The reply to a failed call, in the format of its content type; Connect's for unknown ones. */
export function rpcErrorReply(headers: IncomingHttpHeaders, error: unknown): RpcErrorReply {
  const contentType = headers['content-type'];
  const { protocol, isStream } = mediaTypeOf(contentType);
  if (protocol !== 'connect') {
    // A reply without messages has the status in its headers (gRPC over HTTP2, "Trailers-Only").
    const trailers = trailersOf(toServiceError(error));
    return { status: 200, headers: { 'content-type': contentType, ...trailers }, body: '' };
  }
  const status = toConnectError(error);
  if (isStream) {
    const json = JSON.stringify(endStreamToJson(new Headers(), status, undefined));
    const body = textInEnvelope(ENVELOPE_FLAGS.endOfStream, json);
    return { status: 200, headers: { 'content-type': contentType }, body };
  }
  const { retryAfterSeconds, challenge } = toServiceError(error).options;
  return {
    status: codeToHttpStatus(status.code),
    headers: {
      'content-type': MEDIA_TYPES.json,
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }),
      ...(challenge === undefined ? {} : { [CHALLENGE_HEADER]: challenge }),
    },
    body: errorToJsonBytes(status, undefined),
  };
}

function trailersOf(error: object): OutgoingHttpHeaders {
  const known = knownTrailers.get(error);
  if (known !== undefined) return known;
  const trailers = statusTrailers(toRpcStatus(error));
  knownTrailers.set(error, trailers);
  return trailers;
}
