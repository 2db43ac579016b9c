import { Code, ConnectError, createContextValues } from '@connectrpc/connect';
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from '@connectrpc/connect/protocol';
import {
  errorFromJsonBytes,
  errorToJsonBytes,
  parseTimeout as parseConnectTimeout,
} from '@connectrpc/connect/protocol-connect';
import { parseTimeout as parseGrpcTimeout, setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { trailerFlag, trailerParse, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web';
import { type ClassifiedMethod, callClassOf } from '../admission/call-class.js';
import type { Entrance } from '../admission/entrance.js';
import { deadlinePassed, tooSlow, withinTime } from '../call/body-time.js';
import { LONGEST_TIMER_MS } from '../call/call-time.js';
import { toConnectError } from '../wire/connect-error.js';
import { withMinimalMessage } from '../wire/grpc-message.js';
import { correctedStatus } from '../wire/message-errors.js';
import { protocolOf } from '../wire/protocol.js';
import { countedBody, countedStream, smallMessages } from './body-bytes.js';
import { type RpcCall, rpcCallKey } from './rpc-call.js';

export interface CallGuardOptions {
  readonly method: ClassifiedMethod;
  readonly entrance: Pick<Entrance, 'enter'>;
  /** Time limit for a single request message, or for a large message of a stream, in milliseconds. */
  readonly bodyTimeMs: number;
}

/**
 * Adds the access check and the limits to a Connect handler, before the body is read, and corrects the status
 * of messages that cannot be decoded: Connect reports an internal error, but it is the caller's.
 */
export function guardHandler(handler: UniversalHandler, options: CallGuardOptions): UniversalHandler {
  const { method, entrance, bodyTimeMs } = options;
  const { methodKind } = handler.method;
  const takesOneMessage = methodKind === 'unary' || methodKind === 'server_streaming';
  const guarded = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const call = request.contextValues?.get(rpcCallKey) ?? null;
    if (call === null) throw new Error('an RPC ran outside the host');
    try {
      // Calls without a key have already passed the front gate.
      if (callClassOf(method) !== 'public') {
        const principal = entrance.enter(call.ticket, method, call.credentials);
        call.principal = principal instanceof Promise ? await principal : principal;
      }
    } catch (error) {
      const status = toConnectError(error);
      call.code = status.code;
      // Nothing else in the request matters now.
      for (const name of ['grpc-timeout', 'connect-timeout-ms', 'grpc-encoding']) request.header.delete(name);
      // Thrown from the body, so that Connect reports the error in the protocol of the call.
      return withMinimalMessage(
        await handler({
          ...request,
          contextValues: request.contextValues ?? createContextValues(),
          body: failing(status),
        }),
      );
    }
    dropEndlessDeadline(request);
    const isPublic = callClassOf(method) === 'public';
    const counted = withBodyBytes(request, call, takesOneMessage ? null : bodyTimeMs);
    const bounded = isPublic ? withSmallMessages(counted) : counted;
    const response = await handler(takesOneMessage ? withBodyTime(bounded, bodyTimeMs) : bounded);
    return withMinimalMessage(call.code === null ? await correctDecodeError(response, call) : response);
  };
  return Object.assign(guarded, {
    protocolNames: handler.protocolNames,
    allowedMethods: handler.allowedMethods,
    supportedContentType: handler.supportedContentType,
    requestPath: handler.requestPath,
    service: handler.service,
    method: handler.method,
  });
}

/** If `messageTimeMs` is set, the body is a stream of messages. */
function withBodyBytes(
  request: UniversalServerRequest,
  { ticket, json }: RpcCall,
  messageTimeMs: number | null,
): UniversalServerRequest {
  const body = bytesOf(request);
  if (body === undefined) return request;
  if (messageTimeMs !== null) return { ...request, body: countedStream(body, ticket, messageTimeMs) };
  const counted = countedBody(body, ticket);
  return { ...request, body: json === null ? counted : json.copying(counted) };
}

/** Largest message of a call that needs no key, in bytes: these carry only names. */
const MAX_PUBLIC_MESSAGE_BYTES = 64 * 1024;

function withSmallMessages(request: UniversalServerRequest): UniversalServerRequest {
  const body = bytesOf(request);
  return body === undefined ? request : { ...request, body: smallMessages(body, MAX_PUBLIC_MESSAGE_BYTES) };
}

function withBodyTime(request: UniversalServerRequest, limitMs: number): UniversalServerRequest {
  const body = bytesOf(request);
  if (body === undefined) return request;
  const deadlineMs = deadlineOf(request)?.timeoutMs;
  const expiry =
    deadlineMs === undefined || deadlineMs > limitMs
      ? { limitMs, error: () => tooSlow(limitMs) }
      : { limitMs: deadlineMs, error: deadlinePassed };
  return { ...request, body: withinTime(body, expiry) };
}

/** The body of a request, if it is a stream of bytes. */
function bytesOf({ body }: UniversalServerRequest): AsyncIterable<Uint8Array> | undefined {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return undefined;
  return body as AsyncIterable<Uint8Array>;
}

/** Drops deadlines beyond the timer range (weeks); Connect would treat them as already expired. */
function dropEndlessDeadline(request: UniversalServerRequest): void {
  const deadline = deadlineOf(request);
  if ((deadline?.timeoutMs ?? 0) > LONGEST_TIMER_MS) request.header.delete(deadline?.name ?? '');
}

/** The deadline header and its time in milliseconds. Connect refuses an invalid time. */
function deadlineOf({ header }: UniversalServerRequest): { name: string; timeoutMs: number } | undefined {
  const isConnect = protocolOf(header.get('content-type') ?? '') === 'connect';
  const name = isConnect ? 'connect-timeout-ms' : 'grpc-timeout';
  const parse = isConnect ? parseConnectTimeout : parseGrpcTimeout;
  const { timeoutMs } = parse(header.get(name), Number.POSITIVE_INFINITY);
  return timeoutMs === undefined ? undefined : { name, timeoutMs };
}

// biome-ignore lint/correctness/useYield: it fails before there is anything to yield
async function* failing(error: ConnectError): AsyncIterable<Uint8Array> {
  throw error;
}

/** For messages that are refused before the implementation runs. */
async function correctDecodeError(
  response: UniversalServerResponse,
  call: RpcCall,
): Promise<UniversalServerResponse> {
  const { trailer, body } = response;
  const status = trailer?.get('grpc-status');
  if (trailer !== undefined && status !== undefined && status !== null && status !== '0') {
    call.code = Number(status) as Code;
    const corrected = correctedStatus(call.code, messageOf(trailer), call.json);
    if (corrected !== undefined) {
      call.code = corrected.code;
      setTrailerStatus(trailer, corrected);
    }
    return response;
  }
  if (body === undefined || Symbol.asyncIterator in body === false) return response;
  // Streams read their body lazily, so only the first chunk is inspected.
  return { ...response, ...(await correctBody(response, body as AsyncIterable<Uint8Array>, call)) };
}

async function correctBody(
  response: UniversalServerResponse,
  body: AsyncIterable<Uint8Array>,
  call: RpcCall,
): Promise<Partial<UniversalServerResponse>> {
  const contentType = response.header?.get('content-type') ?? '';
  if (contentType === 'application/json' && response.status >= 400) {
    const bytes = await collect(body);
    const error = errorFromJsonBytes(bytes, undefined, new ConnectError('', Code.Internal));
    call.code = error.code;
    const corrected = correctedStatus(error.code, error.rawMessage, call.json);
    if (corrected === undefined) return { body: once(bytes) };
    call.code = corrected.code;
    const json = errorToJsonBytes(corrected, undefined);
    response.header?.set('content-length', String(json.byteLength));
    return { status: 400, body: once(json) };
  }
  if (contentType.startsWith('application/grpc-web') && !contentType.includes('text')) {
    return { body: correctWebTrailer(body, call) };
  }
  return {};
}

async function* correctWebTrailer(body: AsyncIterable<Uint8Array>, call: RpcCall): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    yield chunk[0] === trailerFlag ? correctedTrailerFrame(chunk, call) : chunk;
  }
}

function correctedTrailerFrame(frame: Uint8Array, call: RpcCall): Uint8Array {
  if (call.code !== null) return frame;
  const trailer = trailerParse(frame.subarray(5));
  const code = Number(trailer.get('grpc-status') ?? '0');
  if (code === 0) return frame;
  call.code = code as Code;
  const corrected = correctedStatus(call.code, messageOf(trailer), call.json);
  if (corrected === undefined) return frame;
  call.code = corrected.code;
  setTrailerStatus(trailer, corrected);
  const data = trailerSerialize(trailer);
  const out = new Uint8Array(5 + data.byteLength);
  out[0] = trailerFlag;
  new DataView(out.buffer).setUint32(1, data.byteLength);
  out.set(data, 5);
  return out;
}

function messageOf(trailer: Headers): string {
  return decodeURIComponent(trailer.get('grpc-message') ?? '');
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
