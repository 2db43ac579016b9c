import type { Compression, UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol';
import { compressionGzip } from '@connectrpc/connect-node';
import { gzipped } from '../wire/gzip.js';
import { wrappedHandler } from './universal-handler.js';

/** Compresses replies. Requests are never decompressed with it, see `compressingReplies`. */
export const replyCompression: Compression = {
  ...compressionGzip,
  compress: async (bytes) => new Uint8Array(await gzipped(bytes)),
};

/** Headers that state the encoding of a request, in any protocol. */
const REQUEST_ENCODINGS = ['grpc-encoding', 'content-encoding', 'connect-content-encoding'];

/**
 * Connect decompresses requests with what it compresses replies with. Requests are not to be compressed, which bounds
 * what their messages grow to, so those that state an encoding are left to `plain`, which refuses them.
 */
export function compressingReplies(plain: UniversalHandler, compressing: UniversalHandler): UniversalHandler {
  return wrappedHandler(plain, (request) => (statesEncoding(request) ? plain : compressing)(request));
}

function statesEncoding({ header, method, url }: UniversalServerRequest): boolean {
  if (REQUEST_ENCODINGS.some((name) => header.has(name))) return true;
  return method === 'GET' && new URL(url).searchParams.has('compression');
}
