import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamToJson,
  errorToJsonBytes,
} from '@connectrpc/connect/protocol-connect';
import { toConnectError, toRpcStatus } from './connect-error.js';
import { toServiceError } from './problem.js';
import { statusTrailers } from './trailers.js';

/** A whole reply to a call of gRPC, gRPC-Web or Connect that failed before any handler of its RPC has seen it. */
export interface RpcErrorReply {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Empty for a reply whose headers are all there is. */
  readonly body: Uint8Array | string;
}

/** The trailers of errors that are told again and again. */
const knownTrailers = new WeakMap<object, OutgoingHttpHeaders>();

/** The reply to a failed call, in the form that its content type asks for; that of Connect for everything unknown. */
export function rpcErrorReply(headers: IncomingHttpHeaders, error: unknown): RpcErrorReply {
  const contentType = headers['content-type'] ?? '';
  if (contentType.startsWith('application/grpc')) {
    // The status stands in the headers of a reply without messages (gRPC over HTTP2, "Trailers-Only").
    const trailers = trailersOf(toServiceError(error));
    return { status: 200, headers: { 'content-type': contentType, ...trailers }, body: '' };
  }
  const status = toConnectError(error);
  if (contentType.startsWith('application/connect+')) {
    const json = Buffer.from(JSON.stringify(endStreamToJson(new Headers(), status, undefined)));
    const prefix = Buffer.alloc(5);
    prefix[0] = endStreamFlag;
    prefix.writeUInt32BE(json.length, 1);
    return { status: 200, headers: { 'content-type': contentType }, body: Buffer.concat([prefix, json]) };
  }
  const { retryAfterSeconds } = toServiceError(error).options;
  return {
    status: codeToHttpStatus(status.code),
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }),
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
