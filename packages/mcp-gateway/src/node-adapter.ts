import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutStack } from '../../exact-json/src/index.js';
import { failure } from './errors.js';
import { readRequest, unmarked } from './exact-message.js';
import { headerPairs, utf8Text, wholeBody } from './node-messages.js';

/** Answers a request whose body is read already. `body` is undefined without one. */
export type Answering = (request: Request, body: unknown) => Promise<Response>;

/** A body that is not passed on, with the answer to it. */
class RefusedBody extends Error {
  readonly reply: Response;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.reply = failure(status, code, message);
  }
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
    if (!isUtf8(request.headers['content-type'] ?? ''))
      throw new RefusedBody(415, -32_000, 'the body must be JSON in UTF-8');
    const body = method === 'POST' ? await messageOf(request, maxBodyBytes) : undefined;
    reply = await answer(webRequest(request, method, leaves.signal), body);
  } catch (error) {
    if (!(error instanceof RefusedBody)) throw error;
    reply = error.reply;
    // The rest of a body that is too large is not read.
    if (reply.status === 413) response.setHeader('connection', 'close');
  }
  await write(reply, response, leaves.signal);
}

function isUtf8(contentType: string): boolean {
  const charsets = [...contentType.matchAll(/charset\s*=\s*"?([^;"]*)/gi)];
  return charsets.every(([, charset = '']) => /^utf-?8$/i.test(charset.trim()));
}

/** The message of a body. Throws a RefusedBody unless all readers read the same in it. */
async function messageOf(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const bytes = await wholeBody(request, maxBytes);
  if (bytes === undefined) throw new RefusedBody(413, -32_000, `the body is larger than ${maxBytes} bytes`);
  try {
    return withoutStack(() => readRequest(utf8Text(bytes)));
  } catch (error) {
    throw new RefusedBody(400, -32_700, `Parse error: ${(error as Error).message}`);
  }
}

function webRequest({ headers, url = '/' }: IncomingMessage, method: string, signal: AbortSignal): Request {
  const address = `http://${headers.host ?? 'localhost'}${url}`;
  return new Request(address, { method, headers: headerPairs(headers), signal });
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
