import { once } from 'node:events';
import http2 from 'node:http2';
import type { RestReply } from './rest-client.js';

/** Calls JSON routes over one HTTP/2 connection, any number at the same time, and so all at one process. */
export interface Http2RestClient {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<RestReply>;
  /** The port of this end. */
  readonly localPort: number | undefined;
  close(): void;
}

/** Connects without TLS. Calls reject when the connection breaks. */
export async function connectHttp2(url: string): Promise<Http2RestClient> {
  const session = http2.connect(url);
  // A connection that breaks is told by the calls on it.
  session.on('error', () => {});
  await once(session, 'connect');
  return {
    call: (method, path, body, headers = {}) => call(session, method, path, body, headers),
    get localPort() {
      return session.socket?.localPort;
    },
    close: () => session.destroy(),
  };
}

async function call(
  session: http2.ClientHttp2Session,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<RestReply> {
  const stream = session.request({
    ':method': method,
    ':path': path,
    'content-type': 'application/json',
    ...headers,
  });
  const answered = once(stream, 'response') as Promise<[http2.IncomingHttpHeaders]>;
  stream.end(body === undefined ? undefined : JSON.stringify(body));
  // A stream that is closed by the end of its connection does not always tell an error.
  const closed = once(stream, 'close').then(() => Promise.reject(new Error('the connection broke')));
  closed.catch(() => {});
  const [received] = await Promise.race([answered, closed]);
  let text = '';
  for await (const chunk of stream) text += chunk;
  const isJson = received['content-type']?.startsWith('application/json') === true;
  return {
    status: Number(received[':status']),
    headers: new Headers(
      Object.entries(received).flatMap(([name, value]) =>
        name.startsWith(':') || typeof value !== 'string' ? [] : [[name, value] as [string, string]],
      ),
    ),
    body: isJson ? JSON.parse(text) : text,
  };
}
