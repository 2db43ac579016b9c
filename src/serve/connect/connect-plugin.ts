import type { DescService } from '@bufbuild/protobuf';
import {
  type ConnectError,
  type ConnectRouter,
  type ConnectRouterOptions,
  createConnectRouter,
  createContextValues,
} from '@connectrpc/connect';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import type { MessageReader } from '../../contract/call/handler.js';
import { draining } from '../../contract/errors/draining.js';
import { PUBLIC_METHOD } from '../admission/call-class.js';
import type { CredentialReader } from '../auth/request-credentials.js';
import { Call } from '../call/call.js';
import { type CallHost, type CallRoute, closedStatus, rpcRoute } from '../call/call-host.js';
import type { LongStreams } from '../call/long-streams.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { isHttp2 } from '../http/request-bodies.js';
import { toConnectError } from '../wire/error-status.js';
import { MIN_GZIP_BYTES } from '../wire/gzip.js';
import { jsonCopyFor } from '../wire/json-copy.js';
import { mediaTypeOf } from '../wire/media-types.js';
import { MESSAGE_OPTIONS } from '../wire/message-parser.js';
import { maxReplyBytes } from '../wire/reply.js';
import { withBase64 } from './base64-text.js';
import { compressingReplies, replyCompression } from './compressed-replies.js';
import { jsonOfQuery } from './get-request.js';
import { guardHandler } from './guard.js';
import { type RpcCall, rpcCallKey } from './rpc-call.js';
import { holdHeadersOf } from './trailers-only.js';

export interface ConnectPluginOptions {
  /** Registers the implementations. */
  readonly register: (router: ConnectRouter) => void;
  /** Every method with options of this API, by `package.Service/Method`. Only gRPC's own may be missing. */
  readonly methods: ReadonlyMap<string, RpcMethod>;
  /** The readers of large messages, by the same names; none by default. */
  readonly readers?: ReadonlyMap<string, MessageReader> | undefined;
  readonly host: CallHost;
  readonly credentials: CredentialReader;
  /** Largest message in either direction, in bytes. */
  readonly maxMessageBytes: number;
  /** Ends endless streams when the server shuts down. */
  readonly shutdownSignal: AbortSignal;
  readonly longStreams: LongStreams;
}

/** Serves gRPC, gRPC-Web and Connect in a separate Fastify scope. */
export async function registerConnect(scope: FastifyInstance, options: ConnectPluginOptions): Promise<void> {
  // Connect reads bodies itself and refuses unknown content types in the format of its protocols.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  const calls = new WeakMap<FastifyRequest, RpcCall>();
  startCalls(scope, calls, options);
  const unknown: string[] = [];
  const routerOptions = {
    acceptCompression: [],
    readMaxBytes: options.maxMessageBytes,
    writeMaxBytes: maxReplyBytes(options.maxMessageBytes),
    ...MESSAGE_OPTIONS,
    shutdownSignal: options.shutdownSignal,
  };
  await scope.register(fastifyConnectPlugin, {
    ...routerOptions,
    routes(router) {
      options.register(router);
      compressReplies(router, routerOptions, options);
      unknown.push(...guardAll(router, options));
    },
    contextValues(request) {
      return createContextValues().set(rpcCallKey, calls.get(request) ?? null);
    },
  });
  // Thrown here because an error thrown inside the plugin callback is not caught.
  if (unknown.length > 0) throw new Error(`the access level of ${unknown.join(', ')} is unknown`);
}

/**
 * Compresses replies for callers that accept it, except those of evaluations, which are small and urgent, and of gRPC's
 * own services, where a caller without a key would spend the time.
 */
function compressReplies(
  router: ConnectRouter,
  routerOptions: ConnectRouterOptions,
  { register, methods }: ConnectPluginOptions,
): void {
  const compressing = createConnectRouter({
    ...routerOptions,
    acceptCompression: [replyCompression],
    compressMinBytes: MIN_GZIP_BYTES,
  });
  register(compressing);
  const twins = new Map(compressing.handlers.map((handler) => [handler.requestPath, handler]));
  router.handlers.forEach((handler, index) => {
    const method = methods.get(handler.requestPath.slice(1));
    const twin = twins.get(handler.requestPath);
    if (method === undefined || method.isEvaluation || twin === undefined) return;
    router.handlers[index] = compressingReplies(handler, twin);
  });
}

/** gRPC's own services, which have no options of this API. */
const PUBLIC_SERVICES = /^grpc\.(?:health|reflection)\./;

