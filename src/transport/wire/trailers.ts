import { encodeStatus } from './encode-status.js';
import { encodeGrpcMessage } from './grpc-message.js';
import type { ReplyFields } from './reply.js';
import { PUSHBACK_TRAILER, pushbackOf, type RpcStatus } from './rpc-status.js';

/** The trailers of a successful call. */
export const OK_TRAILERS: ReplyFields = { 'grpc-status': '0' };

/** The trailers of a status; its message is escaped only as far as gRPC requires. */
export function statusTrailers(status: RpcStatus): ReplyFields {
  const { code, message, details } = status;
  const trailers: ReplyFields = {
    'grpc-status': String(code),
    // Field values must not begin or end with blanks (RFC 9113, section 8.2.1); the field would be dropped.
    'grpc-message': encodeGrpcMessage(message.trim()),
  };
  const pushback = pushbackOf(status);
  if (pushback !== undefined) trailers[PUSHBACK_TRAILER] = pushback;
  if (details.length > 0) {
    const bytes = encodeStatus(status);
    // Without padding, as gRPC recommends (gRPC over HTTP2, "Binary-Header").
    trailers['grpc-status-details-bin'] = bytes
      .toString('base64')
      .slice(0, Math.ceil((bytes.length * 4) / 3));
  }
  return trailers;
}
