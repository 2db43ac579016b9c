import { constants } from 'node:http2';
import { Readable } from 'node:stream';
import { untilAborted } from '../../contract/call/until-aborted.js';

/** Newline-delimited JSON: one value in each line. */
export const LINES_MEDIA_TYPE = 'application/x-ndjson';

/**
 * Lines as a body. The first one is awaited, so that what fails before it still gets an ordinary error reply. What
 * fails later breaks the reply off, so that the client sees that the end is missing.
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
 * Breaks a reply off when its body fails. Over HTTP/1.1 the end of the last chunk is missing anyway; over HTTP/2 the
 * stream has to be reset, since merely destroying the response ends it as if it were complete.
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