/** Whether the access level of an RPC is unknown. */
function isUnclassified(name: string, { methods }: ConnectPluginOptions): boolean {
  return !methods.has(name) && !PUBLIC_SERVICES.test(name);
}

/**
 * Streams that are not ended from outside because of their age: evaluations tell their clients themselves, and an
 * export ends by itself.
 */
const OTHER_STREAMS = new Set([
  `${EvaluationService.typeName}/${EvaluationService.method.evaluateStream.name}`,
  `${ObservabilityService.typeName}/${ObservabilityService.method.exportEvents.name}`,
]);

function isLong(name: string, methodKind: string): boolean {
  return methodKind !== 'unary' && !OTHER_STREAMS.has(name);
}

/** Guards every handler. Returns the names of those whose access level is unknown. */
function guardAll(router: ConnectRouter, options: ConnectPluginOptions): string[] {
  const unknown: string[] = [];
  router.handlers.forEach((handler, index) => {
    const name = `${handler.service.typeName}/${handler.method.name}`;
    if (isUnclassified(name, options)) unknown.push(name);
    const longStreams = isLong(name, handler.method.methodKind) ? options.longStreams : null;
    const guarded = guardHandler(handler, {
      bodyTimeMs: options.host.requestTimeoutMs,
      longStreams,
      reader: options.readers?.get(name),
      maxMessageBytes: options.maxMessageBytes,
    });
    router.handlers[index] = withBase64(guarded);
  });
  return unknown;
}

/** Creates the call of every request, and ends it. */
function startCalls(
  scope: FastifyInstance,
  calls: WeakMap<FastifyRequest, RpcCall>,
  options: ConnectPluginOptions,
): void {
  const { host, methods, credentials } = options;
  const routes = new Map<string, CallRoute>();
  const routeOf = (name: string, protocol: string): CallRoute => {
    const key = `${protocol} ${name}`;
    const known = routes.get(key);
    if (known !== undefined) return known;
    if (isUnclassified(name, options)) throw new Error(`the access level of ${name} is unknown`);
    const method = methods.get(name);
    const isEndless = method !== undefined && method.desc.methodKind !== 'unary';
    const route = rpcRoute(host.metrics, method ?? PUBLIC_METHOD, name, protocol, isEndless);
    routes.set(key, route);
    return route;
  };
  scope.addHook('onRequest', (request, reply, done) => {
    const contentType = request.headers['content-type'];
    const { protocol } = mediaTypeOf(contentType);
    if (protocol === 'grpc') withoutCors(reply);
    repairAuthority(request);
    const route = routeOf((request.routeOptions.url ?? '').slice(1), protocol);
    const rpc: RpcCall = {
      call: new Call(host, route, {
        requestId: request.id,
        headers: request.headers,
        ticket: request.ticket,
        callerSignal: () => rpc.signal ?? ENDED,
      }),
      credentials: credentials.ofRpc(request, route.method.isEvaluation),
      connection: isHttp2(request.raw) ? request.raw.stream.session : request.raw.socket,
      json: request.method === 'GET' ? jsonOfQuery(request.raw.url ?? '') : jsonCopyFor(contentType),
      holdHeaders: holdHeadersOf(reply.raw),
      unread: undefined,
      replies: [],
      signal: undefined,
    };
    calls.set(request, rpc);
    request.call = rpc.call;
    // Emitted when the reply is complete or the caller disconnects, in every version of HTTP.
    reply.raw.once('close', () => rpc.call.end(closedStatus(reply.raw)));
    done();
  });
}

/** The signal of a call whose implementation does not run. */
const ENDED = AbortSignal.abort();

/** Browsers do not use plain gRPC. */
function withoutCors(reply: FastifyReply): void {
  for (const name of ['vary', 'access-control-allow-origin', 'access-control-expose-headers']) {
    reply.removeHeader(name);
  }
}

/** Connect builds a URL from the authority and aborts the call if that is invalid. The URL is not used. */
function repairAuthority(request: FastifyRequest): void {
  const { headers } = request.raw;
  const name = ':authority' in headers ? ':authority' : 'host';
  const authority = headers[name];
  if (typeof authority !== 'string' || !URL.canParse(`http://${authority}`))
    headers[name] = 'invalid.invalid';
}

/** The error that streams fail with at shutdown. */
export function shutdownReason(): ConnectError {
  return toConnectError(draining());
}

/** Names of services, for health and reflection. */
export function serviceNames(services: readonly DescService[]): string[] {
  return services.map((service) => service.typeName);
}
