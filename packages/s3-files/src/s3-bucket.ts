import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { exchange, type HttpReply } from './http-exchange.js';

/** Characters of the reply of a failed request that are reported. */
const MAX_REASON_LENGTH = 300;
const NOT_FOUND = 404;
/** What stores answer when a condition of a PUT does not hold, or another PUT of the same object is under way. */
const CHANGED = new Set([409, 412]);

/** Where objects are, and who asks for them. */
export interface S3Options {
  readonly bucket: string;
  /** Beginning of all keys: empty, or with a slash at its end. */
  readonly prefix: string;
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly region: string;
  /** Whether the bucket is named in the path, not in the host. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Follows the prefix; empty for the bucket itself. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: Uint8Array; readonly sha256: string };
}

/** What the bucket answered: `done`, or why nothing was done. */
export interface S3Reply extends HttpReply {
  readonly outcome: 'done' | 'missing' | 'changed';
}

/** Requests to a bucket, signed with version 4. */
export interface S3Bucket {
  /** Rejects when the reply is none of the outcomes. */
  send(request: S3Request): Promise<S3Reply>;
  /** An error for an outcome that the caller cannot use. */
  failure(request: Pick<S3Request, 'method' | 'path'>, reply: HttpReply): Error;
  /** Fails what is under way. */
  close(): void;
}

export function createS3Bucket(options: S3Options): S3Bucket {
  const { bucket, prefix, endpoint, region, pathStyle, accessKeyId, secretAccessKey, sessionToken } = options;
  const signer = new AwsClient({
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    ...(sessionToken === null ? {} : { sessionToken }),
  });
  const secrets = [secretAccessKey, sessionToken ?? ''].filter((secret) => secret !== '');
  const closing = new AbortController();
  const base = new URL(endpoint);
  if (pathStyle) base.pathname = `/${bucket}`;
  else base.host = `${bucket}.${base.host}`;

  function addressOf({ path, query = {} }: S3Request): URL {
    const url = new URL(base);
    const key = path === '' ? '' : prefix + path;
    const root = pathStyle ? `${base.pathname}/` : '/';
    url.pathname = root + key.split('/').map(encodeURIComponent).join('/');
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  // Proxies answer with HTML, and the text is cut: tags are only left out.
  const failure: S3Bucket['failure'] = ({ method, path }, { status, bytes }) => {
    const shown = bytes.toString('utf8', 0, MAX_REASON_LENGTH).replace(/<[^>]*>/g, ' ');
    const reason = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), shown);
    return new Error(`${method} ${path} was answered with ${status}: ${reason}`);
  };

  return {
    failure,
    async send(request) {
      const { method, headers = {}, body } = request;
      const url = addressOf(request);
      const checksum = body?.sha256 ?? sha256Of(Buffer.alloc(0));
      const signed = await signer.sign(url, {
        method,
        headers: { ...headers, 'x-amz-content-sha256': checksum },
      });
      const all = Object.fromEntries(signed.headers);
      const reply = await exchange(url, method, all, body?.bytes, closing.signal);
      if (reply.status < 300) return { ...reply, outcome: 'done' };
      if (reply.status === NOT_FOUND) return { ...reply, outcome: 'missing' };
      if (CHANGED.has(reply.status)) return { ...reply, outcome: 'changed' };
      throw failure(request, reply);
    },
    close: () => closing.abort(new Error('the files were closed')),
  };
}

/** Of small files only: it takes the time of the thread. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
