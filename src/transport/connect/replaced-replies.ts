import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { COMPRESSED, type EncodedReply, lengthOf, PREFIX_LENGTH } from './encoded-replies.js';

/** Flags of envelopes that hold no message: trailers of gRPC-Web, and the end of a stream of Connect. */
const NO_MESSAGE = 0x80 | 0x02;

/**
 * A response in which each message of Connect, an empty one, is replaced by the next of `replies`, if there are some.
 * `sends` receives the bytes of each part of the body.
 */
export function withReplies(
  response: UniversalServerResponse,
  replies: EncodedReply[],
  sends: (bytes: number) => void,
): UniversalServerResponse {
  const { body, header } = response;
  if (body === undefined || !(Symbol.asyncIterator in body)) return response;
  if (replies.length > 0 && response.status === 200 && isWhole(header)) {
    const [reply = []] = replies.splice(0);
    return { ...response, body: whole(reply, header as Headers, sends) };
  }
  return { ...response, body: replaced(body as AsyncIterable<Uint8Array>, replies, sends) };
}

/** Whether the body is one message of Connect, without an envelope. */
function isWhole(header: Headers | undefined): boolean {
  return /^application\/(?:json|proto)$/.test(header?.get('content-type') ?? '');
}

async function* whole(
  reply: EncodedReply,
  header: Headers,
  sends: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const [first = new Uint8Array(PREFIX_LENGTH), ...others] = reply;
  const chunks = [first.subarray(PREFIX_LENGTH), ...others];
  const length = lengthOf(chunks);
  // Headers are sent after the first chunk was asked for.
  header.set('content-length', String(length));
  if (first[0] === COMPRESSED) header.set('content-encoding', 'gzip');
  sends(length);
  for (const chunk of chunks) if (chunk.length > 0) yield chunk;
}

/** Not a generator: streams are iterated once per message. */
function replaced(
  source: AsyncIterable<Uint8Array>,
  replies: EncodedReply[],
  sends: (bytes: number) => void,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const inner = source[Symbol.asyncIterator]();
      let chunks: EncodedReply = [];
      let sent = 0;
      const next = (): IteratorResult<Uint8Array> => ({ done: false, value: chunks[sent++] as Uint8Array });
      const outer: AsyncIterator<Uint8Array> = {
        async next() {
          if (sent < chunks.length) return next();
          const result = await inner.next();
          if (result.done !== true) sends(lengthOf(replies[0] ?? [result.value]));
          if (result.done === true || ((result.value[0] ?? 0) & NO_MESSAGE) !== 0) return result;
          const reply = replies.shift();
          if (reply === undefined) return result;
          chunks = reply;
          sent = 0;
          return next();
        },
      };
      if (inner.return !== undefined)
        outer.return = (value) => inner.return?.(value) ?? Promise.resolve({ done: true, value });
      if (inner.throw !== undefined) outer.throw = (error) => inner.throw?.(error) ?? Promise.reject(error);
      return outer;
    },
  };
}
