import { once } from 'node:events';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { markedEvents } from './exact-events.js';
import { markedText, unmarked } from './exact-message.js';
import { isSessionRefusal } from './lost-session.js';
import { headerPairs, utf8Text, wholeBody } from './node-messages.js';

/** A body of an upstream was larger than it may be. */
export class ResultTooLargeError extends Error {
  override readonly name = 'ResultTooLargeError';

  constructor(maxBytes: number) {
    super(`the upstream sends a message of more than ${maxBytes} bytes`);
  }
}

/** `fetch` of one upstream, with connections of its own. */
export interface BoundedFetch {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Ends idle connections. */
  close(): void;
}

/** A response whose body is read: what reads it again makes no stream. Its JSON has its numbers as marked texts. */
class ReadResponse extends Response {
  override readonly text: () => Promise<string>;
  override readonly json: () => Promise<unknown>;

  constructor(read: Buffer, init: ResponseInit) {
    super(null, init);
    // The SDK looks for an error of JSON-RPC in the text of this status.
    this.text = async () => (init.status === 400 ? markedOrAsItIs(read) : read.toString('utf8'));
    this.json = async () => JSON.parse(markedText(utf8Text(read)));
  }
}

function markedOrAsItIs(read: Buffer): string {
  try {
    return markedText(utf8Text(read));
  } catch {
    return read.toString('utf8');
  }
}

/** No error about a session is longer. */
const MAX_ERROR_BYTES = 4_096;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * A `fetch` that reads no more than `maxBytes` of a message: of a body as a whole, of a stream of events (SSE) of each event. A
 * larger body rejects with a ResultTooLargeError; a larger event ends its stream, of which `onTooLarge` is told with the body of
 * the request. The rest is not read. It follows no redirect, asks for no compression, and takes half the time of the
 * `fetch` of Node.js.
 * Numbers are sent as they were written; in what it reads they are marked texts, and `unreadable` makes what takes the place of
 * an event that readers could differ in, `unfinished` the answer that a stream lacks.
 */
export function createBoundedFetch(
  maxBytes: number,
  onTooLarge: (request: unknown) => void,
  unreadable: (request: string | undefined, data: string, error: Error) => string | undefined,
  unfinished: (request: string | undefined, last: string | undefined) => string | undefined,
): BoundedFetch {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  return {
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
    async fetch(url, { method = 'GET', headers, body, signal } = {}) {
      signal?.throwIfAborted();
      const target = new URL(url);
      const isSecure = target.protocol === 'https:';
      const text = typeof body === 'string' ? unmarked(body) : undefined;
      const sent = (isSecure ? requestHttps : requestHttp)(target, {
        method,
        agent: isSecure ? agents.https : agents.http,
        headers: {
          ...Object.fromEntries(new Headers(headers)),
          ...(text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }),
        },
      });
      const leave = (): void => void sent.destroy(signal?.reason);
      signal?.addEventListener('abort', leave, { once: true });
      sent.once('close', () => signal?.removeEventListener('abort', leave));
      // What fails after the response has begun is told by its body.
      sent.on('error', () => {});
      sent.end(text);
      const [reply] = (await once(sent, 'response')) as [IncomingMessage];
      const { statusCode: status = 500, statusMessage: statusText = '' } = reply;
      const init = { status, statusText, headers: headerPairs(reply.headers) };
      if (reply.headers['content-type']?.startsWith('text/event-stream') === true)
        return new Response(
          limitedEvents(reply, maxBytes, () => onTooLarge(text)).pipeThrough(
            markedEvents(
              (data, error) => unreadable(text, data, error),
              (last) => unfinished(text, last),
            ),
          ),
          init,
        );
      const read = await wholeBody(reply, maxBytes);
      if (read === undefined) {
        reply.destroy();
        throw new ResultTooLargeError(maxBytes);
      }
      const isRefusal =
        status < 300 && read.length < MAX_ERROR_BYTES && isSessionRefusal(read.toString('utf8'));
      // As servers say it that follow the specification.
      return new ReadResponse(read, isRefusal ? { ...init, status: 404 } : init);
    },
  };
}

function limitedEvents(
  reply: IncomingMessage,
  maxBytes: number,
  onTooLarge: () => void,
): ReadableStream<Uint8Array> {
  let ofEvent = 0;
  let isLineEmpty = true;
  /** Counts the bytes since the last empty line, which ends an event. */
  const grows = (chunk: Uint8Array): boolean => {
    for (const byte of chunk) {
      ofEvent += 1;
      if (byte === LINE_FEED) {
        if (isLineEmpty) ofEvent = 0;
        isLineEmpty = true;
      } else if (byte !== CARRIAGE_RETURN) isLineEmpty = false;
      if (ofEvent > maxBytes) return true;
    }
    return false;
  };
  const chunks = (reply as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      // What breaks off is as what ends: an answer that has not come yet does not come.
      const { done, value } = await chunks.next().catch(() => ({ done: true, value: undefined }));
      if (done === true || value === undefined) return controller.close();
      if (grows(value)) {
        reply.destroy();
        onTooLarge();
        return controller.error(new ResultTooLargeError(maxBytes));
      }
      controller.enqueue(value);
    },
    cancel: () => void reply.destroy(),
  });
}
