import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter, ServiceImpl } from '@connectrpc/connect';
import { EvaluationService as EvaluationServiceDesc } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { MessageReader } from '../../contract/call/handler.js';
import { roleTable } from '../../contract/call/scopes.js';
import type { Config } from '../../contract/config/config.js';
import { trustedProxies } from '../../contract/config/trusted-proxies.js';
import { VERSION } from '../../contract/runtime/package-root.js';
import { createKeyUses, type KeyUses } from '../../manage/keys/key-uses.js';
import type { Credentials } from '../../observe/problems/expiry-problems.js';
import { Admission } from '../../serve/admission/admission.js';
import { createEntrance } from '../../serve/admission/entrance.js';
import { createFrontGate } from '../../serve/admission/front-gate.js';
import { createKeyGuessing } from '../../serve/admission/key-guessing.js';
import { createLoadShedder, type LoadShedder } from '../../serve/admission/load-shedder.js';
import { createAuthenticator } from '../../serve/auth/authenticator.js';
import { KeyRing } from '../../serve/auth/key-ring.js';
import { fingerprintOf } from '../../serve/auth/known-key.js';
import { createStoredKeys } from '../../serve/auth/stored-keys.js';
import type { CallHost } from '../../serve/call/call-host.js';
import { DueTimes } from '../../serve/call/due-times.js';
import { LongStreams } from '../../serve/call/long-streams.js';
import { createWithdrawals } from '../../serve/call/withdrawals.js';
import { evaluationRpcs } from '../../serve/connect/evaluation-rpcs.js';
import { handlerRpc } from '../../serve/connect/handler-rpc.js';
import { type RpcMethod, rpcMethods } from '../../serve/descriptors/rpc-methods.js';
import { createEvaluationCalls } from '../../serve/evaluation/evaluation-calls.js';
import type { EvaluationRpc, HeavySteps } from '../../serve/evaluation/heavy-steps.js';
import { createCorsHeaders } from '../../serve/http/cors.js';
import { createGrpcLane } from '../../serve/lane/grpc-lane.js';
import { createRunningCalls } from '../../serve/lane/lane-environment.js';
import { createWebLane } from '../../serve/lane/web-lane.js';
import { DEFAULT_LISTENER_LIMITS } from '../../serve/listener/limits.js';
import { createListener, type Listener, type ListenerOptions } from '../../serve/listener/listener.js';
import { problemFacts } from '../../serve/listener/problem.js';
import { evaluationRoutes } from '../../serve/rest/evaluation-route.js';
import { createRefusedCalls } from '../../serve/rest/refused-calls.js';
import { createRestLane } from '../../serve/rest/rest-lane.js';
import { handlerRoutes } from '../../serve/rest/rest-routes.js';
import { createStreamNames, type StreamNames } from '../../serve/routing/open-streams.js';
import { createPathClasses, isRpcPath } from '../../serve/routing/path-classes.js';
import { createEndedSessionStore } from '../../serve/sessions/ended-session-store.js';
import { createEndedSessions, type EndedSessions } from '../../serve/sessions/ended-sessions.js';
import { directCodec } from '../../serve/wire/direct-codec.js';
import { withExactSteps } from '../../serve/wire/exact-steps.js';
import { maxReplyBytes } from '../../serve/wire/message-limits.js';
import { versionHeaders } from '../../serve/wire/reply-headers.js';
import type { HealthState } from '../operations/health.js';
import type { OperationalState } from '../operations/operations-routes.js';
import { credentialsInUse } from './credentials-in-use.js';
import type { Features } from './features.js';
import type { Foundations } from './foundations.js';
import { createIssuers, type Issuers } from './issuer.js';
import { createLiveFiles, type LiveFiles, readStartFiles } from './live-files.js';
import { createOperationsPort, type OperationsPort } from './operations-port.js';
import type { Programs } from './programs.js';
import {
  callerRights,
  exchangeMethod,
  keyReaderOf,
  runtimeAccess,
  upstreamDecisions,
} from './runtime-auth.js';
import { createServer, type ServerOptions } from './server.js';
import { credentialsOf } from './tls-files.js';

/**
 * How much later than an RPC the listener times out an incomplete request, in milliseconds: an RPC answers in
 * the format of its protocol, the listener just closes.
 */
const RECEIVE_MARGIN_MS = 1_000;

