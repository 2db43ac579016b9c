import type { UniversalServerResponse } from '@connectrpc/connect/protocol';

const GRPC_MESSAGE = 'grpc-message';

/** Characters that a status message must escape: all but printable ASCII, and the escape character itself. */
const MUST_ESCAPE = /[^\x20-\x24\x26-\x7e]+|%/gu;

/** Most characters of an encoded message: clients commonly accept 8 KiB of trailers. Only other scripts are longer. */
const MAX_ENCODED_LENGTH = 1_400;
const ELLIPSIS = '%E2%80%A6';

/**
 * Percent-encodes a status message only as far as the gRPC protocol requires (gRPC over HTTP2, "Responses").
 * Connect escapes all punctuation, which grpc-js, for example, does not decode.
 */
export function encodeGrpcMessage(message: string): string {
  const encoded = message.replace(MUST_ESCAPE, encodeURIComponent);
  return encoded.length > MAX_ENCODED_LENGTH ? shortEncoding(message) : encoded;
}

function shortEncoding(message: string): string {
  let encoded = '';
  for (const character of message) {
    const next = character.replace(MUST_ESCAPE, encodeURIComponent);
    if (encoded.length + next.length + ELLIPSIS.length > MAX_ENCODED_LENGTH) break;
    encoded += next;
  }
  return encoded + ELLIPSIS;
}

/** Encodes the status message in the trailers of a gRPC response minimally once the body has ended. */
export function withMinimalMessage(response: UniversalServerResponse): UniversalServerResponse {
  const { body, trailer } = response;
  if (trailer === undefined || body === undefined || !(Symbol.asyncIterator in body)) return response;
  return { ...response, body: afterLast(body as AsyncIterable<Uint8Array>, () => rewrite(trailer)) };
}

function rewrite(trailer: Headers): void {
  const message = trailer.get(GRPC_MESSAGE);
  if (message !== null) trailer.set(GRPC_MESSAGE, encodeGrpcMessage(decodeURIComponent(message)));
}

/** Passes an iterable on, then runs `then`. Not a generator: streams are iterated once per message. */
function afterLast(source: AsyncIterable<Uint8Array>, then: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const inner = source[Symbol.asyncIterator]();
      const outer: AsyncIterator<Uint8Array> = {
        async next() {
          const result = await inner.next();
          if (result.done === true) then();
          return result;
        },
      };
      if (inner.return !== undefined)
        outer.return = (value) => inner.return?.(value) ?? Promise.resolve({ done: true, value });
      if (inner.throw !== undefined) outer.throw = (error) => inner.throw?.(error) ?? Promise.reject(error);
      return outer;
    },
  };
}
