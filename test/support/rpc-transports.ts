import type { Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  type GrpcTransportOptions,
  type Http2SessionManager,
} from '@connectrpc/connect-node';

/** Every way a client of Connect's libraries reaches an RPC. */
export const RPC_PROTOCOLS = [
  'gRPC',
  'gRPC-Web over HTTP/1.1',
  'gRPC-Web over HTTP/2',
  'Connect over HTTP/1.1',
  'Connect over HTTP/2',
] as const;
export type RpcProtocol = (typeof RPC_PROTOCOLS)[number];

/** Those that can read and write a stream at the same time. */
export const BIDI_PROTOCOLS = ['gRPC', 'Connect over HTTP/2'] as const satisfies RpcProtocol[];

/** How a client compresses: by default it accepts gzip and brotli, and sends neither. */
export type ClientCompression = Pick<
  GrpcTransportOptions,
  'acceptCompression' | 'sendCompression' | 'compressMinBytes'
>;

/** A transport to a base address; `ca` is the certificate to trust, and `sessionManager` what HTTP/2 connects by. */
export function rpcTransport(
  protocol: RpcProtocol,
  baseUrl: string,
  ca?: string | Buffer,
  more: ClientCompression & { readonly sessionManager?: Http2SessionManager } = {},
): Transport {
  const options = { baseUrl, nodeOptions: ca === undefined ? {} : { ca }, ...more };
  switch (protocol) {
    case 'gRPC':
      return createGrpcTransport(options);
    case 'gRPC-Web over HTTP/1.1':
      return createGrpcWebTransport({ ...options, httpVersion: '1.1' });
    case 'gRPC-Web over HTTP/2':
      return createGrpcWebTransport({ ...options, httpVersion: '2' });
    case 'Connect over HTTP/1.1':
      return createConnectTransport({ ...options, httpVersion: '1.1' });
    case 'Connect over HTTP/2':
      return createConnectTransport({ ...options, httpVersion: '2' });
  }
}