const RANDOM_SECRET_BYTES = 32;

/** Connections beyond the limit that the listener still accepts, so that admission can refuse them. */
const SPARE_CONNECTIONS = 100;

/** The servers of all protocols. */
export interface Transports {
  readonly server: Awaited<ReturnType<typeof createServer>>;
  readonly listener: Listener;
  /** Null if there is no operations port. */
  readonly operations: OperationsPort | null;
  /** The files that are read again while serving. */
  readonly files: LiveFiles;
  /** What expires. */
  readonly credentials: Credentials;
  /** Undefined without bearer tokens. */
  readonly issuer: Issuers | undefined;
  /** Writes when keys of the database were last used. */
  readonly keyUses: KeyUses;
  /** The browser sessions that were ended before they expire. */
  readonly endedSessions: EndedSessions;
  readonly admission: Admission;
  readonly load: LoadShedder;
  readonly streamNames: StreamNames;
  /** Ends endless streams. */
  readonly shutdown: AbortController;
  readonly longStreams: LongStreams;
}

/** The state that the transports report. */
export interface TransportState {
  readonly health: HealthState;
  readonly state: OperationalState;
}

/** All services of the features. */
export function servicesOf({ features }: Features): DescService[] {
  return features.map((one) => one.service);
}

export async function createTransports(
  foundations: Foundations,
  programs: Programs,
  features: Features,
  { health, state }: TransportState,
): Promise<Transports> {
  const { config, log, failures, metrics, shared, policies, telemetry, monotonic } = foundations;
  const { requestTimeoutMs, bodyBytes } = config.limits;
  const { namespaces } = programs;
  const { traceFacts } = telemetry;
  const errors = { failures, traceFacts, now: () => new Date(foundations.now()) };
  const load = createLoadShedder(config.limits.shedDelayMs);
  const admission = new Admission({
    limits: config.limits.admission,
    load,
    meter: metrics,
    proxies: trustedProxies(config.trustedProxies),
    hasKeys: config.auth.enabled,
    now: monotonic,
  });
  const roles = roleTable(config.auth.validationAccess);
  const keyRing = new KeyRing(config.auth, foundations.now, roles);
  const startFiles = readStartFiles(config, keyRing);
  const storedKeys = createStoredKeys(roles);
  programs.liveKeys.onChange(() => keyRing.replaceStored(storedKeys(programs.liveKeys.keys)));
  const keyUses = createKeyUses({
    database: foundations.database,
    takeUsed: () => keyRing.takeUsed(),
    failures,
    now: foundations.now,
  });
  // Subjects of tokens are not kept either: their accounts are made again when they call.
  const forgetKeys = () =>
    admission.forgetKeys((fingerprint) => keyRing.byFingerprint(fingerprint) !== undefined);
  keyRing.onChange(forgetKeys);
  const { oidc, oidcIssuers } = config.auth;
  const issuer = await createIssuers([...(oidc === null ? [] : [oidc]), ...oidcIssuers], {
    roles,
    log,
    failures,
    monotonic,
    onSweep: forgetKeys,
  });
  // Sessions and logins have the same one. Without a configured one, they end with the process.
  const sessionSecret = config.auth.sessionSecret ?? randomBytes(RANDOM_SECRET_BYTES).toString('base64url');
  const endedSessions = createEndedSessions({
    store: createEndedSessionStore(foundations.database.bulk),
    failures,
    now: foundations.now,
  });
  const services = servicesOf(features);
  const methods = new Map(services.flatMap(rpcMethods).map((method) => [method.name, method]));
  const keyReader = keyReaderOf(config.auth);
  const decisions = upstreamDecisions({
    auth: config.auth,
    methods: methods.values(),
    roles,
    failures,
    now: foundations.now,
  });
  features.runtimeTokens.connect(
    callerRights(config.auth, keyRing, decisions, exchangeMethod(methods.values()), programs.namespaces),
  );
  const authenticator = createAuthenticator({
    ...config.auth,
    evaluations: runtimeAccess(config.auth.runtime, features.runtimeTokens.codec, keyRing, foundations.now),
    decisions,
    endedSessions,
    sessionSecret,
    keyRing,
    roles,
    tokens: issuer?.tokens,
    namespaces,
  });
  const entrance = createEntrance({
    admission,
    authenticator,
    guessing: createKeyGuessing({
      now: monotonic,
      // A verified token counts by its subject, like everywhere else.
      fingerprintOf: (key) =>
        issuer?.tokens.find(key)?.keyFingerprint ?? decisions?.fingerprintOf(key) ?? fingerprintOf(key),
      claimedSubject: (token) => issuer?.tokens.claimedSubject(token),
      onRefused: () => metrics.callRefused('key-guessing'),
    }),
  });
  const shutdown = new AbortController();
  // Connect adds a listener for each of its calls.
  setMaxListeners(0, shutdown.signal);

  const due = new DueTimes();
  const longStreams = new LongStreams(due, {
    maxAgeMs: config.limits.maxStreamAgeMs,
    graceMs: config.limits.maxAgeGraceMs,
  });

  const evaluations = evaluationMethods(features);
  const calls = createEvaluationCalls(features.evaluation, config.duplicateMembers);
  const { heavySteps } = features;
  const host: CallHost = {
    admission,
    entrance,
    policies,
    withdrawals: createWithdrawals(keyRing, due, endedSessions, namespaces),
    metrics,
    log,
    logsCalls: log.isLevelEnabled('debug'),
    failures,
    traceFacts,
    requestTimeoutMs,
  };
  const evaluationRoutesOfRest = evaluationRoutes(
    features.evaluation,
    heavySteps,
    [...evaluations.values()],
    config.apiBase,
    { ...errors, duplicates: config.duplicateMembers },
  );
  const lane = {
    ...host,
    running: createRunningCalls(shutdown.signal),
    keyReader,
    version: VERSION,
    versionHeaders: config.versionHeaders,
    calls,
    heavySteps,
    maxMessageBytes: bodyBytes,
    methods: evaluations,
    corsHeaders: createCorsHeaders(config.cors, versionHeaders(config.versionHeaders)),
    // Pages that need no key are checked elsewhere.
    hasKeys: config.auth.enabled && config.auth.runtime.mode !== 'none',
  };
  const grpcLane = createGrpcLane({ ...lane, codec: directCodec, longStreams });
  const webLane = createWebLane(lane);
  const restLane = createRestLane({
    ...errors,
    host: lane,
    log,
    version: VERSION,
    versionHeaders: config.versionHeaders,
    routes: evaluationRoutesOfRest,
    corsHeaders: lane.corsHeaders,
    hasKeys: lane.hasKeys,
    maxBodyBytes: bodyBytes,
  });
  const gate = createFrontGate({
    admission,
    classOf: createPathClasses({
      methods: methods.values(),
      apiBase: config.apiBase,
      apiPrefix: config.apiPrefix,
    }),
    refuse: createRefusedCalls({
      version: VERSION,
      versionHeaders: config.versionHeaders,
      log,
      now: errors.now,
      isRpc: isRpcPath,
    }),
  });
  const listener = createListener({
    ...(config.tls === null ? {} : { tls: listenerTls(config.tls, startFiles.tls) }),
    limits: listenerLimits(config),
    admission,
    gate,
    onProblem: (problem) => log.debug(problemFacts(problem), 'a connection was given up'),
    basePath: config.basePath,
    takeStream: eitherOf(config.grpcLane && grpcLane, config.webLane && webLane.takeStream),
    takeRequest: eitherOf(config.restLane && restLane, config.webLane && webLane.takeRequest),
    ages: {
      due,
      maxAgeMs: config.limits.maxConnectionAgeMs,
      graceMs: config.limits.maxAgeGraceMs,
      onAged: (connection) => longStreams.leaveConnection(connection),
    },
  });
  const routeOptions = {
    apiBase: config.apiBase,
    strict: config.strictDefinitions,
    duplicates: config.duplicateMembers,
  };
  const serverOptions: Omit<ServerOptions, 'listener' | 'gate'> = {
    config,
    log,
    authenticator,
    keyReader,
    host,
    entrance,
    login: issuer?.login(sessionSecret) ?? null,
    metrics: shared === undefined ? metrics : { ...metrics, text: () => shared.allMetrics() },
    health,
    state,
    services,
    methods,
    restRoutes: [
      ...features.features
        .flatMap((one) => one.methods)
        .flatMap(({ method, handler }) => handlerRoutes(method, handler, routeOptions)),
      ...evaluationRoutesOfRest,
    ],
    readers: new Map([...readersOf(features), ...heavyReaders(heavySteps, evaluations)]),
    registerRpcs(router: ConnectRouter) {
      for (const { service, methods: served } of features.features) {
        const ofHandlers = served.map(({ method, handler }) => [
          method.desc.localName,
          handlerRpc(method, handler, maxReplyBytes(bodyBytes)),
        ]);
        const others =
          service === EvaluationServiceDesc ? evaluationRpcs(calls, heavySteps, longStreams) : {};
        register(router, service, { ...Object.fromEntries(ofHandlers), ...others });
      }
    },
    shutdownSignal: shutdown.signal,
    longStreams,
    ...errors,
  };
  const server = await createServer({ ...serverOptions, listener, gate });
  const operations = config.operations === null ? null : await createOperationsPort(serverOptions);
  const files = createLiveFiles({ config, keyRing, listener, initial: startFiles, log, metrics });
  const streamNames = createStreamNames(services, config.apiBase);
  return {
    server,
    listener,
    operations,
    files,
    credentials: credentialsInUse(config.tls, files, keyRing, issuer),
    issuer,
    keyUses,
    endedSessions,
    admission,
    load,
    streamNames,
    shutdown,
    longStreams,
  };
}

