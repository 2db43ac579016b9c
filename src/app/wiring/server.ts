import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import type { ConnectRouter } from '@connectrpc/connect';
import type { FastifyInstance } from 'fastify';
import { Health } from '../../../gen/proto/grpc/health/v1/health_pb.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { MessageReader } from '../../contract/call/handler.js';
import type { Entrance } from '../../serve/admission/entrance.js';
import type { Authenticator } from '../../serve/auth/authenticator.js';
import type { KeyReader } from '../../serve/auth/key-reader.js';
import { type CredentialReader, createCredentialReader } from '../../serve/auth/request-credentials.js';
import { foreignOriginCheck, keylessPageCheck } from '../../serve/auth/request-origin.js';
import type { CallHost } from '../../serve/call/call-host.js';
import type { LongStreams } from '../../serve/call/long-streams.js';
import { registerConnect } from '../../serve/connect/connect-plugin.js';
import { rpcCallOf } from '../../serve/connect/rpc-call.js';
import { builtDashboard, registerDashboard } from '../../serve/dashboard/dashboard-routes.js';
import type { RpcMethod } from '../../serve/descriptors/rpc-methods.js';
import { registerCors } from '../../serve/http/cors.js';
import { boundBodies } from '../../serve/http/request-bodies.js';
import { registerOpenApi } from '../../serve/openapi/openapi-routes.js';
import { type ServedApi, servedDocument } from '../../serve/openapi/served-document.js';
import { startRestCalls } from '../../serve/rest/rest-calls.js';
import { registerRestErrors } from '../../serve/rest/rest-errors.js';
import type { RestRoute } from '../../serve/rest/rest-route.js';
import { registerRestRoutes } from '../../serve/rest/rest-routes.js';
import { HOST_ROUTES, type HostPart, hostPaths } from '../../serve/routing/host-routes.js';
import { createRouteFinder, type ServedPath } from '../../serve/routing/route-finder.js';
import { createUnserved } from '../../serve/routing/unserved.js';
import type { IssuerLogin } from '../../serve/session/issuer-login.js';
import { registerSessionRoutes } from '../../serve/session/session-routes.js';
import { toConnectError } from '../../serve/wire/error-status.js';
import { versionHeaders } from '../../serve/wire/reply-headers.js';
import type { HealthState } from '../operations/health.js';
import type { Metrics } from '../operations/metrics.js';
import { registerOperations } from '../operations/operations-routes.js';
import { registerReflection } from '../operations/reflection.js';
import { credentialHeaders, credentialReaderFor } from './credential-readers.js';
import { type BaseOptions, createBase, logRequests } from './fastify-base.js';

/** What the OpenAPI document is made from. */
export interface DescribedApi extends ServedApi {
  readonly routes: readonly RestRoute[];
  readonly version: string;
}

/** Makes the OpenAPI document. */
export type DescribeApi = (api: DescribedApi) => JsonObject | Promise<JsonObject>;

/** Everything the host serves, and its dependencies. */
export interface ServerOptions extends BaseOptions {
  readonly authenticator: Authenticator;
  readonly keyReader: KeyReader;
  readonly host: CallHost;
  readonly entrance: Entrance;
  /** The login of browsers at the issuer; none by default. */
  readonly login?: IssuerLogin | null;
  readonly metrics: Metrics;
  readonly health: HealthState;
  readonly services: readonly DescService[];
  readonly methods: ReadonlyMap<string, RpcMethod>;
  readonly restRoutes: readonly RestRoute[];
  /** The readers of large messages, by RPC; none by default. */
  readonly readers?: ReadonlyMap<string, MessageReader>;
  /** Registers the RPC implementations. */
  readonly registerRpcs: (router: ConnectRouter) => void;
  /** Ends endless streams. */
  readonly shutdownSignal: AbortSignal;
  /** Asked to end when they are old, and at shutdown. */
  readonly longStreams: LongStreams;
  /** The built document is served by default. */
  readonly describe?: DescribeApi | undefined;
}

