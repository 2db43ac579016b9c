import { directCodec } from '../../wire/direct-codec.js';
import { OK_TRAILERS, statusTrailers } from '../../wire/encode-status.js';
import { MEDIA_TYPES } from '../../wire/media-types.js';
import { MessageReader } from '../../wire/message-reader.js';
import { addNotes, type ReplyFields } from '../../wire/reply.js';
import type { RpcStatus } from '../../wire/rpc-status.js';
import type { Framing } from './framing.js';

/** Plain gRPC without compression: envelopes, and the status in trailers of HTTP (gRPC over HTTP2). */
const grpc: Framing = {
  protocol: 'grpc',
  form: directCodec,
  source: (maxBytes) => new MessageReader(maxBytes),
  success(headers, body, call) {
    headers['content-type'] = MEDIA_TYPES.grpcProto;
    return { status: 200, headers, body, trailers: addNotes({ ...OK_TRAILERS }, call) };
  },
  // A reply without messages has its status in the headers ("Trailers-Only"): clients retry only such calls.
  failure(headers, status, call) {
    headers['content-type'] = MEDIA_TYPES.grpcProto;
    Object.assign(headers, trailersOf(status));
    return { status: 200, headers: addNotes(headers, call), body: undefined };
  },
};

/** The trailers of a status. */
export function trailersOf(status: RpcStatus): ReplyFields {
  try {
    return statusTrailers(status);
  } catch {
    // The details cannot be sent as trailers; the status code can.
    return { 'grpc-status': String(status.code) };
  }
}

/** The framings of gRPC by the media types of their requests. */
export const GRPC_FRAMINGS: Readonly<Record<string, Framing>> = {
  [MEDIA_TYPES.grpc]: grpc,
  [MEDIA_TYPES.grpcProto]: grpc,
};
