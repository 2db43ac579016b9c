import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { type EncodedReply, lengthOf } from './encoded-replies.js';

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
  const { body } = response;
  if (body === undefined || !(Symbol.asyncIterator in body)) return response;
  return { ...response, body: replaced(body as AsyncIterable<Uint8Array>, replies, sends) };
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
