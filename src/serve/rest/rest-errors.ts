import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { ErrorForm } from '../../contract/call/handler.js';
import type { ErrorCode } from '../../contract/errors/error-table.js';
import { type ShownItem, wholeText } from '../../contract/errors/item-message.js';
import { httpStatusOf, ServiceError } from '../../contract/errors/service-error.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { TraceFacts } from '../call/call-host.js';
import type { RouteFinder } from '../routing/route-finder.js';
import type { Unserved } from '../routing/unserved.js';
import { MEDIA_TYPES, mediaTypeOf } from '../wire/media-types.js';
import { isServerFault, problemBody, publicDetail, publicItems, toServiceError } from '../wire/problem.js';
import { CHALLENGE_HEADER, ERROR_CODE_HEADER, ETAG_HEADER } from '../wire/reply-headers.js';
import { rpcErrorReply } from '../wire/rpc-reply.js';
import { UndecodableBodyError } from './rest-body.js';

/** The client has disconnected. */
export class ClientGoneError extends ServiceError {
  constructor() {
    super('SERVICE_UNAVAILABLE', { detail: 'The client went away.' });
  }
}

/** Context for answering and logging errors. */
export interface ErrorContext {
  readonly now: () => Date;
  /** For requests that cannot be served at present: an outage causes many, all for the same reason. */
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Absent when nothing is traced. */
  readonly traceFacts?: TraceFacts | undefined;
}

/** The same, with the served routes. */
export interface ServedContext extends ErrorContext {
  readonly finder: RouteFinder;
  readonly unserved: Unserved;
}

/** Formats every error and every unserved request of a Fastify instance according to the REST contract. */
export function registerRestErrors(app: FastifyInstance, served: ServedContext): void {
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, served));
  app.setNotFoundHandler((request, reply) => answerUnserved(served, request, reply));
}

/** A failed request, for its reply and log entry. */
export type FailedRequest = Pick<FastifyRequest, 'url' | 'id' | 'log' | 'headers'> & {
  /** Absent if the path has no parameters. */
  readonly routeOptions?: {
    readonly url?: string | undefined;
    readonly config?: { readonly errorForm?: ErrorForm | undefined };
  };
};

/** The reply to a request that failed. */
export interface ErrorAnswer {
  readonly status: number;
  /** A flat list of names and values, without the common headers and those of the body. */
  readonly headers: readonly string[];
  /** JSON text. */
  readonly body: string;
  /** The code of the error; empty for an error of HTTP. */
  readonly code: ErrorCode | '';
  /** What is wrong, where, and what to do, as one text. */
  readonly message: string;
}

/** Answers a request with an error. */
export function sendError(
  error: unknown,
  request: FailedRequest,
  reply: FastifyReply,
  context: ErrorContext,
): FastifyReply {
  const answer = errorAnswer(error, request, context);
  const { status, headers, body } = answer;
  for (let at = 0; at + 1 < headers.length; at += 2) reply.header(headers[at] as string, headers[at + 1]);
  const form = request.routeOptions?.config?.errorForm;
  if (form !== undefined) {
    const shown = form.show({ status, code: answer.code, message: answer.message, requestId: request.id });
    if (answer.code !== '') reply.header(ERROR_CODE_HEADER, answer.code);
    return reply.code(shown.status).type(form.type).send(shown.body);
  }
  return reply.code(status).type(MEDIA_TYPES.json).send(body);
}

/** The reply to a request that failed with `error`, which is logged if it is a failure of the server. */
export function errorAnswer(error: unknown, request: FailedRequest, context: ErrorContext): ErrorAnswer {
  if (error instanceof UndecodableBodyError) return detailAnswer(400, error.message);
  const known = fastifyError(error);
  if (known !== undefined && !(known instanceof ServiceError))
    return detailAnswer(known.status, known.detail);
  const serviceError = known ?? toServiceError(error);
  const status = httpStatusOf(serviceError);
  logFailure(serviceError, error, request, context);
  const headers: string[] = [];
  if (status === 401) headers.push(CHALLENGE_HEADER, serviceError.options.challenge ?? 'ApiKey');
  const retryAfter = serviceError.options.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
  if (retryAfter !== undefined) headers.push('retry-after', String(Math.max(1, Math.ceil(retryAfter))));
  const version = serviceError.options.facts?.current_version;
  if (version !== undefined && version !== '0') headers.push(ETAG_HEADER.toLowerCase(), `"${version}"`);
  const body = problemBody(serviceError, {
    instance: pathOf(request),
    now: context.now(),
    requestId: request.id,
  });
  return {
    status,
    headers,
    body: stringifyJson(body),
    code: serviceError.code,
    message: wholeMessage(serviceError),
  };
}

