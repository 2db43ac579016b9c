import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { z } from 'zod';
import type { AnyHandler, Principal } from '../../contract/call/handler.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import { inputItems, invalidRequest } from '../../contract/input/parse-input.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { JsonObject, JsonValue } from '../../json/json-value.js';
import { stringifyJson } from '../../json/stringify-json.js';
import type { Admission } from '../admission/admission.js';
import { callClassOf } from '../admission/call-class.js';
import type { Entrance } from '../admission/entrance.js';
import type { CredentialReader } from '../auth/request-credentials.js';
import { createCallTime } from '../call/call-time.js';
import { prepareCall } from '../call/ignored-parts.js';
import { replyShape } from '../descriptors/reply-shape.js';
import { type HttpBinding, type RpcMethod, restTemplate } from '../descriptors/rpc-methods.js';
import { REVISION_HEADER, STALENESS_HEADER, WARNING_HEADER, warningHeader } from '../wire/reply-headers.js';
import { breakOffWithBody, LINES_MEDIA_TYPE, lineStream } from './line-stream.js';
import { readBody } from './rest-body.js';
import { ClientGoneError } from './rest-errors.js';
import type { RestRequest, RestRoute } from './rest-route.js';
import { checkQuery, queryMembers, receivedRequest, unreadHint } from './unread-parts.js';

/** Media type of JSON replies. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Status in the metrics for requests whose clients disconnected before the reply; never sent. */
export const CLIENT_GONE_STATUS = 499;

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
  }
  interface FastifyContextConfig {
    /** Path template for the metrics. */
    template?: string;
  }
}

export interface HandlerRouteOptions {
  /** Prefix of the paths, for example `/api/v1`. */
  readonly apiBase: string;
  /** Whether unknown query parameters are refused; otherwise the reply has a warning. */
  readonly strict: boolean;
}

/** The routes of an RPC with a handler. Throws for an RPC that takes a stream: JSON has no form for it. */
export function handlerRoutes(
  method: RpcMethod,
  handler: AnyHandler,
  { apiBase, strict }: HandlerRouteOptions,
): RestRoute[] {
  return method.bindings.map((binding) => {
    if ('collect' in handler) throw new Error(`${method.name} takes a stream and cannot have an HTTP path`);
    const print = printer(method, binding);
    return {
      method,
      binding,
      template: restTemplate(binding, apiBase),
      input: handler.input,
      run(request, context) {
        context.warn(checkQuery(method, binding, request, strict));
        const { input, body } = readInput(handler.input, method, binding, request);
        const received = () => receivedRequest(method, binding, body, request.body);
        const { call, finish } = prepareCall(handler, context, received);
        if ('stream' in handler) return lines(handler.stream(input, call), print);
        const reply = handler.handle(input, call);
        const done = (value: object): string => {
          finish();
          return print(value);
        };
        return reply instanceof Promise ? reply.then(done) : done(reply);
      },
    };
  });
}

async function* lines(
  replies: AsyncIterable<object>,
  print: (reply: object) => string,
): AsyncGenerator<string> {
  for await (const reply of replies) yield `${print(reply)}\n`;
}

function printer(method: RpcMethod, binding: HttpBinding): (reply: object) => string {
  const shape = replyShape(method.desc.output, method.omitNulls);
  if (binding.responseBody === '') return (reply) => stringifyJson(shape(reply) as JsonObject);
  return (reply) => stringifyJson((shape(reply) as JsonObject)[binding.responseBody] ?? null);
}

/** The input read from a request, and its unprocessed body; null without one. */
interface ReadRequest {
  readonly input: unknown;
  readonly body: JsonValue;
}

/** Combines path, query and body into one input; all their problems are reported together. */
function readInput(
  schema: z.ZodType,
  method: RpcMethod,
  binding: HttpBinding,
  request: RestRequest,
): ReadRequest {
  const params = request.params as Record<string, string>;
  if (binding.body === '') {
    const query = request.query as Record<string, string>;
    const { value, items } = inputItems(schema, { ...query, ...params });
    if (items.length === 0) return { input: value, body: null };
    throw invalidRequest(items.map((item) => located(item, params, 'query')));
  }
  const body = readBody(request);
  if ('problem' in body) {
    const { items } = inputItems(schema, params);
    const others = items.filter((item) => firstPart(item) in params).map((item) => located(item, params, ''));
    throw invalidRequest([...others, ...(body.problem.options.items ?? [])]);
  }
  const query = queryMembers(method, request);
  const { value, items } = inputItems(schema, withParams(body.value as JsonObject, { ...query, ...params }));
  if (items.length === 0) return { input: value, body: body.value };
  const places = items.map((item) => located(located(item, params, ''), query, '', 'query'));
  throw invalidRequest(places, places.length, unreadHint(method, binding, body.value));
}

