import http from 'node:http';
import https from 'node:https';

/** A request as bytes: what `fetch` would change or refuse can be sent as well. */
export interface HttpExchange {
  readonly method?: string;
  readonly path: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: Buffer | string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly json: any;
}

/** One HTTP/1.1 request on a connection of its own, with exactly these headers (plus Host and Content-Length). */
export function exchange(baseUrl: string, request: HttpExchange, ca?: Buffer): Promise<HttpAnswer> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const { method = 'GET', path, headers = {}, body } = request;
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const options = { hostname, port, method, path, headers: { ...length, ...headers }, agent: false as const };
  return new Promise((resolve, reject) => {
    const sent = protocol === 'https:' ? https.request({ ...options, ca }) : http.request(options);
    sent.once('error', reject);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      });
    });
    sent.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
