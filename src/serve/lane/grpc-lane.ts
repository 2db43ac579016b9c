import type { IncomingHttpHeaders } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Admission } from '../admission/admission.js';
import { rpcRoute } from '../call/call-host.js';
import type { LongStreams } from '../call/long-streams.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import type { StreamTaker } from '../listener/http2-server.js';
import type { EvaluationCodec } from '../wire/evaluation-codec.js';
import { GRPC_FRAMINGS } from './framings/grpc.js';
import { Http2Exchange } from './http2-exchange.js';
import type { LaneEnvironment } from './lane-environment.js';
import { createLaneTable } from './lane-table.js';
import { createGrpcHead } from './reply-head.js';
import { evaluationRoute, type RpcRouteOptions } from './rpc-routes.js';
import { StreamCall } from './stream-call.js';
import { Turns } from './turns.js';
import { UnaryCall, type UnaryRoute } from './unary-call.js';

export interface GrpcLaneOptions extends LaneEnvironment, Omit<RpcRouteOptions, 'head' | 'metrics'> {
  /** The methods that evaluate, by name. */
  readonly methods: ReadonlyMap<string, RpcMethod>;
  /** The codec of streams. */
  readonly codec: EvaluationCodec;
  readonly longStreams: LongStreams;
  /** Sent with every reply. */
  readonly version: string;
  /** Further headers with the version, in lower case. */
  readonly versionHeaders?: readonly string[];
}

interface StartedRoute {
  readonly method: RpcMethod;
  start(exchange: Http2Exchange, apiKey: string | undefined): void;
}

/**
 * Fast path for the calls that agents make for every step: plain gRPC over HTTP/2 without compression is
 * served directly on the HTTP/2 stream, bypassing Fastify and Connect, which cost several times as much as an
 * evaluation. Everything else, and every doubtful case, is left to them. Clients see no difference;
 * test/serve/lane checks that.
 */
export function createGrpcLane(options: GrpcLaneOptions): StreamTaker {
  const head = createGrpcHead(options.version, options.versionHeaders);
  const turnsOf = turnsBySession(options.admission);
  const streams = { ...options, head };
  const starts = createLaneTable<StartedRoute>();
  for (const [mediaType, framing] of Object.entries(GRPC_FRAMINGS)) {
    for (const method of options.methods.values()) {
      const start = startOf(method, evaluationRoute(method, framing, streams));
      if (start !== undefined) starts.add(`/${method.name}`, mediaType, { method, start });
    }
  }

  function startOf(method: RpcMethod, unary: UnaryRoute | undefined): StartedRoute['start'] | undefined {
    if (unary !== undefined)
      return (exchange, apiKey) => new UnaryCall(options, unary, exchange).start(apiKey);
    if (method.desc.methodKind === 'unary') return undefined;
    const route = rpcRoute(options.metrics, method, method.name, 'grpc', true);
    return (exchange, apiKey) =>
      new StreamCall(streams, route, exchange, turnsOf(exchange.stream.session)).start(apiKey);
  }

  return (stream, headers, rawHeaders) => {
    const route = starts.find(headers[':path'] as string | undefined, headers);
    if (route === undefined || !isPlain(headers)) return false;
    const apiKey = options.keyReader.evaluationKeyOf({ headers, rawHeaders });
    // Its verification is asynchronous.
    if (options.entrance.isUnverified(apiKey, route.method)) return false;
    route.start(new Http2Exchange(stream, headers), apiKey);
    return true;
  };
}

function isPlain(headers: IncomingHttpHeaders): boolean {
  if (headers[':method'] !== 'POST' || headers.expect !== undefined) return false;
  // Browsers do not use plain gRPC; whether a page may act is checked elsewhere.
  if (headers.origin !== undefined) return false;
  const encoding = headers['grpc-encoding'];
  return encoding === undefined || encoding === 'identity';
}

function turnsBySession(admission: Pick<Admission, 'peerOf'>): (session: Http2Session | undefined) => Turns {
  const known = new WeakMap<Http2Session, Turns>();
  return (session) => {
    const existing = session && known.get(session);
    if (existing !== undefined) return existing;
    const turns = new Turns(admission.peerOf(session));
    if (session !== undefined) known.set(session, turns);
    return turns;
  };
}
