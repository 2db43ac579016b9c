import http from 'node:http';
import https from 'node:https';

/** Longest time without progress of a request, in milliseconds. */
const SILENCE_MS = 30_000;
/** Bytes that are written at once, so that encryption does not delay the thread for long. */
const SLICE_BYTES = 256 * 1024;
/** Longest reply that is read, in bytes. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

export interface HttpReply {
  readonly status: number;
  /** Empty if there is none. */
  readonly etag: string;
  readonly bytes: Buffer;
}

/** Sends a request and reads the whole reply. */
export function exchange(
  url: URL,
  method: string,
  headers: Record<string, string>,
  body: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const length = body === undefined ? {} : { 'content-length': String(body.byteLength) };
    const sent = request(url, { method, headers: { ...headers, ...length }, signal, timeout: SILENCE_MS });
    sent.on('timeout', () => sent.destroy(new Error(`${url.host} did not answer in time`)));
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_REPLY_BYTES) sent.destroy(new Error('the reply is too long'));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          etag: response.headers.etag ?? '',
          bytes: Buffer.concat(chunks),
        }),
      );
    });
    writeSlices(sent, body ?? new Uint8Array(0));
  });
}

function writeSlices(to: http.ClientRequest, bytes: Uint8Array): void {
  let at = 0;
  const more = (): void => {
    while (at < bytes.byteLength) {
      const slice = bytes.subarray(at, at + SLICE_BYTES);
      at += slice.byteLength;
      if (!to.write(slice)) return void to.once('drain', more);
    }
    to.end();
  };
  more();
}