/** The problem body for an error in one part of a request, logged like the failure of a whole one. */
export function problemOf(error: unknown, request: FailedRequest, context: ErrorContext): JsonObject {
  const serviceError = toServiceError(error);
  logFailure(serviceError, error, request, context);
  return problemBody(serviceError, { instance: pathOf(request), now: context.now(), requestId: request.id });
}

function logFailure(
  serviceError: ServiceError,
  error: unknown,
  request: FailedRequest,
  { failures, traceFacts }: ErrorContext,
): void {
  const trace = () => traceFacts?.(request.headers, error);
  if (isServerFault(serviceError)) request.log.error({ err: error, ...trace() }, 'a request failed');
  else if (error instanceof ClientGoneError) request.log.debug({}, 'the client went away');
  else if (httpStatusOf(serviceError) >= 500) {
    const { code } = serviceError;
    const route = request.routeOptions?.url ?? rawPathOf(request);
    failures.failed(`${code} ${route}`, 'a request could not be served', error, { route, code, ...trace() });
  }
}

function detailAnswer(status: number, detail: string): ErrorAnswer {
  return { status, headers: [], body: JSON.stringify({ detail }), code: '', message: detail };
}

/** The detail, the problems and the hint of an error in one text. */
function wholeMessage(error: ServiceError): string {
  return wholeText(error.code, {
    detail: publicDetail(error),
    items: publicItems(error) as unknown as readonly ShownItem[],
    hint: isServerFault(error) ? undefined : error.options.hint,
  });
}

/** Converts errors raised by Fastify itself. */
function fastifyError(error: unknown): ServiceError | { status: number; detail: string } | undefined {
  const { code, statusCode, message } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new ServiceError('PAYLOAD_TOO_LARGE', {
      detail: 'The body is larger than this service accepts.',
      hint: 'Send less at once; SERVICE_MAX_BODY_BYTES sets the limit of all routes but the login.',
    });
  }
  // The connection ended inside the body. Only body readers give this error a status.
  if (code === 'ECONNRESET' && statusCode === 400) {
    return { status: 400, detail: 'The body did not arrive completely.' };
  }
  if (
    typeof code === 'string' &&
    code.startsWith('FST_ERR_') &&
    statusCode !== undefined &&
    statusCode < 500
  ) {
    return { status: statusCode, detail: message ?? STATUS_CODES[statusCode] ?? 'Bad Request' };
  }
  return undefined;
}

function answerUnserved(served: ServedContext, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { finder, unserved } = served;
  const path = rawPathOf(request);
  if (mediaTypeOf(request.headers['content-type']).protocol !== 'connect')
    return unknownRpc(unserved.rpc(path), request, reply);
  const methods = finder.methodsAt(path);
  if (methods !== undefined) {
    reply.header('allow', methods.join(', '));
    const detail = `${request.method} is not allowed here.`;
    const hint = `Use ${finder.allMethodsAt(path).join(' or ')}.`;
    return sendError(new ServiceError('METHOD_NOT_ALLOWED', { detail, hint }), request, reply, served);
  }
  const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  if (other !== '' && finder.methodsAt(other) !== undefined) {
    const query = request.url.slice(path.length);
    // Without a host below a base path: proxies replace their own in it, with the path that it has already.
    const base = request.basePath || `${request.protocol}://${request.host}`;
    return reply.code(307).header('location', `${base}${other}${query}`).send();
  }
  if (unserved.isRpc(path) && request.method === 'POST')
    return unknownConnectRpc(unserved.rpc(path), request, reply);
  return sendError(unserved.path(path), request, reply, served);
}

/** Connect clients map 404 to UNIMPLEMENTED, and take the message from the body. */
function unknownConnectRpc(error: ServiceError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = rpcErrorReply(request.headers, error);
  return reply
    .headers(headers)
    .code(status === 200 ? 200 : httpStatusOf(error))
    .send(Buffer.from(body));
}

/** gRPC clients read the status from the headers of a reply without a body. */
function unknownRpc(error: ServiceError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers(rpcErrorReply(request.headers, error).headers);
  // Fastify would end the reply with a separate frame, and gRPC clients would miss the trailers before it.
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.end();
  return reply;
}

function rawPathOf(request: FailedRequest): string {
  const end = request.url.indexOf('?');
  return end === -1 ? request.url : request.url.slice(0, end);
}

function pathOf(request: FailedRequest): string {
  const raw = rawPathOf(request);
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}
