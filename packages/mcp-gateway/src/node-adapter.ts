import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutStack } from '../../exact-json/src/index.js';
import { readRequest, unmarked } from './exact-message.js';
import { failure } from './failure.js';

/** Answers a request whose body is read already. `body` is undefined without one. */
export type Answering = (request: Request, body: unknown) => Promise<Response>;

/** The body is larger than it may be; the rest is not read. */
class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/** The body says that it is text in another encoding than that of JSON. */
class CharsetError extends Error {
  override readonly name = 'CharsetError';
}

/** The body is no JSON, or one that readers could differ in. */
class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/**
 * Serves requests of Node.js by a function of requests and responses of the web. Unlike the adapter of the SDK it parses a body
 * once, and writes a reply that is no stream in one piece with its length. `onEnd` is called when a reply has ended.
 */
export async function serveNode(
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
  answer: Answering,
): Promise<void> {
  const leaves = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) leaves.abort();
  });
  let reply: Response;
  try {
    const { method = 'GET' } = request;
    if (!isUtf8(request.headers['content-type'] ?? '')) throw new CharsetError();
    const body = method === 'POST' ? messageOf(await bytesOf(request, maxBodyBytes)) : undefined;
    reply = await answer(webRequest(request, method, leaves.signal), body);
  } catch (error) {
    if (error instanceof BodyTooLargeError) {
      response.setHeader('connection', 'close');
      reply = failure(413, -32_000, `the body is larger than ${maxBodyBytes} bytes`);
    } else if (error instanceof CharsetError) reply = failure(415, -32_000, 'the body must be JSON in UTF-8');
    else if (error instanceof UnreadableError) reply = failure(400, -32_700, `Parse error: ${error.message}`);
    else throw error;
  }
  await write(reply, response, leaves.signal);
}

function isUtf8(contentType: string): boolean {
  const charsets = [...contentType.matchAll(/charset\s*=\s*"?([^;"]*)/gi)].map(([, charset = '']) =>
    charset.trim(),
  );
  return charsets.every((charset) => /^utf-?8$/i.test(charset));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The message of a body. Throws an UnreadableError unless all readers read the same in it. */
function messageOf(bytes: Buffer): unknown {
  try {
    return withoutStack(() => readRequest(UTF8.decode(bytes)));
  } catch (error) {
    throw new UnreadableError((error as Error).message);
  }
}

async function bytesOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLargeError();
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read > maxBytes) throw new BodyTooLargeError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function webRequest({ headers, url = '/' }: IncomingMessage, method: string, signal: AbortSignal): Request {
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : Array.isArray(value) ? value.map((one) => [name, one]) : [[name, value]],
  );
  return new Request(`http://${headers.host ?? 'localhost'}${url}`, { method, headers: pairs, signal });
}

async function write(reply: Response, response: ServerResponse, left: AbortSignal): Promise<void> {
  const headers = Object.fromEntries(reply.headers);
  if (reply.body === null || headers['content-type']?.startsWith('text/event-stream') !== true) {
    const text = reply.body === null ? '' : unmarked(await reply.text());
    response.writeHead(reply.status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text);
    return;
  }
  response.writeHead(reply.status, headers);
  response.flushHeaders();
  const reader = reply.body.pipeThrough(unmarkedLines()).getReader();
  const leave = (): void => void reader.cancel().catch(() => {});
  left.addEventListener('abort', leave, { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (done || left.aborted) break;
    if (!response.write(value))
      await new Promise<void>((resolve) => void response.once('drain', resolve).once('close', resolve));
  }
  left.removeEventListener('abort', leave);
  response.end();
}

/** Whole lines of a stream, with their numbers as they were written. */
function unmarkedLines(): TransformStream<Uint8Array, Buffer> {
  let kept: Buffer = Buffer.alloc(0);
  return new TransformStream({
    transform(chunk, controller) {
      const bytes = Buffer.concat([kept, chunk]);
      const end = bytes.lastIndexOf('\n') + 1;
      kept = bytes.subarray(end);
      if (end > 0) controller.enqueue(Buffer.from(unmarked(bytes.toString('utf8', 0, end))));
    },
    flush: (controller) => controller.enqueue(kept),
  });
}
