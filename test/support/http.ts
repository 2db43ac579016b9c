import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { until } from './until.js';

/** A request as bytes: nothing is normalised or encoded, so what `fetch` would change or refuse can be sent. */
export interface HttpExchange {
  readonly method?: string;
  readonly path: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: Buffer | string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly json: any;
}

/** One HTTP/1.1 request on a connection of its own, with exactly these headers (plus Host and Content-Length). */
export async function exchange(
  baseUrl: string,
  { method = 'GET', path, headers = {}, body }: HttpExchange,
  ca?: Buffer,
): Promise<HttpAnswer> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const isMeasured = body !== undefined && headers['transfer-encoding'] === undefined;
  const length = isMeasured ? { 'content-length': Buffer.byteLength(body) } : {};
  const options = { hostname, port, method, path, headers: { ...length, ...headers }, agent: false as const };
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const sent = protocol === 'https:' ? https.request({ ...options, ca }) : http.request(options);
    // A server that rejects a body early may close while it is still being sent; the answer counts.
    sent.on('error', reject);
    sent.once('response', resolve);
    sent.end(body);
  });
  const received = await bodyOf(response);
  const text = received.toString();
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: received,
    text,
    json: parsed(text),
  };
}

async function bodyOf(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A reply of a JSON route. */
export interface RestReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly body: any;
}

function restReply(status: number, headers: Headers, text: string): RestReply {
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}

/** Calls JSON routes the way the deployed clients do. */
export function restClient(baseUrl: string, defaultHeaders: Record<string, string> = {}) {
  return async function call(
    method: string,
    pathAndQuery: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<RestReply> {
    const response = await fetch(baseUrl + pathAndQuery, {
      method,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...defaultHeaders, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return restReply(response.status, response.headers, await response.text());
  };
}

export type RestClient = ReturnType<typeof restClient>;

/**
 * Repeats a call while the service answers 503: on a busy machine a change may take longer than the service
 * waits for it, and an evaluation longer than it waits for a revision.
 */
export function untilServed(ask: () => Promise<RestReply>): Promise<RestReply> {
  return until(ask, ({ status }) => status !== 503);
}

/** One HTTP/1.1 connection to one process. It carries one call at a time, and is never opened again. */
export interface RestConnection {
  /** Rejects when the connection breaks. */
  readonly call: RestClient;
  /** The port of this end. */
  readonly localPort: number | undefined;
  close(): void;
}

export async function openRestConnection(url: string): Promise<RestConnection> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  await once(socket, 'connect');
  const { localPort } = socket;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let isTaken = false;
  Object.assign(agent, {
    createConnection() {
      if (isTaken) throw new Error('the connection is closed');
      isTaken = true;
      return socket;
    },
  });
  return {
    async call(method, path, body, headers = {}) {
      const request = http.request(url + path, {
        method,
        agent,
        headers: { 'content-type': 'application/json', ...headers },
      });
      request.end(body === undefined ? undefined : JSON.stringify(body));
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      const received = new Headers();
      for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value));
      return restReply(response.statusCode ?? 0, received, (await bodyOf(response)).toString());
    },
    localPort,
    close: () => agent.destroy(),
  };
}

/** What came back on a raw connection until the server closed it. */
export interface RawReply {
  /** Status of each response, in order. */
  readonly statuses: number[];
  readonly text: string;
}

export interface RawRequest {
  readonly bytes: Buffer;
  /** Sent once the first answer has begun to arrive. */
  readonly afterAnswer?: Buffer;
  /** Ends the sending side at once, as a client does that disconnects. */
  readonly thenEnd?: boolean;
}

/** Writes bytes as they are and reads until the server closes the connection. */
export function sendRaw(baseUrl: string, request: RawRequest): Promise<RawReply> {
  const { bytes, afterAnswer, thenEnd = false } = request;
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const chunks: Buffer[] = [];
    if (afterAnswer !== undefined) socket.once('data', () => socket.write(afterAnswer));
    socket.on('data', (chunk) => chunks.push(chunk));
    // A rejected connection may end with a reset; what was received before is the answer.
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('latin1');
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((found) => Number(found[1]));
      resolve({ statuses, text });
    });
    if (thenEnd) socket.end(bytes);
    else socket.write(bytes);
  });
}
