import http from 'node:http';
import https from 'node:https';
import { retryAfterMs } from '../../../contract/call/retry-after.js';

/** Bytes of the body of an answer that are read, and thrown away, so that the connection can be used again. */
const MAX_ANSWER_BYTES = 65_536;
/** Time for that body, in milliseconds: the next request may wait for the connection. */
const ANSWER_BODY_MS = 1_000;

/** The receiver did not take a request. */
export class RefusedDelivery extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** How long it asks to wait; 0 if it does not. */
    readonly retryAfterMs: number,
  ) {
    super(message);
    this.name = 'RefusedDelivery';
  }
}

export interface HttpClientOptions {
  readonly url: string;
  /** PEM of certificate authorities; null for those of Node.js. */
  readonly ca: string | null;
  readonly connections: number;
  /** Longest time until the status of an answer, in milliseconds. */
  readonly limitMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Sends requests to one address, on connections that it keeps. */
export interface HttpClient {
  /** Resolves when the receiver has answered with 2xx. */
  post(headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export function createHttpClient({
  url,
  ca,
  connections,
  limitMs,
  now,
  signal,
}: HttpClientOptions): HttpClient {
  const { protocol, host } = new URL(url);
  const { request, Agent } = protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ...(ca === null ? {} : { ca }) });
  return {
    post: (headers, body) =>
      new Promise((resolve, reject) => {
        const sent = request(url, {
          method: 'POST',
          agent,
          signal,
          headers: { ...headers, 'content-length': String(body.byteLength) },
        });
        let timer = setTimeout(() => {
          sent.destroy(new Error(`${host} did not answer within ${limitMs / 1000} seconds`));
        }, limitMs);
        sent.on('close', () => {
          clearTimeout(timer);
          // An answer that is none, such as another protocol, closes without an error.
          reject(new Error(`${host} closed the connection without an answer`));
        });
        sent.on('error', reject);
        sent.on('response', (answer) => {
          const { statusCode = 0, headers: answered } = answer;
          let bytes = 0;
          // What follows the headers does not matter.
          clearTimeout(timer);
          timer = setTimeout(() => answer.destroy(), ANSWER_BODY_MS);
          answer.on('error', () => {});
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > MAX_ANSWER_BYTES) answer.destroy();
          });
          if (statusCode >= 200 && statusCode < 300) return resolve();
          const why = statusCode >= 300 && statusCode < 400 ? ', and redirects are not followed' : '';
          const waitMs = retryAfterMs(answered['retry-after'], now()) ?? 0;
          reject(
            new RefusedDelivery(`${host} answered with the status ${statusCode}${why}`, statusCode, waitMs),
          );
        });
        sent.end(body);
      }),
    close: async () => agent.destroy(),
  };
}
