import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { createRegistry, type DescMessage, fromBinary, toJson } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { file_google_rpc_error_details } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../../gen/proto/google/rpc/status_pb.js';

export type Headers = Readonly<Record<string, string>>;

/** What a client sends; of the pieces of its body, each leaves once the one before has left. */
export interface WebRequest {
  readonly path: string;
  readonly method?: string;
  readonly headers: Headers;
  readonly body: readonly Buffer[];
  /** Sends the body without its length. */
  readonly isChunked?: boolean;
  /** Never ends the body. */
  readonly isOpen?: boolean;
  /** Message type of the reply. */
  readonly output: DescMessage;
}

/** Everything a client gets to see. */
export interface WebReply {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: unknown;
}

interface Received {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders | http2.IncomingHttpHeaders;
  readonly body: Buffer;
}

export type HttpVersion = '1.1' | '2';

/** Connections of HTTP/2 that exchanges share which end, by address. */
const sessions = new Map<string, http2.ClientHttp2Session>();

function sharedSession(url: string): http2.ClientHttp2Session {
  const known = sessions.get(url);
  if (known !== undefined && !known.closed && !known.destroyed) return known;
  const session = http2.connect(url);
  session.on('error', () => {});
  sessions.set(url, session);
  return session;
}

/** Closes the connection of HTTP/2 to an address. */
export function closeSession(url: string): void {
  sessions.get(url)?.destroy();
  sessions.delete(url);
}

/** Plays an exchange; until `closeSession`, those over HTTP/2 that end share a connection. */
export async function play(url: string, version: HttpVersion, request: WebRequest): Promise<WebReply> {
  const { status, headers, body } = await (version === '2' ? overHttp2 : overHttp1)(url, request);
  return { status, headers: comparable(headers), body: decoded(headers, body, request.output) };
}

/** The stated length of a reply. */
export async function lengthOfReply(
  url: string,
  version: HttpVersion,
  request: WebRequest,
): Promise<string | undefined> {
  const { headers } = await (version === '2' ? overHttp2 : overHttp1)(url, request);
  return headers['content-length'];
}

async function overHttp1(url: string, request: WebRequest): Promise<Received> {
  const { path, method = 'POST', body } = request;
  const client = http.request(`${url}${path}`, { method, agent: false, headers: sentHeaders(request) });
  client.on('error', () => {});
  const answered = once(client, 'response') as Promise<[http.IncomingMessage]>;
  for (const piece of body) await new Promise((sent) => client.write(piece, sent));
  if (request.isOpen !== true) client.end();
  const [response] = await answered;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  client.destroy();
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

async function overHttp2(url: string, request: WebRequest): Promise<Received> {
  const { path, method = 'POST', body } = request;
  const isShared = request.isOpen !== true;
  const session = isShared ? sharedSession(url) : http2.connect(url).on('error', () => {});
  try {
    const stream = session.request({ ':method': method, ':path': path, ...sentHeaders(request) });
    stream.on('error', () => {});
    const answered = once(stream, 'response') as Promise<[http2.IncomingHttpHeaders]>;
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const ended = once(stream, 'end');
    for (const piece of body) {
      if (!stream.closed) await new Promise((sent) => stream.write(piece, sent));
    }
    if (request.isOpen !== true) stream.end();
    const [headers] = await answered;
    await ended;
    return { status: Number(headers[':status']), headers, body: Buffer.concat(chunks) };
  } finally {
    if (!isShared) session.destroy();
  }
}

function sentHeaders({ headers, body, isChunked, isOpen, method }: WebRequest): Record<string, string> {
  if (isChunked === true || isOpen === true || method === 'GET') return { ...headers };
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  return { 'content-length': String(length), ...headers };
}

/** Two services have neither ids nor ports in common. */
const plain = (text: string): string =>
  text.replaceAll(UUID, '(id)').replaceAll(/127\.0\.0\.1:\d+/g, '(host)');

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Lengths may be stated or not; the form of the bytes on the connection is not part of the reply. */
function comparable(headers: http.IncomingHttpHeaders | http2.IncomingHttpHeaders): Record<string, unknown> {
  const {
    date,
    connection,
    'keep-alive': _,
    'transfer-encoding': __,
    'content-length': ___,
    ...rest
  } = headers;
  const shown = Object.entries(rest).map(([name, value]) => [name, plain(String(value))]);
  return { ...Object.fromEntries(shown), date: typeof date };
}

const DETAILS = createRegistry(file_google_rpc_error_details);

function decoded(headers: http2.IncomingHttpHeaders, body: Buffer, output: DescMessage): unknown {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('application/grpc-web')) return envelopes(body, type.includes('json'), output);
  if (type === 'application/proto') return comparableMessage(body, false, output);
  return plain(body.toString());
}

function envelopes(body: Buffer, isJson: boolean, output: DescMessage): unknown[] {
  const found: unknown[] = [];
  let at = 0;
  while (body.length - at >= 5) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    const content = body.subarray(at + 5, end);
    found.push(body[at] === 0x80 ? trailersOf(content) : comparableMessage(content, isJson, output));
    at = end;
  }
  if (at < body.length) found.push(body.subarray(at).toString('latin1'));
  return found;
}

function comparableMessage(bytes: Buffer, isJson: boolean, output: DescMessage): string {
  const message = isJson
    ? bytes.toString()
    : toJson(output, fromBinary(output, bytes), { registry: DETAILS });
  return plain(typeof message === 'string' ? message : JSON.stringify(message));
}

function trailersOf(content: Buffer): Record<string, unknown> {
  const lines = content
    .toString('latin1')
    .split('\r\n')
    .filter((line) => line !== '');
  const pairs = lines.map((line) => {
    const colon = line.indexOf(':');
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()];
    if (name === 'grpc-message') return [name, decodeURIComponent(value)];
    return [name, name === 'grpc-status-details-bin' ? statusOf(value) : value];
  });
  return Object.fromEntries(pairs);
}

function statusOf(base64: string): unknown {
  const { code, message, details } = fromBinary(StatusSchema, Buffer.from(base64, 'base64'));
  return { code, message, details: details.map((one) => anyUnpack(one, DETAILS)) };
}
