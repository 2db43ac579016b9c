import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { z } from 'zod';
import { type JsonObject, type JsonValue, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { AnyHandler } from '../../contract/call/handler.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import { inputItems, invalidRequest } from '../../contract/input/parse-input.js';
import { type CallHost, restRoute } from '../call/call-host.js';
import { replyShape } from '../descriptors/reply-shape.js';
import { type HttpBinding, type RpcMethod, restTemplate } from '../descriptors/rpc-methods.js';
import { compressedText } from './compressed-text.js';
import { breakOffWithBody, LINES_MEDIA_TYPE, lineStream } from './line-stream.js';
import { headerTeller } from './reply-members.js';
import { type HeaderMember, headerMembers, readHeaderMembers } from './request-headers.js';
import { readBody } from './rest-body.js';
import { callOf } from './rest-calls.js';
import type { RestRequest, RestRoute } from './rest-route.js';
import { checkQuery, queryMembers, receivedRequest, unreadBody, unreadHint } from './unread-parts.js';

/** Media type of JSON replies. */
export const JSON_TYPE = 'application/json; charset=utf-8';

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
    if ('collect' in handler || 'exchange' in handler)
      throw new Error(`${method.name} takes a stream and cannot have an HTTP path`);
    const print = printer(method, binding);
    const tell = headerTeller(method.desc.output);
    const inHeaders = headerMembers(method.desc.input);
    return {
      method,
      binding,
      template: restTemplate(binding, apiBase),
      input: handler.input,
      run(request, call) {
        call.warn(checkQuery(method, binding, request, strict));
        call.warn(unreadBody(binding, request.body));
        const { input, body } = readInput(handler.input, method, binding, request, inHeaders);
        call.receives(() => receivedRequest(method, binding, body, request.body));
        if ('stream' in handler) return lines(handler.stream(input, call), (reply) => print(reply, input));
        const reply = handler.handle(input, call);
        const done = (value: object): string => {
          call.answeredBy(handler);
          tell(value, call);
          return print(value, input);
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

function printer(method: RpcMethod, binding: HttpBinding): (reply: object, input: unknown) => string {
  const shape = replyShape(method.desc.output, method.omitNulls);
  if (binding.responseBody === '') return (reply, input) => stringifyJson(shape(reply, input) as JsonObject);
  return (reply, input) => stringifyJson((shape(reply, input) as JsonObject)[binding.responseBody] ?? null);
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
  inHeaders: readonly HeaderMember[],
): ReadRequest {
  const params = request.params as Record<string, string>;
  if (binding.body === '') {
    const query = request.query as Record<string, string>;
    const headers = readHeaderMembers(inHeaders, request, query);
    const { value, items } = inputItems(schema, { ...query, ...headers, ...params });
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
  const members = { ...(body.value as JsonObject), ...query };
  const headers = readHeaderMembers(inHeaders, request, members);
  const { value, items } = inputItems(schema, withParams(members, { ...headers, ...params }));
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

/** Adds the JSON routes to a separate Fastify scope with `startRestCalls`. */
export function registerRestRoutes(
  scope: FastifyInstance,
  routes: readonly RestRoute[],
  host: CallHost,
): void {
  scope.removeAllContentTypeParsers();
  // Routes read the bytes themselves, after the access check; those without a body never do.
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const route of routes) {
    const { method, binding, template } = route;
    const isEndless = method.desc.methodKind === 'server_streaming';
    scope.route({
      method: binding.verb as HTTPMethods,
      url: template.replace(/\{(\w+)\}/g, ':$1'),
      config: { callRoute: restRoute(host.metrics, method, binding.verb, template, isEndless) },
      handler: (request, reply) => answer(route, request, reply),
    });
  }
}

async function answer(route: RestRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const call = callOf(request);
  const tell = () => call.notes((name, value) => reply.header(name, value));
  try {
    const turn = call.turn();
    if (turn !== undefined) await call.bound(turn);
    const result = route.run(request, call);
    reply.code(route.method.successStatus);
    if (typeof result === 'object' && Symbol.asyncIterator in result) {
      const body = await lineStream(result, call.signal, (first) => call.bound(first));
      breakOffWithBody(body, reply.raw);
      tell();
      return reply.type(LINES_MEDIA_TYPE).send(body);
    }
    const text = await call.bound(result);
    tell();
    // Verdicts are small and urgent.
    const body = route.method.isEvaluation ? text : await compressedText(text, request, reply);
    return reply.type(JSON_TYPE).send(body);
  } catch (error) {
    tell();
    throw error;
  } finally {
    call.worked();
  }
}