/** Path and query take precedence over a body member of the same name. */
function withParams(body: JsonObject, params: Record<string, string>): JsonObject {
  return Object.keys(params).length === 0 ? body : { ...body, ...params };
}

function firstPart(item: ErrorItem): string {
  return /^[^.[]*/.exec(item.field ?? '')?.[0] ?? '';
}

/** Prefixes the field of an item: with `place` if it is one of `params`, else with `other`. */
function located(
  item: ErrorItem,
  params: Record<string, string>,
  other: 'query' | '',
  place: 'path' | 'query' = 'path',
): ErrorItem {
  if (item.field === undefined) return item;
  if (Object.hasOwn(params, firstPart(item))) return { ...item, field: `${place}.${item.field}` };
  return other === '' ? item : { ...item, field: `${other}.${item.field}` };
}

export interface RestOptions {
  readonly routes: readonly RestRoute[];
  readonly entrance: Pick<Entrance, 'enter'>;
  readonly admission: Pick<Admission, 'takeTurn'>;
  readonly credentials: CredentialReader;
  readonly requestTimeoutMs: number;
  /** Ends running streams when the server shuts down. */
  readonly shutdownSignal: AbortSignal;
}

/** Adds the JSON routes to a separate Fastify scope. */
export function registerRestRoutes(scope: FastifyInstance, options: RestOptions): void {
  scope.removeAllContentTypeParsers();
  // Routes read the bytes themselves, after the access check; those without a body never do.
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  scope.decorateRequest('principal', null);
  for (const route of options.routes) addRoute(scope, route, options);
}

function addRoute(scope: FastifyInstance, route: RestRoute, options: RestOptions): void {
  const { method, binding } = route;
  scope.route({
    method: binding.verb as HTTPMethods,
    url: route.template.replace(/\{(\w+)\}/g, ':$1'),
    config: { template: route.template },
    onRequest: (request, reply, done) => {
      // The router matches `/agents/` as an agent without a name; that path is not served.
      if (Object.values(request.params as object).includes('')) return reply.callNotFound();
      const credentials = options.credentials.ofRest(request);
      const principal = options.entrance.enter(request.ticket, method, credentials);
      if (!(principal instanceof Promise)) {
        request.principal = principal;
        return done();
      }
      principal
        .then((found) => {
          request.principal = found;
        })
        .then(() => done(), done);
    },
    preHandler: (_request, reply, done) => {
      if (callClassOf(method) !== 'keyed') return done();
      options.admission.takeTurn('keyed', done, () => reply.raw.destroyed);
    },
    handler: (request, reply) => answer(route, request, reply, options),
  });
}

async function answer(
  route: RestRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  { requestTimeoutMs, shutdownSignal }: RestOptions,
): Promise<FastifyReply> {
  const isStream = route.method.desc.methodKind === 'server_streaming';
  const streamSignal = isStream ? AbortSignal.any([clientSignal(reply), shutdownSignal]) : null;
  const time = createCallTime(requestTimeoutMs, () => streamSignal ?? clientSignal(reply));
  const told: Warning[] = [];
  try {
    const result = route.run(request, {
      principal: request.principal ?? { level: 'anonymous', keyFingerprint: null },
      requestId: request.id,
      get signal() {
        return streamSignal ?? time.signal;
      },
      header: (name) => {
        const value = request.headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
      reportRevision: (revision) => {
        reply.header(REVISION_HEADER, String(revision));
      },
      reportStaleness: (seconds) => {
        reply.header(STALENESS_HEADER, String(seconds));
      },
      warn: (warnings) => {
        told.push(...warnings);
        const text = warningHeader(told);
        if (text !== undefined) reply.header(WARNING_HEADER, text);
      },
    });
    reply.code(route.method.successStatus);
    if (streamSignal !== null && typeof result === 'object' && Symbol.asyncIterator in result) {
      const body = await lineStream(result, streamSignal, (first) => time.bound(first));
      breakOffWithBody(body, reply.raw);
      return reply.type(LINES_MEDIA_TYPE).send(body);
    }
    const text = result instanceof Promise ? await time.bound(result) : result;
    return reply.type(JSON_TYPE).send(text);
  } finally {
    time.end();
  }
}

/** Aborted when the connection closes. Not used after the reply was sent. */
function clientSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(new ClientGoneError()));
  return gone.signal;
}
