import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { FREE_BYTES } from '../admission/call-ticket.js';
import type { Call } from '../call/call.js';
import { restRoute } from '../call/call-host.js';
import { type CorsHeaders, isByKeyAlone } from '../http/cors.js';
import { Http1Exchange } from '../lane/http1-exchange.js';
import type { Exchange, LaneEnvironment } from '../lane/lane-environment.js';
import { createWebHead, type ReplyHead } from '../lane/reply-head.js';
import { startUnary, type UnaryRoute, type UnaryWork } from '../lane/unary-call.js';
import type { RequestTaker } from '../listener/listener.js';
import { BodyReader } from '../wire/body-reader.js';
import { MEDIA_TYPES, mediaTypeOf } from '../wire/media-types.js';
import { addNotes, type Reply, type ReplyFields } from '../wire/reply.js';
import { ClientGoneError, type ErrorContext, errorAnswer } from './rest-errors.js';
import type { RestReply, RestRequest, RestRoute } from './rest-route.js';

export interface RestLaneOptions extends ErrorContext {
  /** Routes of the lane: POST with a body, without path parameters. */
  readonly routes: readonly RestRoute[];
  readonly host: LaneEnvironment;
  readonly log: FastifyBaseLogger;
  /** Sent with every reply. */
  readonly version: string;
  /** Further headers with the version, in lower case. */
  readonly versionHeaders?: readonly string[];
  readonly corsHeaders: CorsHeaders;
  /** Whether keys are required. */
  readonly hasKeys: boolean;
  /** Largest body, in bytes. */
  readonly maxBodyBytes: number;
}

/**
 * Fast path for the JSON requests that agents make for every step: over HTTP/1.1, with an ordinary JSON body
 * of declared length. They are served directly on the request, bypassing Fastify, whose router, hooks and reply cost
 * several times as much as an evaluation. Everything else, and every doubtful case, is left to Fastify. Clients see no
 * difference; test/serve/rest/lane checks that.
 */
export function createRestLane(options: RestLaneOptions): RequestTaker {
  const routes = new Map<string | undefined, UnaryRoute>();
  const head = createWebHead(options.version, options.corsHeaders, options.versionHeaders);
  for (const route of options.routes) routes.set(route.template, laneRoute(route, options, head));
  // The total size of larger bodies is limited where Fastify reads them.
  const maxBodyBytes = Math.min(options.maxBodyBytes, FREE_BYTES);

  return (request, response) => {
    // Exact match: a path with a query or in another spelling goes to the router.
    const route = routes.get(request.url);
    if (route === undefined || !isOrdinary(request, maxBodyBytes)) return false;
    if (!isByKeyAlone(request.headers, options.hasKeys)) return false;
    return startUnary(options.host, route, new Http1Exchange(request, response), request);
  };
}

function isOrdinary({ method, httpVersion, headers }: IncomingMessage, maxBodyBytes: number): boolean {
  if (method !== 'POST' || httpVersion !== '1.1') return false;
  if (!mediaTypeOf(headers['content-type']).isPlainJson) return false;
  const length = Number(headers['content-length'] ?? 0);
  if (!(length > 0 && length <= maxBodyBytes)) return false;
  return (
    headers['content-encoding'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined &&
    headers.upgrade === undefined
  );
}

function laneRoute(route: RestRoute, options: RestLaneOptions, head: ReplyHead): UnaryRoute {
  const { binding, method, template } = route;
  const fits = binding.verb === 'POST' && binding.body === '*' && binding.pathMembers.length === 0;
  if (!fits || method.desc.methodKind !== 'unary') throw new Error(`${method.name} has no place in the lane`);
  return {
    callRoute: restRoute(options.host.metrics, method, binding.verb, template),
    isRpc: false,
    gone: () => new ClientGoneError(),
    work: (exchange, requestId) => new RestWork(options, route, head, exchange, requestId),
  };
}

const NONE = {};

/** One request of the lane; also the input of its route. */
class RestWork implements UnaryWork, RestRequest {
  readonly id: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly params = NONE;
  readonly query = NONE;
  body: Buffer | undefined;
  readonly #options: RestLaneOptions;
  readonly #route: RestRoute;
  readonly #makeHead: ReplyHead;
  readonly #reader: BodyReader;
  #log: FastifyBaseLogger | undefined;

  constructor(
    options: RestLaneOptions,
    route: RestRoute,
    makeHead: ReplyHead,
    { headers }: Exchange,
    requestId: string,
  ) {
    this.#options = options;
    this.#route = route;
    this.#makeHead = makeHead;
    this.#reader = new BodyReader(options.maxBodyBytes);
    this.id = requestId;
    this.url = route.template;
    this.headers = headers;
  }

  get log(): FastifyBaseLogger {
    this.#log ??= this.#options.log.child({ reqId: this.id });
    return this.#log;
  }

  push(chunk: Buffer): number {
    this.#reader.push(chunk);
    return this.#reader.heldBytes;
  }

  answer(call: Call): Reply | Promise<Reply> {
    this.body = this.#reader.last();
    const result = this.#route.run(this, call);
    return result instanceof Promise
      ? result.then((late) => this.#succeeded(late, call))
      : this.#succeeded(result, call);
  }

  failed(error: unknown, call: Call): Reply {
    const { status, headers, body } = errorAnswer(error, this, this.#options);
    const fields = addNotes(this.#head(), call);
    for (let at = 0; at + 1 < headers.length; at += 2)
      fields[headers[at] as string] = headers[at + 1] as string;
    return reply(status, fields, Buffer.from(body));
  }

  clear(): void {
    this.#reader.clear();
    this.body = undefined;
  }

  #succeeded(result: RestReply | AsyncIterable<string>, call: Call): Reply {
    const { method } = this.#route;
    if (typeof result !== 'string' && !Buffer.isBuffer(result))
      throw new Error(`${method.name} answered with a stream`);
    const body = typeof result === 'string' ? Buffer.from(result) : result;
    return reply(method.successStatus, addNotes(this.#head(), call), body);
  }

  #head(): ReplyFields {
    return this.#makeHead(this.headers, this.id);
  }
}

function reply(status: number, headers: ReplyFields, body: Buffer): Reply {
  headers['content-type'] = MEDIA_TYPES.jsonInUtf8;
  headers['content-length'] = String(body.length);
  return { status, headers, body };
}
