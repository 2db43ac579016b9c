import type { OutgoingHttpHeaders } from 'node:http';
import type { ConnectError } from '@connectrpc/connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { encodeGrpcMessage } from '../connect/grpc-message.js';

/** The trailers of a call that went well. */
export const OK_TRAILERS: OutgoingHttpHeaders = { 'grpc-status': '0' };

/** The trailers that carry a status: what Connect sends, with the message escaped as little as gRPC asks for. */
export function statusTrailers(status: ConnectError): OutgoingHttpHeaders {
  const headers = setTrailerStatus(new Headers(), status);
  headers.set('grpc-message', encodeGrpcMessage(status.rawMessage));
  return Object.fromEntries(headers);
}
