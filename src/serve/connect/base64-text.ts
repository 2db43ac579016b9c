import { Code, ConnectError } from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { MEDIA_TYPES, mediaTypeOf } from '../wire/media-types.js';
import { bytesOf, wrappedHandler } from './universal-handler.js';

/** Parts that were encoded by themselves, each of whole groups, may follow each other. */
const PARTS = /[A-Za-z0-9+/]+={0,2}/g;
const WHOLE = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*$/;

/**
 * Serves gRPC-Web whose bodies are base64 as well (PROTOCOL-WEB.md of grpc), which clients of the
 * official generator send by default.
 */
export function withBase64(handler: UniversalHandler): UniversalHandler {
  return wrappedHandler(handler, async (request) => {
    const contentType = request.header.get('content-type') ?? '';
    if (!mediaTypeOf(contentType).isBase64) return handler(request);
    request.header.set(
      'content-type',
      `${MEDIA_TYPES.grpcWeb}${contentType.slice(MEDIA_TYPES.grpcWebText.length)}`,
    );
    const given = bytesOf(request);
    const response = await handler(given === undefined ? request : { ...request, body: fromBase64(given) });
    const body = bytesOf(response);
    response.header?.set('content-type', contentType);
    return body === undefined ? response : { ...response, body: toBase64(body) };
  });
}

/** The bytes of base64 in chunks that may end anywhere. Throws INVALID_ARGUMENT for other text. */
export async function* fromBase64(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    const whole = text.length - (text.length % 4);
    rest = text.slice(whole);
    if (whole > 0) yield decoded(text.slice(0, whole));
  }
  if (rest !== '') throw noBase64();
}

async function* toBase64(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const { buffer, byteOffset, byteLength } of chunks) {
    yield Buffer.from(Buffer.from(buffer, byteOffset, byteLength).toString('base64'), 'latin1');
  }
}

function decoded(text: string): Uint8Array {
  if (!WHOLE.test(text)) throw noBase64();
  return Buffer.concat([...text.matchAll(PARTS)].map(([part]) => Buffer.from(part, 'base64')));
}

function noBase64(): ConnectError {
  return new ConnectError(`the body of ${MEDIA_TYPES.grpcWebText} must be base64`, Code.InvalidArgument);
}
