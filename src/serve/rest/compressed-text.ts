import type { FastifyReply, FastifyRequest } from 'fastify';
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