/** Takes what one of these takes, the first one first; one that is switched off is false. */
function eitherOf<Parameters extends unknown[]>(
  first: false | ((...parameters: Parameters) => boolean),
  second: false | ((...parameters: Parameters) => boolean),
): ((...parameters: Parameters) => boolean) | undefined {
  if (first === false || second === false) return first || second || undefined;
  return (...parameters) => first(...parameters) || second(...parameters);
}

/** The readers of the handlers, by the name of their RPC. */
function readersOf({ features }: Features): Map<string, MessageReader> {
  const served = features.flatMap((one) => one.methods);
  return new Map(
    served.flatMap(({ method, handler }) =>
      'reader' in handler && handler.reader !== undefined ? [[method.name, handler.reader]] : [],
    ),
  );
}

/** The same for the RPCs that evaluate steps. */
function heavyReaders(
  steps: HeavySteps,
  evaluations: ReadonlyMap<string, RpcMethod>,
): [string, MessageReader][] {
  return [...evaluations.values()].map(({ name, desc }) => {
    const rpc = desc.localName as EvaluationRpc;
    return [
      name,
      {
        takes: (bytes) => steps.takes(rpc, bytes),
        exact: withExactSteps,
        read: (message) => steps.read({ rpc, ...message }),
      },
    ];
  });
}

