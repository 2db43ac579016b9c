import { constants } from 'node:http2';
import { Readable } from 'node:stream';
import { untilAborted } from '../../contract/call/until-aborted.js';

/**
 * A body made of lines. The first line is awaited, so that earlier errors get an ordinary error reply. Later
 * errors abort the reply, so that the client sees that it is incomplete.
 */
export async function lineStream(
  lines: AsyncIterable<string>,
  signal: AbortSignal,
  bound: <T>(first: Promise<T>) => Promise<T> | T,
): Promise<Readable> {
  const rest = untilAborted(lines, signal);
  const first = await bound(rest.next());
  return Readable.from(withFirst(first, rest), { objectMode: false });
}

/**
 * Aborts a reply when its body fails. Over HTTP/1.1 the terminating chunk is missing anyway; over HTTP/2 the
 * stream must be reset, because destroying the response would end it as if it were complete.
 */
export function breakOffWithBody(body: Readable, response: object): void {
  const stream = (response as { readonly stream?: { close?(code: number): void } }).stream;
  body.once('error', () => stream?.close?.(constants.NGHTTP2_INTERNAL_ERROR));
}

async function* withFirst(
  first: IteratorResult<string, unknown>,
  rest: AsyncGenerator<string>,
): AsyncGenerator<string> {
  try {
    if (first.done === true) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
