import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { Health } from '../../gen/proto/grpc/health/v1/health_pb.js';
import type { Config } from '../config.js';
import type { Authenticator } from './auth/authenticator.js';
import { createCredentialReader } from './auth/request-credentials.js';
import { foreignOriginCheck } from './auth/request-origin.js';
import { registerConnect } from './connect/connect-plugin.js';
import { registerCors } from './cors.js';
import type { RpcMethod } from './descriptors/rpc-methods.js';
import type { HealthState } from './health.js';
import { boundBodies } from './limits/body-bytes.js';
import type { ByteBudgets } from './limits/byte-budget.js';
import type { CallGate } from './limits/call-gate.js';
import type { Listener } from './listener/listener.js';
import type { Metrics } from './metrics.js';
import { openApiDocument } from './openapi/document.js';
import { OPENAPI_PATHS, registerOpenApi } from './openapi/openapi-routes.js';
import { OPERATIONS_PATHS, type OperationalState, registerOperations } from './operations-routes.js';
import { registerReflection } from './reflection.js';
import { REQUEST_ID_HEADER, requestIdOf, VERSION_HEADER } from './reply-headers.js';
import { type ErrorContext, nothingAtPath, registerRestErrors, sendError } from './rest/rest-errors.js';
import { CLIENT_GONE_STATUS, type RestRoute, registerRestRoutes } from './rest/rest-routes.js';
import { createRouteFinder, type ServedPath } from './rest/route-finder.js';
import { registerSessionRoutes, sessionPaths } from './session/session-routes.js';
import { abandonUnreadBodies } from './unread-body.js';

/** Everything the host serves and serves it with. */
export interface ServerOptions extends ErrorContext {
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  readonly listener: Listener;
  readonly authenticator: Authenticator;
  readonly gate: CallGate;
  readonly budgets: ByteBudgets;
  readonly metrics: Metrics;
  readonly health: HealthState;
  readonly state: OperationalState;
  readonly services: readonly DescService[];
  readonly methods: ReadonlyMap<string, RpcMethod>;
  readonly restRoutes: readonly RestRoute[];
  /** Adds the RPC implementations. */
  readonly registerRpcs: (router: ConnectRouter) => void;
  /** Ends endless streams. */
  readonly shutdownSignal: AbortSignal;
}

/** `type/subtype`, whatever parameters follow. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;
const UNKNOWN_CONTENT = { 'content-type': 'application/octet-stream' };

/** Builds the one Fastify instance that serves every protocol. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { config, log } = options;
  const tellVersionAndId = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.header(VERSION_HEADER, options.state.version);
    reply.header(REQUEST_ID_HEADER, request.id);
  };
  const app = Fastify({
    loggerInstance: log,
    serverFactory: options.listener.serverFactory,
    bodyLimit: config.limits.bodyBytes,
    exposeHeadRoutes: false,
    requestIdHeader: false,
    genReqId: (request) => requestIdOf(request.headers),
    // Steps and definitions never reach the log: `logRequests` below writes method, path, status and time only.
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: {
      // No longer than the header block anyway; names that are too long get an answer that says so.
      maxParamLength: 16_384,
      // Of a repeated parameter the last one counts.
      querystringParser: (query) => Object.fromEntries(new URLSearchParams(query)),
    },
    return503OnClosing: true,
    frameworkErrors: (error, request, reply) => {
      // The only one left is a path that cannot be decoded, so nothing can be there. No hook has run or will.
      request.log.debug({ err: error }, 'a path cannot be decoded');
      tellVersionAndId(request, reply);
      sendError(nothingAtPath(), request, reply, options);
    },
  });
  app.addHook('onRequest', (request, reply, done) => {
    tellVersionAndId(request, reply);
    const contentType = request.headers['content-type'];
    // Fastify refuses what is no media type before the route, which may not even want a body.
    if (contentType !== undefined && !MEDIA_TYPE.test(contentType)) request.headers = UNKNOWN_CONTENT;
    done();
  });
  // Requests that no route takes are answered without a look at their bodies.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  abandonUnreadBodies(app);
  await registerCors(app, config.cors, [VERSION_HEADER]);
  const finder = createRouteFinder(servedPaths(options));
  registerRestErrors(app, finder, options);
  registerOperations(app, options.state, options.metrics);
  await registerOpenApi(
    app,
    openApiDocument({
      routes: options.restRoutes,
      version: options.state.version,
      apiPrefix: config.apiPrefix,
      methodsAt: finder.methodsAt,
    }),
  );
  const { authenticator } = options;
  const isForeign = foreignOriginCheck(config.cors.origins);
  const credentials = createCredentialReader(isForeign);
  await app.register(async (scope) => {
    observeRest(scope, options.metrics);
    boundBodies(scope, options.budgets);
    registerRestRoutes(scope, {
      routes: options.restRoutes,
      authenticator,
      credentials,
      gate: options.gate,
      requestTimeoutMs: config.limits.requestTimeoutMs,
      shutdownSignal: options.shutdownSignal,
    });
    registerSessionRoutes(scope, {
      prefix: config.apiPrefix,
      authenticator,
      credentials,
      isForeign,
      debug: config.debug,
    });
  });
  await app.register((scope) =>
    registerConnect(scope, {
      register(router) {
        options.registerRpcs(router);
        options.health.register(router);
        registerReflection(router, [...options.services, Health]);
      },
      methods: options.methods,
      authenticator,
      credentials,
      gate: options.gate,
      budgets: options.budgets,
      metrics: options.metrics,
      requestTimeoutMs: config.limits.requestTimeoutMs,
      maxMessageBytes: config.limits.bodyBytes,
      shutdownSignal: options.shutdownSignal,
    }),
  );
  logRequests(app);
  return app;
}

/** What is served where, literal paths before those with parameters. */
function servedPaths(options: ServerOptions): ServedPath[] {
  const paths: ServedPath[] = [
    ...OPERATIONS_PATHS,
    ...OPENAPI_PATHS,
    ...sessionPaths(options.config.apiPrefix),
  ];
  const templates = options.restRoutes.map(({ template, binding }) => ({
    template,
    methods: [binding.verb],
  }));
  templates.sort((a, b) => parameters(a.template) - parameters(b.template));
  for (const service of options.services) {
    for (const method of service.methods) {
      paths.push({ template: `/${service.typeName}/${method.name}`, methods: ['POST'] });
    }
  }
  return [...paths, ...templates];
}

function parameters(template: string): number {
  return template.split('{').length - 1;
}

function observeRest(scope: FastifyInstance, metrics: Metrics): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const { method } = request;
    const path = request.routeOptions.config.template ?? '';
    metrics.restStarted(method, path);
    // Comes when the reply is complete, and also when the client went away, over every version of HTTP.
    reply.raw.once('close', () => {
      const status = reply.raw.writableEnded ? reply.statusCode : CLIENT_GONE_STATUS;
      metrics.restEnded(method, path, status, reply.elapsedTime / 1000);
    });
    done();
  });
}

/** One line for each request; at level debug, so that the hot path does not pay for it by default. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
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