/** Adds a service to a router. Throws if one of its RPCs has no implementation. */
function register(
  router: ConnectRouter,
  service: DescService,
  implementation: Partial<ServiceImpl<DescService>>,
): void {
  const missing = service.methods.find(({ localName }) => !Object.hasOwn(implementation, localName));
  if (missing !== undefined) throw new Error(`${service.typeName}/${missing.name} has no handler`);
  router.service(service, implementation);
}

/** The RPCs that evaluate steps, by name: those of EvaluationService without a handler. */
function evaluationMethods({ features }: Features): Map<string, RpcMethod> {
  const handled = new Set(features.flatMap((one) => one.methods).map(({ method }) => method.name));
  return new Map(
    rpcMethods(EvaluationServiceDesc)
      .filter(({ name }) => !handled.has(name))
      .map((method) => [method.desc.name, method]),
  );
}

function listenerTls(
  { clients }: NonNullable<Config['tls']>,
  contents: readonly Buffer[],
): NonNullable<ListenerOptions['tls']> {
  return { ...credentialsOf(contents), requiresClientCertificate: clients?.isRequired };
}

function listenerLimits({ limits }: Config): NonNullable<ListenerOptions['limits']> {
  const receiveTimeMs = limits.requestTimeoutMs + RECEIVE_MARGIN_MS;
  return {
    drainGraceMs: limits.drainMs,
    requestTimeoutMs: receiveTimeMs,
    timeoutCheckIntervalMs: Math.min(receiveTimeMs, DEFAULT_LISTENER_LIMITS.timeoutCheckIntervalMs),
    http2MaxConcurrentStreams: limits.streamsPerConnection,
    // Admission refuses first, and counts its refusals.
    maxConnections: limits.admission.connections + SPARE_CONNECTIONS,
  };
}
