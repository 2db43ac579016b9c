import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Of a body that was read to its end, and decompressed. */
  readonly body: string;
}

/** What a receiver does with a request: keeps it and answers, or something worse. */
export type Reaction =
  /** Keeps it, and answers with 2xx. */
  | 'take'
  /** Keeps it, and breaks the connection instead of answering. */
  | 'take and break'
  /** Keeps it, and answers with 2xx and a body without an end. */
  | 'take and go on'
  /** Breaks the connection when it has seen the headers. */
  | 'break'
  /** Answers as if another protocol followed. */
  | 'switch'
  /** Never answers. */
  | 'hang'
  /** Does not keep it. */
  | { readonly status: number; readonly headers?: Record<string, string> };

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';

/** A receiver of events in this process. */
export interface HttpReceiver {
  readonly url: string;
  readonly port: number;
  /** Those that it kept. */
  readonly kept: ReceivedRequest[];
  /** All that began. */
  readonly begun: () => number;
  /** What it does with the next requests; it takes those after them. */
  next(...reactions: readonly Reaction[]): void;
  stop(): Promise<void>;
}

export async function startHttpReceiver({
  port = 0,
  tls,
}: {
  readonly port?: number;
  readonly tls?: { readonly key: Buffer; readonly cert: Buffer };
} = {}): Promise<HttpReceiver> {
  const kept: ReceivedRequest[] = [];
  const reactions: Reaction[] = [];
  let begun = 0;

  const serve = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    begun += 1;
    const reaction = reactions.shift() ?? 'take';
    if (reaction === 'break') {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (reaction === 'hang') return;
    if (reaction === 'switch') {
      request.socket.write(SWITCHING);
      return;
    }
    if (typeof reaction === 'object') {
      response.writeHead(reaction.status, reaction.headers).end('no');
      return;
    }
    const bytes = Buffer.concat(chunks);
    const { method = '', url: path = '', headers } = request;
    const body = String(headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
    kept.push({ method, path, headers, body });
    if (reaction === 'take and break') request.socket.destroy();
    else if (reaction === 'take and go on') response.writeHead(200).write('a');
    else response.writeHead(202).end('{"taken":true}');
  };
  const handler: http.RequestListener = (request, response) =>
    // A sender that is killed breaks its requests.
    void serve(request, response).catch(() => {});
  const server = tls === undefined ? http.createServer(handler) : https.createServer(tls, handler);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const used = (server.address() as AddressInfo).port;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${used}/logs/prod?source=tested`,
    port: used,
    kept,
    begun: () => begun,
    next: (...given) => void reactions.push(...given),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
