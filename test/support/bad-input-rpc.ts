import { once } from 'node:events';
import http2, { type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import { create, type DescMessage, fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { Client, credentials, status as grpcStatus, Metadata } from '@grpc/grpc-js';
import { BadRequestSchema, PreconditionFailureSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { type Status, StatusSchema } from '../../gen/proto/google/rpc/status_pb.js';
import { exchange } from './http.js';

/** How an RPC ended, whatever the protocol. */
export interface RpcOutcome {
  /** Name of the gRPC code, for example INVALID_ARGUMENT; `HTTP 415` when the reply is not of the protocol at all. */
  readonly code: string;
  readonly message: string;
  /** Field violations as [field, reason]. */
  readonly violations: [string, string][];
  /** Reply messages. */
  readonly replies: Buffer[];
}

/** A message in its five-byte envelope. `length` and `flags` may lie. */
export function envelope(message: Uint8Array, { flags = 0, length = message.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/** Fields of a message as they are on the wire, for what no library writes. */
export const wire = {
  varint(value: number | bigint): Buffer {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    return Buffer.from([...bytes, Number(rest)]);
  },
  tag: (field: number, type: number): Buffer => wire.varint((field << 3) | type),
  /** A field of type varint: integers, booleans, enums. */
  number: (field: number, value: number | bigint): Buffer =>
    Buffer.concat([wire.tag(field, 0), wire.varint(value)]),
  double(field: number, value: number): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return Buffer.concat([wire.tag(field, 1), bytes]);
  },
  /** A field with a length: texts, bytes, messages. */
  bytes: (field: number, ...parts: (Uint8Array | string)[]): Buffer => {
    const content = Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)));
    return Buffer.concat([wire.tag(field, 2), wire.varint(content.length), content]);
  },
};

/** A call below the level of messages. */
export interface RawCall {
  /** POST when absent. */
  readonly method?: string;
  readonly path: string;
  /** Added to those of the protocol, or put in their place. */
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | undefined;
  /** Over HTTP/2 only: sent once the first bytes of the answer are there. */
  readonly afterAnswer?: Buffer;
}

const UNKNOWN_OUTCOME = { message: '', violations: [], replies: [] };

/** A unary call through the gRPC client library, with the bytes of the request message as they are. */
export function callGrpc(baseUrl: string, path: string, message: Uint8Array): Promise<RpcOutcome> {
  const client = new Client(new URL(baseUrl).host, credentials.createInsecure());
  return new Promise<RpcOutcome>((resolve) => {
    client.makeUnaryRequest<Buffer, Buffer>(
      path,
      (bytes) => bytes,
      (bytes) => bytes,
      Buffer.from(message),
      new Metadata(),
      (error, reply) => {
        if (error === null) {
          return resolve({ ...UNKNOWN_OUTCOME, code: 'OK', replies: reply === undefined ? [] : [reply] });
        }
        const details = error.metadata.get('grpc-status-details-bin')[0];
        resolve({
          code: grpcStatus[error.code],
          message: error.details,
          violations: details === undefined ? [] : violationsOf(fromBinary(StatusSchema, details as Buffer)),
          replies: [],
        });
      },
    );
  }).finally(() => client.close());
}

/** A unary call over gRPC-Web on HTTP/1.1. */
export function callGrpcWeb(baseUrl: string, path: string, message: Uint8Array): Promise<RpcOutcome> {
  return callGrpcWebRaw(baseUrl, { path, body: envelope(message) });
}

/** Any body over gRPC-Web on HTTP/1.1. */
export async function callGrpcWebRaw(baseUrl: string, call: RawCall): Promise<RpcOutcome> {
  const headers = { 'content-type': 'application/grpc-web+proto', ...call.headers };
  const reply = await exchange(baseUrl, { method: 'POST', ...call, headers });
  if (reply.status !== 200) return { ...UNKNOWN_OUTCOME, code: `HTTP ${reply.status}` };
  const isText = reply.headers['content-type']?.startsWith('application/grpc-web-text') === true;
  // One part, as replies without messages are.
  const frames = readEnvelopes(isText ? Buffer.from(reply.text, 'base64') : reply.body);
  const trailer = frames.find(({ flags }) => flags === 0x80)?.data.toString('latin1') ?? '';
  const lines = trailer.split('\r\n').filter((line) => line !== '');
  const trailers = Object.fromEntries(lines.map((line) => line.split(/: */, 2)));
  return grpcOutcome({ ...reply.headers, ...trailers }, messagesIn(frames));
}

/** A unary call over Connect with a binary message on HTTP/1.1. */
export function callConnect(baseUrl: string, path: string, message: Uint8Array): Promise<RpcOutcome> {
  return callConnectRaw(baseUrl, { path, body: Buffer.from(message) });
}

/** Any body over Connect on HTTP/1.1. */
export async function callConnectRaw(baseUrl: string, call: RawCall): Promise<RpcOutcome> {
  const headers = { 'content-type': 'application/proto', ...call.headers };
  const reply = await exchange(baseUrl, { method: 'POST', ...call, headers });
  if (reply.status === 200) return { ...UNKNOWN_OUTCOME, code: 'OK', replies: [reply.body] };
  return connectError(reply.body) ?? { ...UNKNOWN_OUTCOME, code: `HTTP ${reply.status}` };
}

/** Any body over gRPC on HTTP/2, without a client library in between. */
export async function callGrpcRaw(baseUrl: string, call: RawCall): Promise<RpcOutcome> {
  const headers = { 'content-type': 'application/grpc+proto', te: 'trailers', ...call.headers };
  const reply = await sendHttp2(baseUrl, { ...call, headers });
  if (reply.status !== 200) return { ...UNKNOWN_OUTCOME, code: reply.reset ?? `HTTP ${reply.status}` };
  return grpcOutcome({ ...reply.headers, ...reply.trailers }, messagesIn(readEnvelopes(reply.body)));
}

/** Any body over a Connect stream on HTTP/2. */
export async function callConnectStreamRaw(baseUrl: string, call: RawCall): Promise<RpcOutcome> {
  const headers = { 'content-type': 'application/connect+proto', ...call.headers };
  const reply = await sendHttp2(baseUrl, { ...call, headers });
  if (reply.status !== 200) return { ...UNKNOWN_OUTCOME, code: reply.reset ?? `HTTP ${reply.status}` };
  const frames = readEnvelopes(reply.body);
  const end = frames.find(({ flags }) => (flags & 2) === 2);
  if (end === undefined) return { ...UNKNOWN_OUTCOME, code: 'no end of the stream' };
  const replies = messagesIn(frames);
  const { error } = JSON.parse(end.data.toString('utf8')) as { error?: object };
  if (error === undefined) return { ...UNKNOWN_OUTCOME, code: 'OK', replies };
  const outcome = connectError(Buffer.from(JSON.stringify(error)));
  return { ...UNKNOWN_OUTCOME, code: 'malformed error', ...outcome, replies };
}

export interface Http2Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Set when the stream was reset or the session ended before an answer. */
  readonly reset: string | undefined;
}