/** Creates the Fastify instance that serves every protocol. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { config, authenticator } = options;
  const dashboard = config.uiEnabled ? builtDashboard(options.log) : undefined;
  const { login = null } = options;
  const parts: HostPart[] = ['documents', 'session'];
  if (dashboard !== undefined) parts.push('dashboard');
  if (config.operations === null) parts.push('operations');
  if (login !== null) parts.push('issuer');
  const finder = createRouteFinder([...hostPaths(parts, config.apiPrefix), ...rpcPaths(options)]);
  const unserved = createUnserved({
    finder,
    rpcs: rpcNames([...options.services, Health]),
    api: { prefix: config.apiPrefix, base: config.apiBase, docs: HOST_ROUTES.docs.path },
  });
  const app = createBase(options, unserved);
  const isForeignPage = authenticator.enabled ? null : keylessPageCheck(config);
  await registerCors(app, {
    cors: config.cors,
    ownHeaders: versionHeaders(config.versionHeaders),
    credentialHeaders: credentialHeaders(config.auth),
    isForeignPage,
  });
  registerRestErrors(app, { ...options, finder, unserved });
  if (config.operations === null) registerOperations(app, options.state, options.metrics);
  const { describe = servedDocument } = options;
  registerOpenApi(app, async () =>
    describe({
      routes: options.restRoutes,
      version: options.state.version,
      apiPrefix: config.apiPrefix,
      apiBase: config.apiBase,
      methodsAt: finder.allMethodsAt,
    }),
  );
  if (dashboard !== undefined) {
    await registerDashboard(app, {
      apiPrefix: config.apiPrefix,
      apiBase: config.apiBase,
      folder: dashboard,
    });
  }
  const isForeign = foreignOriginCheck(config.cors.origins);
  const credentials = credentialReaderFor(config, options.keyReader, isForeignPage);
  await app.register(async (scope) => {
    // First: entering a call may wait, while its body arrives.
    boundBodies(scope);
    startRestCalls(scope, { host: options.host, credentials, shutdownSignal: options.shutdownSignal });
    registerRestRoutes(scope, options.restRoutes, options.host);
    await registerSessionRoutes(scope, {
      prefix: config.apiPrefix,
      authenticator,
      host: options.host,
      entrance: options.entrance,
      credentials,
      isForeign,
      debug: config.debug,
      login,
      redirectUrl: config.auth.oidc?.login?.redirectUrl ?? null,
    });
  });
  await registerRpcs(app, options, credentials, (router) => {
    options.registerRpcs(router);
    options.health.register(router);
    if (config.reflection === 'public') reflect(router, options);
  });
  logRequests(app);
  return app;
}

/**
 * Creates the server of the operations port: health, readiness and metrics over HTTP, health over gRPC, and
 * reflection if it is configured there.
 */
export async function createOperationsServer(options: ServerOptions): Promise<FastifyInstance> {
  const finder = createRouteFinder(hostPaths(['operations'], options.config.apiPrefix));
  const unserved = createUnserved({ finder, rpcs: rpcNames([Health]), api: null });
  const app = createBase(options, unserved);
  registerRestErrors(app, { ...options, finder, unserved });
  registerOperations(app, options.state, options.metrics);
  await registerRpcs(app, options, createCredentialReader(foreignOriginCheck([])), (router) => {
    options.health.register(router);
    if (options.config.reflection === 'operations') reflect(router, options);
  });
  logRequests(app);
  return app;
}

function reflect(router: ConnectRouter, { services }: ServerOptions): void {
  registerReflection(router, [...services, Health], (context, units) => {
    try {
      rpcCallOf(context).call.ticket.spendPublic(units);
    } catch (error) {
      throw toConnectError(error);
    }
  });
}

async function registerRpcs(
  app: FastifyInstance,
  options: ServerOptions,
  credentials: CredentialReader,
  register: (router: ConnectRouter) => void,
): Promise<void> {
  const { config, methods, readers, host, shutdownSignal, longStreams } = options;
  await app.register((scope) =>
    registerConnect(scope, {
      register,
      methods,
      readers,
      host,
      credentials,
      maxMessageBytes: config.limits.bodyBytes,
      shutdownSignal,
      longStreams,
    }),
  );
}

/** The paths of all RPCs, literal ones before those with parameters. */
function rpcPaths(options: ServerOptions): ServedPath[] {
  const paths: ServedPath[] = [];
  const templates = options.restRoutes.map(({ template, binding }) => ({
    template,
    methods: [binding.verb],
  }));
  templates.sort((a, b) => parameters(a.template) - parameters(b.template));
  for (const service of options.services) {
    for (const method of service.methods) {
      const methods = isServedWithGet(method) ? ['GET', 'POST'] : ['POST'];
      paths.push({ template: `/${service.typeName}/${method.name}`, methods });
    }
  }
  return [...paths, ...templates];
}

/** Connect serves unary RPCs without side effects with GET, too. */
function isServedWithGet({ methodKind, idempotency }: DescMethod): boolean {
  return methodKind === 'unary' && idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** `package.Service/Method` of every RPC. */
function rpcNames(services: readonly DescService[]): string[] {
  return services.flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName}/${name}`));
}

function parameters(template: string): number {
  return template.split('{').length - 1;
}
