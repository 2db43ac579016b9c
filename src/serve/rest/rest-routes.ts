import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { header, in_query } from '../../../gen/proto/enforcement/v1/options_pb.js';
import {
  type DuplicateMembers,
  type JsonObject,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import { type AnyHandler, type Handler, wholeRefusal } from '../../contract/call/handler.js';
import { isInvalidRequest } from '../../contract/input/parse-input.js';
import { optionOf } from '../../contract/warnings/proto-option.js';
import { createPauses } from '../../decide/decisions/in-turns.js';
import type { Call } from '../call/call.js';
import { type CallHost, restRoute } from '../call/call-host.js';
import { replyShape } from '../descriptors/reply-shape.js';
import { bodyMembers, type HttpBinding, type RpcMethod, restTemplate } from '../descriptors/rpc-methods.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { readInput, sentMembers } from './read-input.js';
import { breakOffWithBody, compressedText, lineStream } from './reply-bodies.js';
import { headerMembers } from './request-headers.js';
import { jsonBytes } from './rest-body.js';
import { callOf } from './rest-calls.js';
import type { RestReply, RestRequest, RestRoute } from './rest-route.js';
import { headerTeller } from './told-headers.js';
import { checkQuery, receivedRequest, unreadBody } from './unread-parts.js';

export interface HandlerRouteOptions {
  /** Prefix of the paths, for example `/api/v1`. */
  readonly apiBase: string;
  /** Whether unknown query parameters are refused; otherwise the reply has a warning. */
  readonly strict: boolean;
  /** Members that occur twice in an object of a body. */
  readonly duplicates: DuplicateMembers;
}

/** The routes of an RPC with a handler. Throws for an RPC that takes a stream: JSON has no form for it. */
export function handlerRoutes(
  method: RpcMethod,
  handler: AnyHandler,
  { apiBase, strict, duplicates }: HandlerRouteOptions,
): RestRoute[] {
  return method.bindings.map((binding) => {
    if ('collect' in handler || 'exchange' in handler)
      throw new Error(`${method.name} takes a stream and cannot have an HTTP path`);
    const plainPrint = printer(method, binding);
    const print = 'handle' in handler && handler.sharesReplies === true ? onceFor(plainPrint) : plainPrint;
    const tell = headerTeller(method.desc.output);
    const inHeaders = headerMembers(method.desc.input);
    if ('reader' in handler && handler.reader !== undefined) checkBodyOnly(method, binding);
    /** The bytes in which members that occur twice are to be found; none where these are refused. */
    const checkedBytes = ({ body }: RestRequest): unknown => (duplicates === 'last' ? body : null);
    /** Rejects with the error of a request that cannot be read, and with the further problems of its members. */
    const refused = async (
      error: unknown,
      one: Handler,
      request: RestRequest,
      call: Call,
    ): Promise<never> => {
      const sent = isInvalidRequest(error) ? sentMembers(method, binding, request, duplicates) : undefined;
      if (sent === undefined) throw error;
      call.receives(() => receivedRequest(method, binding, sent, checkedBytes(request)));
      throw await wholeRefusal(error, one, sent, call);
    };
    return {
      method,
      binding,
      template: restTemplate(binding, apiBase),
      input: handler.input,
      errorForm: 'handle' in handler ? handler.errorForm : undefined,
      isBulk: 'handle' in handler && handler.isBulk,
      run(request, call) {
        call.warn(checkQuery(method, binding, request, strict));
        call.warn(unreadBody(binding, request.body));
        const read = (): unknown => {
          const { input, body } = readInput(handler.input, method, binding, request, inHeaders, duplicates);
          const members = body === null ? null : bodyMembers(binding, body);
          call.receives(() => receivedRequest(method, binding, members, checkedBytes(request)));
          return input;
        };
        if ('stream' in handler) {
          const input = read();
          return lines(handler.stream(input, call), (reply) => plainPrint(reply, input));
        }
        const answer = (input: unknown): RestReply | Promise<RestReply> => {
          const done = (value: object): RestReply => {
            call.answeredBy(handler);
            tell(value, call);
            return print(value, input);
          };
          const reply = handler.handle(input, call);
          return reply instanceof Promise ? reply.then(done) : done(reply);
        };
        const elsewhere = readElsewhere(handler, request, call);
        if (elsewhere !== undefined) return elsewhere.then(answer);
        if (handler.furtherProblems === undefined) return answer(read());
        let input: unknown;
        try {
          input = read();
        } catch (error) {
          return refused(error, handler, request, call);
        }
        return answer(input);
      },
    };
  });
}

/** Throws for an RPC whose reader would miss members outside of the body. */
function checkBodyOnly({ name, desc }: RpcMethod, { body, pathMembers }: HttpBinding): void {
  const outside = desc.input.fields.some((field) => optionOf(field, in_query) || optionOf(field, header));
  if (body !== '*' || pathMembers.length > 0 || outside)
    throw new Error(`${name} has members outside of its body, which a reader does not get`);
}

/**
 * The input from the reader of the handler, if it takes this body. The members of a body that was read elsewhere are
 * not known here.
 */
function readElsewhere({ reader }: Handler, request: RestRequest, call: Call): Promise<unknown> | undefined {
  const bytes = reader === undefined ? undefined : jsonBytes(request);
  if (reader === undefined || bytes === undefined || !reader.takes(bytes.length)) return undefined;
  return reader.read({ form: 'rest', bytes }, call);
}

/** The bytes of each reply, printed once. */
function onceFor(
  print: (reply: object, input: unknown) => string,
): (reply: object, input: unknown) => Buffer {
  const known = new WeakMap<object, Buffer>();
  return (reply, input) => {
    const bytes = known.get(reply) ?? Buffer.from(print(reply, input));
    known.set(reply, bytes);
    return bytes;
  };
}

async function* lines(
  replies: AsyncIterable<object>,
  print: (reply: object) => string,
): AsyncGenerator<string> {
  for await (const reply of replies) yield `${print(reply)}\n`;
}

async function* counted(texts: AsyncIterable<string>, call: Call): AsyncGenerator<string> {
  const pause = createPauses();
  for await (const text of texts) {
    call.sends(text.length);
    yield text;
    const turn = pause();
    if (turn !== undefined) await turn;
  }
}

function printer(method: RpcMethod, binding: HttpBinding): (reply: object, input: unknown) => string {
  const shape = replyShape(method.desc.output, method.omitNulls);
  if (binding.responseBody === '') return (reply, input) => stringifyJson(shape(reply, input) as JsonObject);
  return (reply, input) => stringifyJson((shape(reply, input) as JsonObject)[binding.responseBody] ?? null);
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
      // A colon of the path is doubled, since a single one begins a parameter.
      url: template.replaceAll(':', '::').replace(/\{(\w+)\}/g, ':$1'),
      config: {
        callRoute: restRoute(host.metrics, method, binding.verb, template, isEndless),
        errorForm: route.errorForm,
      },
      handler: (request, reply) => answer(route, request, reply),
    });
  }
}

async function answer(route: RestRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const call = callOf(request);
  const tell = () => call.notes((name, value) => reply.header(name, value));
  try {
    const turn = call.turn(undefined, route.isBulk);
    if (turn !== undefined) await call.bound(turn);
    const result = route.run(request, call);
    reply.code(route.method.successStatus);
    if (typeof result === 'object' && Symbol.asyncIterator in result) {
      const body = await lineStream(counted(result, call), call.signal, (first) => call.bound(first));
      breakOffWithBody(body, reply.raw);
      tell();
      return reply.type(MEDIA_TYPES.lines).send(body);
    }
    const text = await call.bound(result);
    call.sends(Buffer.byteLength(text));
    tell();
    // Verdicts are small and urgent.
    const body = route.method.isEvaluation ? text : await compressedText(text, request, reply);
    return reply.type(MEDIA_TYPES.jsonInUtf8).send(body);
  } catch (error) {
    tell();
    throw error;
  } finally {
    call.worked();
  }
}
