import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { AwsClient } from 'aws4fetch';
import type { S3Config } from '../../config/config-sinks.js';
import { FileChangedError, type SinkFiles } from './sink-files.js';
import { withoutSecrets } from './sink-thread.js';

/** Longest time without progress of a request, in milliseconds. */
const SILENCE_MS = 30_000;
/** Bytes that are written at once, so that encryption does not delay the thread that serves requests. */
const SLICE_BYTES = 256 * 1024;
/** Longest reply that is read, in bytes. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
/** Characters of the reply of a failed request that are reported. */
const MAX_REASON_LENGTH = 300;

const NOT_FOUND = 404;
/** What stores answer when a condition of a PUT does not hold, or another PUT of the same object is under way. */
const CHANGED = new Set([409, 412]);

interface Reply {
  readonly status: number;
  readonly etag: string;
  readonly bytes: Buffer;
}

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: Uint8Array; readonly sha256: string };
}

/** Files in a bucket of S3 or of a compatible store, which has to support conditional writes (If-Match, If-None-Match). */
export function createS3Files(config: S3Config): SinkFiles {
  const { bucket, prefix, endpoint, region, accessKeyId, secretAccessKey, sessionToken } = config;
  const signer = new AwsClient({
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    ...(sessionToken === null ? {} : { sessionToken }),
  });
  const secrets = [secretAccessKey, sessionToken ?? ''];
  const closing = new AbortController();
  const base = new URL(endpoint);
  if (config.pathStyle) base.pathname = `/${bucket}`;
  else base.host = `${bucket}.${base.host}`;

  /** The address of a file; of the bucket itself for the empty path. */
  function addressOf(path: string, query: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(base);
    const key = path === '' ? '' : prefix + path;
    const root = config.pathStyle ? `${base.pathname}/` : '/';
    url.pathname = root + key.split('/').map(encodeURIComponent).join('/');
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  async function send({ method, path, query, headers = {}, body }: S3Request): Promise<Reply> {
    const url = addressOf(path, query);
    const signed = await signer.sign(url, {
      method,
      headers: { ...headers, 'x-amz-content-sha256': body?.sha256 ?? sha256Of(Buffer.alloc(0)) },
    });
    const reply = await exchange(
      url,
      method,
      Object.fromEntries(signed.headers),
      body?.bytes,
      closing.signal,
    );
    if (reply.status < 300 || reply.status === NOT_FOUND || CHANGED.has(reply.status)) return reply;
    throw failure(method, path, reply);
  }

  function failure(method: string, path: string, { status, bytes }: Reply): Error {
    const reason = bytes.toString('utf8', 0, MAX_REASON_LENGTH).replace(/<[^>]*>/g, ' ');
    return new Error(`${method} ${path} was answered with ${status}: ${withoutSecrets(reason, secrets)}`);
  }

  return {
    place: `s3://${bucket}/${prefix}`,
    async list(start, from) {
      const found: string[] = [];
      // The key to start after is not included, and paths from `from` on are wanted.
      const after = from === '' ? {} : { 'start-after': prefix + before(from) };
      let page: Record<string, string> = after;
      for (;;) {
        const query = { 'list-type': '2', 'encoding-type': 'url', prefix: prefix + start, ...page };
        const reply = await send({ method: 'GET', path: '', query });
        if (reply.status !== 200) throw failure('GET', '', reply);
        const text = reply.bytes.toString();
        found.push(...textsIn(text, 'Key').map((key) => keyOf(key).slice(prefix.length)));
        const [next] = textsIn(text, 'NextContinuationToken');
        if (next === undefined || textsIn(text, 'IsTruncated')[0] !== 'true') return found;
        page = { ...after, 'continuation-token': unescaped(next) };
      }
    },
    async read(path) {
      const reply = await send({ method: 'GET', path });
      if (reply.status === NOT_FOUND && !reply.bytes.includes('NoSuchBucket')) return null;
      if (reply.status !== 200) throw failure('GET', path, reply);
      return { bytes: reply.bytes, version: reply.etag };
    },
    async write(path, bytes, sha256) {
      const reply = await send({ method: 'PUT', path, body: { bytes, sha256 } });
      if (reply.status >= 300) throw failure('PUT', path, reply);
    },
    async replace(path, bytes, version) {
      const condition: Record<string, string> =
        version === null ? { 'if-none-match': '*' } : { 'if-match': version };
      const body = { bytes, sha256: sha256Of(bytes) };
      const reply = await send({ method: 'PUT', path, headers: condition, body });
      // A file with a version that does not exist any more was changed, too.
      if (CHANGED.has(reply.status) || (reply.status === NOT_FOUND && version !== null))
        throw new FileChangedError(`s3://${bucket}/${prefix}${path}`);
      if (reply.status >= 300) throw failure('PUT', path, reply);
      return reply.etag;
    },
    // Objects are replaced as a whole.
    repair: async () => {},
    async remove(path) {
      await send({ method: 'DELETE', path });
    },
    close: () => closing.abort(new Error('the sink was closed')),
  };
}

function exchange(
  url: URL,
  method: string,
  headers: Record<string, string>,
  body: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<Reply> {
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

/** Of small files only: it runs in the thread that serves requests. */
function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A text just before another one in the order of characters. */
function before(text: string): string {
  const last = text.codePointAt(text.length - 1) ?? 1;
  return `${text.slice(0, -1)}${String.fromCodePoint(last - 1)}~`;
}

/** The texts of all elements of a name; values that are written by the store have no elements inside. */
function textsIn(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => text);
}

/** Keys are encoded as in addresses, and then as in XML. */
function keyOf(text: string): string {
  return decodeURIComponent(unescaped(text).replaceAll('+', ' '));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES[entity] ?? entity);
}
