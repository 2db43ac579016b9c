import { gunzipSync } from 'node:zlib';
import { Code, ConnectError, createContextValues } from '@connectrpc/connect';
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from '@connectrpc/connect/protocol';
import { errorFromJsonBytes, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { trailerParse, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web';
import type { MessageReader } from '../../contract/call/handler.js';
import { callClassOf } from '../admission/call-class.js';
import { arrivalExpiry, callerTimeoutOf, withinTime } from '../call/deadline.js';
import type { LongStream, LongStreams } from '../call/long-streams.js';
import { ENVELOPE_FLAGS, inEnvelope, PREFIX_LENGTH } from '../wire/envelope.js';
import { toConnectError } from '../wire/error-status.js';
import { MEDIA_TYPES, mediaTypeOf } from '../wire/media-types.js';
import { correctedStatus } from '../wire/message-errors.js';
import { codeWord, PUSHBACK_TRAILER } from '../wire/rpc-status.js';
import { countedBody, countedStream, smallMessages } from './body-bytes.js';
import { isGetCall, METHOD_NOT_ALLOWED, queryProblem, refusedGet, UNCACHED } from './get-request.js';
import { withReplies } from './replaced-replies.js';
import { type RpcCall, rpcCallKey } from './rpc-call.js';
import { trailersOnly, withMinimalMessage } from './trailers-only.js';
import { bytesOf, only, wrappedHandler } from './universal-handler.js';
import { UnreadMessages } from './unread-messages.js';

export interface GuardOptions {
  /** Limits a single request message, or a large message of a stream, in milliseconds. */
  readonly bodyTimeMs: number;
  /** Given for a stream that ends when the server asks for it. */
  readonly longStreams: LongStreams | null;
  /** Reads large messages of this RPC. */
  readonly reader: MessageReader | undefined;
  /** Largest message that Connect accepts, in bytes. */
  readonly maxMessageBytes: number;
}

/**
 * Lets a call enter before its body is read, adds the limits of the body to a Connect handler, and corrects the
 * status of messages that cannot be decoded: Connect reports an internal error, but it is the caller's.
 */
export function guardHandler(handler: UniversalHandler, options: GuardOptions): UniversalHandler {
  const { bodyTimeMs, longStreams } = options;
  const { methodKind } = handler.method;
  const takesOneMessage = methodKind === 'unary' || methodKind === 'server_streaming';
  return wrappedHandler(handler, async (request) => {
    const rpc = request.contextValues?.get(rpcCallKey) ?? null;
    if (rpc === null) throw new Error('an RPC ran outside the host');
    if (request.method === 'GET' && methodKind === 'server_streaming') return METHOD_NOT_ALLOWED;
    const { call } = rpc;
    const isGet = isGetCall(handler, request.method);
    try {
      const entering = call.enter(rpc.credentials);
      if (entering !== undefined) await entering;
      // One message at a time, and one answer, have their turn when their message has arrived.
      const turn = methodKind === 'server_streaming' ? call.turn(request.signal) : undefined;
      if (turn !== undefined) await turn;
      const problem = isGet ? queryProblem(request.url) : undefined;
      if (problem !== undefined) throw problem;
    } catch (error) {
      const status = toConnectError(error);
      call.code = codeWord(status.code);
      // Nothing is read of its body, so nothing would be thrown from it.
      const refused = isGet ? refusedGet(status) : undefined;
      stateRetryAfter(refused?.header);
      if (refused !== undefined) return refused;
      // Nothing else in the request matters now.
      for (const name of ['grpc-timeout', 'connect-timeout-ms', 'grpc-encoding']) request.header.delete(name);
      // Thrown from the body, so that Connect reports the error in the protocol of the call.
      const refusal = await handler({
        ...request,
        contextValues: request.contextValues ?? createContextValues(),
        body: failing(status),
      });
      if (call.protocol === 'connect') stateRetryAfter(refusal.header);
      return ended(refusal, rpc);
    }
    dropEndlessTimeout(request, call.protocol);
    const isPublic = callClassOf(call.route.method) === 'public';
    const ending = methodKind === 'unary' ? request : withEnd(request, rpc, longStreams);
    if (!isGet) rpc.unread = unreadMessagesOf(rpc, options);
    const counted = withBodyBytes(ending, rpc, takesOneMessage ? null : bodyTimeMs);
    const bounded = isPublic ? withSmallMessages(counted) : counted;
    const response = await handler(
      takesOneMessage ? withBodyTime(bounded, call.protocol, bodyTimeMs) : bounded,
    );
    const answer = call.code === null ? await correctDecodeError(response, rpc) : response;
    if (call.protocol === 'connect') stateRetryAfter(answer.header);
    if (isGet) for (const [name, value] of Object.entries(UNCACHED)) answer.header?.set(name, value);
    return ended(answer, rpc);
  });
}

/** Plain gRPC is the only protocol with trailers of HTTP. */
function ended(response: UniversalServerResponse, { call, holdHeaders, replies }: RpcCall) {
  const answer = withMinimalMessage(withReplies(response, replies, (bytes) => call.sends(bytes)));
  return call.protocol === 'grpc' ? trailersOnly(answer, holdHeaders) : answer;
}

/** Connect has no trailer for the time after which a retry is useful; HTTP has a header. */
function stateRetryAfter(header: Headers | undefined): void {
  const pushback = header?.get(PUSHBACK_TRAILER);
  if (header === undefined || pushback === undefined || pushback === null) return;
  header.delete(PUSHBACK_TRAILER);
  header.set('retry-after', String(Math.ceil(Number(pushback) / 1_000)));
}

/** Aborts the signal of a stream when its key is withdrawn, and when it is asked to end. */
function withEnd(
  request: UniversalServerRequest,
  { call, connection }: RpcCall,
  longStreams: LongStreams | null,
): UniversalServerRequest {
  const asked = new AbortController();
  const stream: LongStream = { connection, end: (reason) => asked.abort(reason) };
  if (longStreams !== null) {
    longStreams.add(stream);
    call.whenEnded(() => longStreams.remove(stream));
  }
  call.whenWithdrawn(stream.end);
  return { ...request, signal: AbortSignal.any([request.signal, asked.signal]) };
}

/** If `messageTimeMs` is set, the body is a stream of messages. */
function withBodyBytes(
  request: UniversalServerRequest,
  rpc: RpcCall,
  messageTimeMs: number | null,
): UniversalServerRequest {
  const { call, json } = rpc;
  const body = bytesOf(request);
  if (body === undefined) return request;
  if (messageTimeMs !== null) {
    const counted = countedStream(body, call.ticket, messageTimeMs);
    return { ...request, body: withoutUnread(counted, request, rpc) };
  }
  const counted = withoutUnread(countedBody(body, call.ticket), request, rpc);
  return { ...request, body: json === null ? counted : json.copying(counted) };
}

/** gRPC-Web as base64 text has no envelopes. */
function unreadMessagesOf(
  { call, json }: RpcCall,
  { reader, maxMessageBytes }: GuardOptions,
): UnreadMessages | undefined {
  if (reader === undefined || mediaTypeOf(call.header('content-type')).isBase64) return undefined;
  return new UnreadMessages(reader, json === null ? 'binary' : 'json', maxMessageBytes);
}

/** The body without the messages that are read elsewhere. */
function withoutUnread(
  body: AsyncIterable<Uint8Array>,
  { header }: UniversalServerRequest,
  { call, unread }: RpcCall,
): AsyncIterable<Uint8Array> {
  if (unread === undefined) return body;
  if (!mediaTypeOf(call.header('content-type')).isWhole) return unread.fromEnvelopes(body);
  if (!unread.takesWhole(header.get(LENGTH_HEADER))) return body;
  header.delete(LENGTH_HEADER);
  return unread.fromWhole(body);
}

const LENGTH_HEADER = 'content-length';

/** Largest message of a call that needs no key, in bytes: these carry only names. */
const MAX_PUBLIC_MESSAGE_BYTES = 64 * 1024;

function withSmallMessages(request: UniversalServerRequest): UniversalServerRequest {
  const body = bytesOf(request);
  return body === undefined ? request : { ...request, body: smallMessages(body, MAX_PUBLIC_MESSAGE_BYTES) };
}

function withBodyTime(
  request: UniversalServerRequest,
  protocol: string,
  limitMs: number,
): UniversalServerRequest {
  const body = bytesOf(request);
  if (body === undefined) return request;
  const { ms } = callerTimeoutOf(protocol, (name) => request.header.get(name));
  return { ...request, body: withinTime(body, arrivalExpiry(limitMs, ms)) };
}

/** Connect treats times beyond the range of timers as expired. It refuses invalid ones. */
function dropEndlessTimeout({ header }: UniversalServerRequest, protocol: string): void {
  const { header: name, ms, error } = callerTimeoutOf(protocol, (key) => header.get(key));
  if (ms === Number.POSITIVE_INFINITY && error === undefined) header.delete(name);
}

// biome-ignore lint/correctness/useYield: it fails before there is anything to yield
async function* failing(error: ConnectError): AsyncIterable<Uint8Array> {
  throw error;
}

/** For messages that are refused before the implementation runs. */
async function correctDecodeError(
  response: UniversalServerResponse,
  rpc: RpcCall,
): Promise<UniversalServerResponse> {
  const { trailer } = response;
  const body = bytesOf(response);
  const status = trailer?.get('grpc-status');
  if (trailer !== undefined && status !== undefined && status !== null && status !== '0') {
    const code = Number(status) as Code;
    const corrected = correctedStatus(code, messageOf(trailer), rpc.json);
    rpc.call.code = codeWord(corrected?.code ?? code);
    if (corrected !== undefined) setTrailerStatus(trailer, corrected);
    return response;
  }
  if (body === undefined) return response;
  // Streams read their body lazily, so only the first chunk is inspected.
  return { ...response, ...(await correctBody(response, body, rpc)) };
}

async function correctBody(
  response: UniversalServerResponse,
  body: AsyncIterable<Uint8Array>,
  rpc: RpcCall,
): Promise<Partial<UniversalServerResponse>> {
  const contentType = response.header?.get('content-type') ?? '';
  if (contentType === MEDIA_TYPES.json && response.status >= 400) {
    const sent = await collect(body);
    const isCompressed = response.header?.get('content-encoding') === 'gzip';
    const bytes = isCompressed ? gunzipSync(sent) : sent;
    const error = errorFromJsonBytes(bytes, undefined, new ConnectError('', Code.Internal));
    const corrected = correctedStatus(error.code, error.rawMessage, rpc.json);
    rpc.call.code = codeWord(corrected?.code ?? error.code);
    if (corrected === undefined) return { body: only(sent) };
    const json = errorToJsonBytes(corrected, undefined);
    response.header?.delete('content-encoding');
    response.header?.set('content-length', String(json.byteLength));
    return { status: 400, body: only(json) };
  }
  if (mediaTypeOf(contentType).protocol === 'grpc-web') {
    return { body: correctWebTrailer(body, rpc) };
  }
  return {};
}

/** The flags of trailers that are compressed. */
const COMPRESSED_TRAILER = ENVELOPE_FLAGS.trailers | ENVELOPE_FLAGS.compressed;

async function* correctWebTrailer(body: AsyncIterable<Uint8Array>, rpc: RpcCall): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    yield chunk[0] === ENVELOPE_FLAGS.trailers || chunk[0] === COMPRESSED_TRAILER
      ? correctedTrailerFrame(chunk, rpc)
      : chunk;
  }
}

function correctedTrailerFrame(frame: Uint8Array, { call, json }: RpcCall): Uint8Array {
  if (call.code !== null) return frame;
  const content = frame.subarray(PREFIX_LENGTH);
  const trailer = trailerParse(frame[0] === COMPRESSED_TRAILER ? gunzipSync(content) : content);
  const code = Number(trailer.get('grpc-status') ?? '0') as Code | 0;
  if (code === 0) return frame;
  const corrected = correctedStatus(code, messageOf(trailer), json);
  call.code = codeWord(corrected?.code ?? code);
  if (corrected === undefined) return frame;
  setTrailerStatus(trailer, corrected);
  return inEnvelope(ENVELOPE_FLAGS.trailers, trailerSerialize(trailer));
}

function messageOf(trailer: Headers): string {
  return decodeURIComponent(trailer.get('grpc-message') ?? '');
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
