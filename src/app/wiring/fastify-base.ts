import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Config } from '../../contract/config/config.js';
import type { CallTicket } from '../../serve/admission/call-ticket.js';
import type { FrontGate } from '../../serve/admission/front-gate.js';
import type { Call } from '../../serve/call/call.js';
import { tellBasePath } from '../../serve/http/base-path.js';
import { abandonUnreadBodies, isHttp2 } from '../../serve/http/request-bodies.js';
import { protectReplies } from '../../serve/http/safe-replies.js';
import type { Listener } from '../../serve/listener/listener.js';
import { answerClientError } from '../../serve/listener/wrong-protocol.js';
import { type ErrorContext, sendError } from '../../serve/rest/rest-errors.js';
import { parseQuery } from '../../serve/rest/unread-parts.js';
import type { Unserved } from '../../serve/routing/unserved.js';
import { REQUEST_ID_HEADER, requestIdOf, versionHeaders } from '../../serve/wire/reply-headers.js';
import type { OperationalState } from '../operations/operations-routes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The limited resources of the request; ended when its reply is complete or its caller disconnects. */
    ticket: CallTicket;
    /** Null for requests that are neither an RPC nor of a JSON route. */
    call: Call | null;
  }
}

/** `type/subtype`, with any parameters. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;
const UNKNOWN_CONTENT = { 'content-type': 'application/octet-stream' };

/** The options common to all servers. */
export interface BaseOptions extends ErrorContext {
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  readonly listener: Listener;
  readonly gate: Pick<FrontGate, 'ticketOf'>;
  readonly state: OperationalState;
}

/** A Fastify instance without routes that handles ids, tickets, errors and unread bodies. */
export function createBase(options: BaseOptions, unserved: Unserved): FastifyInstance {
  const { config, log } = options;
  const versions = versionHeaders(config.versionHeaders);
  const tellVersionAndId = (request: FastifyRequest, reply: FastifyReply): void => {
    for (const name of versions) reply.header(name, options.state.version);
    reply.header(REQUEST_ID_HEADER, request.id);
  };
  const app = Fastify({
    loggerInstance: log,
    serverFactory: options.listener.serverFactory,
    clientErrorHandler: answerClientError,
    bodyLimit: config.limits.bodyBytes,
    exposeHeadRoutes: false,
    requestIdHeader: false,
    genReqId: (request) => requestIdOf(request.headers),
    // Steps and definitions are never logged: `logRequests` below writes only method, path, status and time.
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: {
      // Limited by the header block anyway; names that are too long get an explicit error.
      maxParamLength: 16_384,
      querystringParser: parseQuery,
    },
    return503OnClosing: true,
    // Handlers read their input and print their replies. The compilers of schemas are a tenth of all modules of a start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (error, request, reply) => {
      // The only remaining case is an undecodable path, which is never served. Hooks do not run for it.
      request.log.debug({ err: error }, 'a path cannot be decoded');
      tellVersionAndId(request, reply);
      sendError(unserved.path(request.url), request, reply, options);
    },
  });
  app.addHook('onRequest', (request, reply, done) => {
    tellVersionAndId(request, reply);
    const contentType = request.headers['content-type'];
    // Fastify refuses an invalid media type before the route, which may not need a body at all.
    if (contentType !== undefined && !MEDIA_TYPE.test(contentType)) request.headers = UNKNOWN_CONTENT;
    done();
  });
  protectReplies(app);
  giveTickets(app, options.gate);
  tellBasePath(app, config);
  // Requests without a route are answered without reading their bodies.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  abandonUnreadBodies(app);
  return app;
}

function noSchemas(): never {
  throw new Error('no route has a schema');
}

function giveTickets(app: FastifyInstance, gate: Pick<FrontGate, 'ticketOf'>): void {
  app.decorateRequest('ticket');
  app.decorateRequest('call', null);
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    const isStream = isHttp2(raw);
    const connection = isStream ? raw.stream.session : raw.socket;
    const ticket = gate.ticketOf(isStream ? raw.stream : raw, connection, raw.headers);
    request.ticket = ticket;
    // Emitted when the reply is complete or the caller disconnects.
    reply.raw.once('close', () => ticket.end());
    done();
  });
}

/** Logs one line, at level debug, per request that has no call. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (request.call !== null) return done();
    request.log.debug(
      {
        method: request.method,
        path: request.routeOptions.url ?? 'unserved',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      'request',
    );
    done();
  });
}
