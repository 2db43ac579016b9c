import http, { type IncomingHttpHeaders } from 'node:http';
import net from 'node:net';

/** Where a service listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface HttpRequest {
  readonly method: string;
  /** Sent as it is: nothing is normalised or encoded. */
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** One HTTP/1.1 request on a connection of its own, through Node's client. */
export function sendHttp(address: Address, request: HttpRequest): Promise<HttpReply> {
  const { method, path, headers = {}, body } = request;
  return new Promise((resolve, reject) => {
    const outgoing = http.request({ ...address, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    // A server that refuses a body early may close while it is still being sent; the answer counts.
    outgoing.on('error', reject);
    outgoing.end(body);
  });
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
  /** Says at once that nothing will follow, as a client does that goes away. */
  readonly thenEnd?: boolean;
}

/** Writes bytes as they are and reads until the server closes the connection. */
export function sendRaw(address: Address, request: RawRequest): Promise<RawReply> {
  const { bytes, afterAnswer, thenEnd = false } = request;
  return new Promise((resolve) => {
    const socket = net.connect({ ...address, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    if (afterAnswer !== undefined) socket.once('data', () => socket.write(afterAnswer));
    socket.on('data', (chunk) => chunks.push(chunk));
    // A refused connection may end with a reset; what was received before is the answer.
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
