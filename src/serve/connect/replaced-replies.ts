import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { ENVELOPE_FLAGS, PREFIX_LENGTH } from '../wire/envelope.js';
import { mediaTypeOf } from '../wire/media-types.js';
import { type EncodedReply, lengthOf } from './encoded-replies.js';
import { bytesOf, chunksOf } from './universal-handler.js';

/** Flags of envelopes that hold no message: trailers of gRPC-Web, and the end of a stream of Connect. */
const NO_MESSAGE = ENVELOPE_FLAGS.trailers | ENVELOPE_FLAGS.endOfStream;

/**
 * A response in which each message of Connect, an empty one, is replaced by the next of `replies`, if there are some.
 * `sends` receives the bytes of each part of the body.
 */
export function withReplies(
  response: UniversalServerResponse,
  replies: EncodedReply[],
  sends: (bytes: number) => void,
): UniversalServerResponse {
  const { header } = response;
  const body = bytesOf(response);
  if (body === undefined) return response;
  if (replies.length > 0 && response.status === 200 && header !== undefined && isWhole(header)) {
    const [reply = []] = replies.splice(0);
    return { ...response, body: whole(reply, header, sends) };
  }
  return { ...response, body: replaced(body, replies, sends) };
}

function isWhole(header: Headers): boolean {
  return mediaTypeOf(header.get('content-type') ?? undefined).isWhole;
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
  if (first[0] === ENVELOPE_FLAGS.compressed) header.set('content-encoding', 'gzip');
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
      return chunksOf(inner, async () => {
        if (sent < chunks.length) return next();
        const result = await inner.next();
        if (result.done !== true) sends(lengthOf(replies[0] ?? [result.value]));
        if (result.done === true || ((result.value[0] ?? 0) & NO_MESSAGE) !== 0) return result;
        const reply = replies.shift();
        if (reply === undefined) return result;
        chunks = reply;
        sent = 0;
        return next();
      });
    },
  };
}
