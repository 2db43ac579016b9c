import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { FREE_BYTES } from '../admission/call-ticket.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { type CorsHeaders, isByKeyAlone } from '../http/cors.js';
import type { StreamTaker } from '../listener/http2-server.js';
import type { RequestTaker } from '../listener/listener.js';
import { createJsonForm } from '../wire/json-form.js';
import { connectFramings } from './framings/connect.js';
import { grpcWebFramings } from './framings/grpc-web.js';
import { Http1Exchange } from './http1-exchange.js';
import { Http2Exchange } from './http2-exchange.js';
import type { LaneEnvironment } from './lane-environment.js';
import { createLaneTable } from './lane-table.js';
import { createWebHead } from './reply-head.js';
import { evaluationRoute, type RpcRouteOptions } from './rpc-routes.js';
import { startUnary, type UnaryRoute } from './unary-call.js';

export interface WebLaneOptions extends LaneEnvironment, Omit<RpcRouteOptions, 'head' | 'metrics'> {
  /** The methods that evaluate, by name. */
  readonly methods: ReadonlyMap<string, RpcMethod>;
  /** Sent with every reply. */
  readonly version: string;
  /** Further headers with the version, in lower case. */
  readonly versionHeaders?: readonly string[];
  readonly corsHeaders: CorsHeaders;
  /** Whether keys are required. */
  readonly hasKeys: boolean;
}

/** What the lane takes of each version of HTTP. */
export interface WebLane {
  readonly takeRequest: RequestTaker;
  readonly takeStream: StreamTaker;
}

/**
 * Fast path for unary evaluations over gRPC-Web and Connect, in binary form or JSON, without compression: served on the
 * request or the HTTP/2 stream, bypassing Fastify and Connect. Everything else, and every doubtful case, is left to
 * them. Clients see no difference but a `content-length`; test/serve/lane checks that.
 */
export function createWebLane(options: WebLaneOptions): WebLane {
  const head = createWebHead(options.version, options.corsHeaders, options.versionHeaders);
  const routes = createLaneTable<UnaryRoute>();
  const json = createJsonForm();
  for (const [mediaType, framing] of Object.entries({ ...grpcWebFramings(json), ...connectFramings(json) })) {
    for (const method of options.methods.values()) {
      const route = evaluationRoute(method, framing, { ...options, head });
      if (route !== undefined) routes.add(`/${method.name}`, mediaType, route);
    }
  }
  const routeOf = (path: string | undefined, headers: IncomingHttpHeaders, maxBytes: number) => {
    const route = routes.find(path, headers);
    if (route === undefined || !isPlain(headers)) return undefined;
    if (Number(headers['content-length'] ?? 0) > maxBytes) return undefined;
    return isByKeyAlone(headers, options.hasKeys) ? route : undefined;
  };
  // The total size of larger bodies is limited where Fastify reads them.
  const maxHttp1Bytes = Math.min(options.maxMessageBytes, FREE_BYTES);

  return {
    takeRequest(request, response) {
      if (request.method !== 'POST' || !hasLength(request)) return false;
      const route = routeOf(request.url, request.headers, maxHttp1Bytes);
      if (route === undefined) return false;
      return startUnary(options, route, new Http1Exchange(request, response), request);
    },
    takeStream(stream, headers, rawHeaders) {
      if (headers[':method'] !== 'POST') return false;
      const route = routeOf(headers[':path'] as string | undefined, headers, options.maxMessageBytes);
      if (route === undefined) return false;
      return startUnary(options, route, new Http2Exchange(stream, headers), { headers, rawHeaders });
    },
  };
}

function hasLength({ httpVersion, headers }: IncomingMessage): boolean {
  return (
    httpVersion === '1.1' &&
    headers['content-length'] !== undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.upgrade === undefined
  );
}

function isPlain(headers: IncomingHttpHeaders): boolean {
  if (headers.expect !== undefined) return false;
  const version = headers['connect-protocol-version'];
  if (version !== undefined && version !== '1') return false;
  return isIdentity(headers['grpc-encoding']) && isIdentity(headers['content-encoding']);
}

function isIdentity(encoding: string | string[] | undefined): boolean {
  return encoding === undefined || encoding === 'identity';
}
