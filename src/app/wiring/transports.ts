import { setMaxListeners } from 'node:events';
import { trustedProxies } from '../../contract/config/trusted-proxies.js';
import { VERSION } from '../../contract/runtime/package-root.js';
import type { Credentials } from '../../observe/problems/expiry-problems.js';
import { Admission } from '../../serve/admission/admission.js';
import { createFrontGate } from '../../serve/admission/front-gate.js';
import { createLoadShedder, type LoadShedder } from '../../serve/admission/load-shedder.js';
import type { CallHost } from '../../serve/call/call-host.js';
import { DueTimes } from '../../serve/call/due-times.js';
import { LongStreams } from '../../serve/call/long-streams.js';
import { createWithdrawals } from '../../serve/call/withdrawals.js';
import { rpcMethods } from '../../serve/descriptors/rpc-methods.js';
import { createEvaluationCalls } from '../../serve/evaluation/evaluation-calls.js';
import { createCorsHeaders } from '../../serve/http/cors.js';
import { createGrpcLane } from '../../serve/lane/grpc-lane.js';
import { createRunningCalls } from '../../serve/lane/lane-environment.js';
import { createWebLane } from '../../serve/lane/web-lane.js';
import { createListener, type Listener } from '../../serve/listener/listener.js';
import { problemFacts } from '../../serve/listener/problem.js';
import { evaluationRoutes } from '../../serve/rest/evaluation-route.js';
import { createRefusedCalls } from '../../serve/rest/refused-calls.js';
import { createRestLane } from '../../serve/rest/rest-lane.js';
import { handlerRoutes } from '../../serve/rest/rest-routes.js';
import { createStreamNames, type StreamNames } from '../../serve/routing/open-streams.js';
import { createPathClasses, isRpcPath } from '../../serve/routing/path-classes.js';
import { directCodec } from '../../serve/wire/direct-codec.js';
import { versionHeaders } from '../../serve/wire/reply-headers.js';
import type { HealthState } from '../operations/health.js';
import type { OperationalState } from '../operations/operations-routes.js';
import { createCallerParts } from './caller-parts.js';
import { credentialsInUse } from './credentials-in-use.js';
import type { Features } from './features.js';
import type { Foundations } from './foundations.js';
import { listenerLimits, listenerTls } from './listener-options.js';
import { createLiveFiles, type LiveFiles } from './live-files.js';
import { createOperationsPort, type OperationsPort } from './operations-port.js';
import type { Programs } from './programs.js';
import { evaluationMethods, messageReaders, rpcServices, servicesOf } from './rpc-services.js';
import { createServer, type ServerOptions } from './server.js';

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

export async function createTransports(
  foundations: Foundations,
  programs: Programs,
  features: Features,
  { health, state }: TransportState,
): Promise<Transports> {
  const { config, log, parts, failures, metrics, shared, policies, telemetry, monotonic } = foundations;
  const { requestTimeoutMs, bodyBytes } = config.limits;
  const { namespaces } = programs;
  const { traceFacts } = telemetry;
  const errors = { failures, traceFacts, now: () => new Date(foundations.now()) };
  const load = createLoadShedder(config.limits.shedDelayMs);
  parts.add({ close: () => load.stop() });
  const admission = new Admission({
    limits: config.limits.admission,
    load,
    meter: metrics,
    proxies: trustedProxies(config.trustedProxies),
    hasKeys: config.auth.enabled,
    now: monotonic,
  });
  const services = servicesOf(features);
  const methods = new Map(services.flatMap(rpcMethods).map((method) => [method.name, method]));
  const callers = await createCallerParts(foundations, programs, features, { admission, methods });
  const { authenticator, entrance, keyRing, keyReader, issuer, endedSessions, startFiles } = callers;
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
    login: issuer?.login(callers.sessionSecret) ?? null,
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
    readers: messageReaders(features, evaluations),
    registerRpcs: rpcServices(features, calls, longStreams, bodyBytes),
    shutdownSignal: shutdown.signal,
    longStreams,
    describe: foundations.describe,
    ...errors,
  };
  const server = await createServer({ ...serverOptions, listener, gate });
  const operations = config.operations === null ? null : await createOperationsPort(serverOptions);
  const files = createLiveFiles({ config, keyRing, listener, initial: startFiles, log, metrics });
  parts.add({ close: () => files.stop() });
  // Closed after the server, so that draining stays visible.
  parts.add({ close: () => operations?.close() });
  parts.add({ close: () => server.close() });
  const streamNames = createStreamNames(services, config.apiBase);
  return {
    server,
    listener,
    operations,
    files,
    credentials: credentialsInUse(config.tls, files, keyRing, issuer),
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
