import { constants } from 'node:http2';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { untilAborted } from '../../contract/call/until-aborted.js';
import { acceptsGzip, gzipped, MIN_GZIP_BYTES } from '../wire/gzip.js';
import { ETAG_HEADER } from '../wire/reply-headers.js';

/**
 * The text of a JSON reply, compressed if its caller accepts that and it is large. Only for replies that contain no
 * secrets: the length of a compressed reply tells of what it repeats.
 */
export function compressedText(
  text: string | Buffer,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): string | Buffer | Promise<Buffer> {
  if (Buffer.byteLength(text) < MIN_GZIP_BYTES) return text;
  vary(reply);
  if (!acceptsGzip(headers['accept-encoding'])) return text;
  reply.header('content-encoding', 'gzip');
  // A strong tag would say that the bytes are those of the uncompressed reply.
  const tag = reply.getHeader(ETAG_HEADER);
  if (typeof tag === 'string' && !tag.startsWith('W/')) reply.header(ETAG_HEADER, `W/${tag}`);
  return typeof text === 'string' ? gzipped(text) : gzippedOnce(text);
}

/** Bytes that many replies have are compressed once. */
const compressed = new WeakMap<Buffer, Promise<Buffer>>();

function gzippedOnce(bytes: Buffer): Promise<Buffer> {
  const known = compressed.get(bytes) ?? gzipped(bytes);
  compressed.set(bytes, known);
  return known;
}

/** Sends a text that all callers share, and counts its bytes for the address of this one, which needs no key. */
export async function sendShared(
  text: Buffer,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = await compressedText(text, request, reply);
  request.ticket.sendsPublic(body.length);
  return reply.send(body);
}

/** Caches must distinguish the encodings of a reply. */
function vary(reply: FastifyReply): void {
  const known = reply.getHeader('vary');
  reply.header('vary', known === undefined ? 'accept-encoding' : `${String(known)}, accept-encoding`);
}

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
