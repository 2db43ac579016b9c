import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface S3ServerOptions {
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
  /** Objects in one page of a list. */
  readonly pageSize?: number;
  /** Whether it knows no conditions, as old compatible stores. */
  readonly ignoresConditions?: boolean;
}

/** An object store in this process, which checks signatures (version 4), checksums and conditions as S3 does. */
export interface S3Server {
  readonly url: string;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** The `Host` of each request. */
  readonly hosts: readonly string[];
  /** Stores the next objects and breaks the connection instead of answering. */
  loseReplies(count: number): void;
  /** Answers requests with this status. */
  failWith(status: number | null): void;
  stop(): Promise<void>;
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** Why a request is refused; null when its signature is right. Written from the description of the algorithm. */
function problemOf(request: http.IncomingMessage, body: Buffer, options: S3ServerOptions): string | null {
  const { headers, method = '' } = request;
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, keyId, date = '', region, names = '', signature = ''] =
    pattern.exec(headers.authorization ?? '') ?? [];
  if (keyId !== options.accessKeyId || region !== options.region) return 'InvalidAccessKeyId';
  if (headers['x-amz-security-token'] !== options.sessionToken) return 'InvalidToken';
  const time = String(headers['x-amz-date']);
  const atMs = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - atMs) < 900_000) || !time.startsWith(date)) return 'RequestTimeTooSkewed';
  const checksum = String(headers['x-amz-content-sha256']);
  if (checksum !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const signed = names.split(';');
  const mustSign = Object.keys(headers).filter((name) => name.startsWith('x-amz-') || name.startsWith('if-'));
  if (!signed.includes('host') || mustSign.some((name) => !signed.includes(name))) return 'AccessDenied';
  const url = new URL(request.url ?? '', 'http://host');
  const canonical = [
    method,
    decodeURIComponent(url.pathname).split('/').map(encoded).join('/'),
    [...url.searchParams]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replace(/\s+/g, ' ')}`),
    '',
    names,
    checksum,
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = hmac(
    hmac(hmac(hmac(`AWS4${options.secretAccessKey}`, date), region ?? ''), 's3'),
    'aws4_request',
  );
  const isRight = timingSafeEqual(hmac(key, toSign), Buffer.from(signature, 'hex'));
  return isRight ? null : 'SignatureDoesNotMatch';
}

export async function startS3Server(options: S3ServerOptions): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const hosts: string[] = [];
  let lostReplies = 0;
  let failure: number | null = null;
  const etagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`;
  const error = (status: number, code: string) => ({
    status,
    body: `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`,
    etag: '',
  });

  function answer(
    request: http.IncomingMessage,
    body: Buffer,
  ): { status: number; body: string | Buffer; etag: string } {
    if (failure !== null) return error(failure, 'SlowDown');
    const problem = problemOf(request, body, options);
    if (problem !== null) return error(403, problem);
    const url = new URL(request.url ?? '', 'http://host');
    const isInHost = String(request.headers.host).startsWith(`${options.bucket}.`);
    const path = decodeURIComponent(url.pathname).slice(1);
    if (!isInHost && path.split('/')[0] !== options.bucket) return error(404, 'NoSuchBucket');
    const key = isInHost ? path : path.slice(options.bucket.length + 1);
    if (key === '') return list(url.searchParams);
    const present = objects.get(key);
    if (request.method === 'PUT') {
      if (options.ignoresConditions === true) request.headers = {};
      const { 'if-match': match, 'if-none-match': noneMatch } = request.headers;
      if (noneMatch === '*' && present !== undefined) return error(412, 'PreconditionFailed');
      if (match !== undefined && present === undefined) return error(404, 'NoSuchKey');
      if (match !== undefined && present !== undefined && match !== etagOf(present))
        return error(412, 'PreconditionFailed');
      objects.set(key, body);
      return { status: 200, body: '', etag: etagOf(body) };
    }
    if (request.method === 'DELETE') {
      objects.delete(key);
      return { status: 204, body: '', etag: '' };
    }
    if (present === undefined) return error(404, 'NoSuchKey');
    return { status: 200, body: present, etag: etagOf(present) };
  }

  function list(query: URLSearchParams): { status: number; body: string; etag: string } {
    if (query.get('list-type') !== '2' || query.get('encoding-type') !== 'url')
      return error(400, 'InvalidRequest');
    const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
    const keys = [...objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
      .sort();
    const page = keys.slice(0, options.pageSize ?? 1_000);
    const isTruncated = page.length < keys.length;
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    const contents = page.map((key) => `<Contents><Key>${encodeURIComponent(key)}</Key></Contents>`).join('');
    const body = `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${contents}${next}</ListBucketResult>`;
    return { status: 200, body, etag: '' };
  }

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      hosts.push(String(request.headers.host));
      const { status, body, etag } = answer(request, Buffer.concat(chunks));
      if (lostReplies > 0 && request.method === 'PUT') {
        lostReplies -= 1;
        return void request.socket.destroy();
      }
      response.writeHead(status, etag === '' ? {} : { etag }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    hosts,
    loseReplies: (count) => {
      lostReplies = count;
    },
    failWith: (status) => {
      failure = status;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