/** One request on an HTTP/2 session of its own, sent once the settings of the server are known. */
export async function sendHttp2(baseUrl: string, call: RawCall): Promise<Http2Reply> {
  const session = http2.connect(baseUrl);
  // Whatever ends the session ends the stream too, which is waited for.
  session.on('error', () => {});
  await once(session, 'remoteSettings');
  const { method = 'POST', path, headers, body, afterAnswer } = call;
  const stream = session.request({ ':method': method, ':path': path, ...headers });
  let head: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
  let trailers: IncomingHttpHeaders = {};
  const chunks: Buffer[] = [];
  stream.on('response', (received) => {
    head = received;
  });
  stream.on('trailers', (received) => {
    trailers = received;
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A reset shows below; what matters is what had been received.
  stream.on('error', () => {});
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  if (method === 'GET') stream.end();
  else if (afterAnswer === undefined) stream.end(body);
  else {
    stream.write(body);
    stream.once('data', () => stream.end(afterAnswer));
  }
  await closed;
  session.destroy();
  const status = head[':status'];
  const reset = status === undefined ? `RESET ${stream.rstCode}` : undefined;
  return { status: status ?? 0, headers: head, trailers, body: Buffer.concat(chunks), reset };
}

interface Frame {
  readonly flags: number;
  readonly data: Buffer;
}

function messagesIn(frames: readonly Frame[]): Buffer[] {
  return frames.filter(({ flags }) => flags === 0).map(({ data }) => data);
}

function readEnvelopes(bytes: Buffer): Frame[] {
  const found: Frame[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    found.push({ flags: bytes.readUInt8(at), data: bytes.subarray(at + 5, at + 5 + length) });
    at += 5 + length;
  }
  return found;
}

function grpcOutcome(trailers: IncomingHttpHeaders, replies: Buffer[]): RpcOutcome {
  const code = Number(trailers['grpc-status'] ?? Number.NaN);
  const details = trailers['grpc-status-details-bin'];
  return {
    code: grpcStatus[code] ?? `no grpc-status (${trailers['content-type']})`,
    message: decodeURIComponent(String(trailers['grpc-message'] ?? '')),
    violations:
      typeof details === 'string'
        ? violationsOf(fromBinary(StatusSchema, Buffer.from(details, 'base64')))
        : [],
    replies,
  };
}

interface ConnectErrorBody {
  readonly code: string;
  readonly message?: string;
  readonly details?: readonly { readonly type: string; readonly value: string }[];
}

/** The outcome an error body of Connect tells; undefined when it is none. */
function connectError(body: Buffer): RpcOutcome | undefined {
  let error: Partial<ConnectErrorBody>;
  try {
    error = JSON.parse(body.toString('utf8')) as Partial<ConnectErrorBody>;
  } catch {
    return undefined;
  }
  const { code, message = '', details = [] } = error;
  if (typeof code !== 'string') return undefined;
  const violations = details.flatMap(({ type, value }) =>
    violationsOf(
      create(StatusSchema, {
        details: [{ typeUrl: `type.googleapis.com/${type}`, value: Buffer.from(value, 'base64') }],
      }),
    ),
  );
  return { code: code.toUpperCase(), message, violations, replies: [] };
}

/** The field violations of a status as [field, reason]. */
export function violationsOf(status: Status): [string, string][] {
  return status.details.flatMap((detail) => {
    const found = anyUnpack(detail, BadRequestSchema);
    if (found !== undefined) return found.fieldViolations.map(violation);
    const failed = anyUnpack(detail, PreconditionFailureSchema);
    return (failed?.violations ?? []).map(({ subject, type }) => violation({ field: subject, reason: type }));
  });
}

function violation({ field, reason }: { field: string; reason: string }): [string, string] {
  return [field, reason];
}

/** Reads the only reply of a call. */
export function onlyReply<Desc extends DescMessage>(desc: Desc, outcome: RpcOutcome) {
  const [reply, ...others] = outcome.replies;
  if (outcome.code !== 'OK' || reply === undefined || others.length > 0) {
    throw new Error(`expected one reply, got ${outcome.code} ${outcome.message}`);
  }
  return fromBinary(desc, reply);
}
