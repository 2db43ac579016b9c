import { setMaxListeners } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter, ServiceImpl } from '@connectrpc/connect';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { AgentService as AgentServiceDesc } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ControlService as ControlServiceDesc } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService as EvaluationServiceDesc } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { EvaluatorService as EvaluatorServiceDesc } from '../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { ObservabilityService as ObservabilityServiceDesc } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { PolicyService as PolicyServiceDesc } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { TemplateService as TemplateServiceDesc } from '../../gen/proto/enforcement/v1/template_service_pb.js';
import { checkEvaluatorReferences } from '../agents/agent-evaluator-references.js';
import { createAgentEvaluators } from '../agents/agent-evaluators.js';
import { agentHandlers } from '../agents/agent-handlers.js';
import { createAgentService } from '../agents/agent-service.js';
import { createAskedForControls } from '../agents/asked-for-controls.js';
import { ControlFeed } from '../agents/control-feed.js';
import { createRegistrationNotes } from '../agents/registration-notes.js';
import { createWatchControls } from '../agents/watch-controls.js';
import type { Config } from '../config/config.js';
import { trustedProxies } from '../config/trusted-proxies.js';
import type { AnyHandler } from '../contract/call/handler.js';
import { createAgentControlStore } from '../controls/agent-control-store.js';
import { controlHandlers } from '../controls/control-handlers.js';
import { createReviewer } from '../controls/control-review.js';
import { createControlService } from '../controls/control-service.js';
import { createControlVersions } from '../controls/control-versions.js';
import { templateHandlers } from '../controls/template-handlers.js';
import { meteredDatabase } from '../database/metered-database.js';
import { createMutator } from '../database/mutator.js';
import { createControlLibrary } from '../decisions/control-library.js';
import { createEvaluationService } from '../decisions/evaluation-service.js';
import { createExecutionIds } from '../decisions/execution-id.js';
import { createFailureLog } from '../decisions/failure-log.js';
import { createProgramLoader } from '../decisions/program-loader.js';
import { RevisionWatch } from '../decisions/revision-watch.js';
import { Snapshot } from '../decisions/snapshot.js';
import { createStalenessLimit } from '../decisions/staleness.js';
import { evaluatorHandlers } from '../evaluators/evaluator-handlers.js';
import { type Evaluators, loadEvaluators } from '../evaluators/load-evaluators.js';
import { meteredRegistry } from '../evaluators/metered.js';
import { createObservability } from '../events/observability.js';
import { explainHandler } from '../explain/explain-handler.js';
import { createExplainService } from '../explain/explain-service.js';
import { ageMs } from '../last-known-good/kept-agents.js';
import { createLastKnownGood } from '../last-known-good/last-known-good.js';
import { type StartedDatabase, startDatabase } from '../last-known-good/start-database.js';
import { createHealthState } from '../operations/health.js';
import { createMetrics, type MeasuredMetric } from '../operations/metrics.js';
import type { ControlsSource } from '../operations/operations-routes.js';
import { createAgentPolicies } from '../policies/agent-policies.js';
import { policyHandlers } from '../policies/policy-handlers.js';
import { createPolicyService } from '../policies/policy-service.js';
import { VERSION } from '../process/package-root.js';
import { createRepeatLog, type RepeatLog } from '../process/repeat-log.js';
import { Admission } from '../transport/admission/admission.js';
import { createEntrance } from '../transport/admission/entrance.js';
import { createFrontGate } from '../transport/admission/front-gate.js';
import { createKeyGuessing } from '../transport/admission/key-guessing.js';
import { createLoadShedder } from '../transport/admission/load-shedder.js';
import { createAuthenticator } from '../transport/auth/authenticator.js';
import { fingerprintOf } from '../transport/auth/key-ring.js';
import { serviceNames, shutdownReason } from '../transport/connect/connect-plugin.js';
import { evaluationRpcs } from '../transport/connect/evaluation-rpcs.js';
import { handlerRpc } from '../transport/connect/handler-rpc.js';
import { type RpcMethod, rpcMethods } from '../transport/descriptors/rpc-methods.js';
import { createEvaluationCalls } from '../transport/evaluation/evaluation-calls.js';
import { createHotLane } from '../transport/grpc-lane/hot-lane.js';
import { corsHeadersWithoutOrigin } from '../transport/http/cors.js';
import { DEFAULT_LISTENER_LIMITS } from '../transport/listener/limits.js';
import { createListener } from '../transport/listener/listener.js';
import { problemFacts } from '../transport/listener/problem.js';
import { evaluationRoutes } from '../transport/rest/evaluation-route.js';
import { createRefusedCalls } from '../transport/rest/refused-calls.js';
import { createRestLane } from '../transport/rest/rest-lane.js';
import { handlerRoutes } from '../transport/rest/rest-routes.js';
import { createStreamNames } from '../transport/routing/open-streams.js';
import { createPathClasses, isRpcPath } from '../transport/routing/path-classes.js';
import { directCodec } from '../transport/wire/direct-codec.js';
import { VERSION_HEADER } from '../transport/wire/reply-headers.js';
import { addressText } from './address.js';
import { createOperationsPort } from './operations-port.js';
import { createServer } from './server.js';
import { readTlsFiles } from './tls-files.js';

/** What the composition root is given from outside. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Told every SQL statement; for tests that count queries. */
  readonly onQuery?: (sql: string) => void;
  /** Set when this is one of several processes that serve one port. */
  readonly shared?: {
    /** Whether the process that started this one has brought the database up to date; else it could not be used. */
    readonly isMigrated: boolean;
    /** The metrics of all of them as text. */
    allMetrics(): Promise<string>;
  };
}

/** Which port a connection came in on. */
export type PortName = 'service' | 'operations';

/** Where the service listens, for example `http://127.0.0.1:8000`. */
export interface Addresses {
  readonly address: string;
  /** Absent when there is no operations port. */
  readonly operations?: string;
}

/** The assembled service. */
export interface App {
  readonly server: FastifyInstance;
  /** Starts to listen. */
  listen(): Promise<Addresses>;
  /** Instead of `listen`: gets ready for connections that another process accepts, and hands to `accept`. */
  ready(): Promise<void>;
  accept(socket: Socket, port: PortName): void;
  /** Saves the last known good state from now on. Of several processes that serve one port one has to. */
  keepLastKnownGood(): void;
  /** The metrics of this process. */
  measure(): Promise<MeasuredMetric[]>;
  /** Finishes running requests, refuses new ones, and lets go of everything. */
  close(): Promise<void>;
}

/**
 * How much later than an RPC the listener gives up a request that does not arrive, in milliseconds: an RPC answers in
 * the words of its protocol, the listener breaks off.
 */
const RECEIVE_MARGIN_MS = 1_000;

/** Streams get this much less time than the whole drain, so that their last status still reaches the client. */
const STREAM_END_MARGIN_MS = 500;

/** Connections beyond the limit that the listener still takes, so that admission can refuse them itself. */
const SPARE_CONNECTIONS = 100;

/** How long connections that another process handed over may take to speak when this one stops. */
const SETTLE_LIMIT_MS = 1_000;

/** Assembles the service: opens the database, applies migrations, wires every part. */
export async function createApp({ config, log, onQuery, shared }: AppOptions): Promise<App> {
  const failures = createRepeatLog({ log });
  const started = await startDatabase({
    config,
    log,
    failures,
    isMigrated: shared?.isMigrated === true,
    isTold: shared?.isMigrated === false,
    now: () => Date.now(),
    ...(onQuery === undefined ? {} : { onQuery }),
  });
  let evaluators: Evaluators | undefined;
  try {
    evaluators = await loadEvaluators({
      modules: config.evaluators.modules,
      custom: {
        directory: process.cwd(),
        environment: config.evaluators.environment,
        timeoutMs: config.evaluators.timeoutMs,
        workers: config.evaluators.workers,
        log,
      },
      optional: { apiKey: config.evaluators.vendorApiKey, apiUrl: config.evaluators.vendorApiUrl, log },
    });
    return await assemble({ config, log, failures, started, evaluators, shared });
  } catch (error) {
    await evaluators?.close();
    await started.wait?.stop();
    await started.database.close();
    throw error;
  }
}

/** Services that read and write nothing: they are served whatever becomes of the database. */
const WITHOUT_DATABASE: ReadonlySet<string> = new Set([
  TemplateServiceDesc.typeName,
  EvaluatorServiceDesc.typeName,
]);

/** What is opened before the parts are put together. */
interface Foundations {
  readonly config: Config;
  readonly log: Logger;
  readonly failures: RepeatLog;
  readonly started: StartedDatabase;
  readonly evaluators: Evaluators;
  readonly shared: AppOptions['shared'];
}

async function assemble({ config, log, failures, evaluators, shared, started }: Foundations): Promise<App> {
  /** For durations: a clock that never goes back. */
  const monotonic = () => performance.now();
  const metrics = createMetrics(config.metricsPrefix, {
    snapshotAgents: () => snapshot.size,
    revision: () => watch.revision,
    stalenessSeconds: () => (monotonic() - snapshot.oldestCurrentAtMs) / 1000,
    databaseUp: () => watch.databaseUp,
    storage: () => storage,
    eventLoopDelaySeconds: () => load.delayMs / 1000,
    countedCalls: () => admission.keyedCalls,
    connections: () => admission.connections,
    publicCalls: () => admission.publicCalls,
    waitingForRevision: () => watch.waiting,
    streams: () => streamNames,
    lastKnownGood: () => ({
      isActive: watch.isBlind && started.header !== null,
      evaluations: keptEvaluations,
      ...lastKnownGood.meter,
    }),
  });
  let keptEvaluations = 0;
  let hasAnswered = false;
  const database = meteredDatabase(started.database, metrics.databaseTimed);
  const { storage } = database;
  const load = createLoadShedder(config.limits.shedDelayMs);
  const admission = new Admission({
    limits: config.limits.admission,
    load,
    meter: metrics,
    proxies: trustedProxies(config.trustedProxies),
    hasKeys: config.auth.enabled,
    now: monotonic,
  });
  const registry = meteredRegistry(evaluators.registry, metrics.meterOf);
  const now = () => Date.now();
  const newExecutionId = createExecutionIds();
  const library = createControlLibrary({ registry, keepEvaluators: config.evaluators.cacheSize });
  const { maxStalenessMs } = config.limits;
  const lastKnownGood = createLastKnownGood({
    started,
    database,
    stored: createAgentControlStore(database.client).stateOf,
    maxStalenessMs,
    databaseUp: () => watch.databaseUp,
    followed: () => watch.revision,
    onRestored: (revision) => watch.outrunRestored(revision),
    log,
    now,
    monotonic,
  });
  const snapshot = new Snapshot({
    load: createProgramLoader({
      stateOf: lastKnownGood.stateOf,
      library,
      newExecutionId,
      onFailure: createFailureLog(log, monotonic),
    }),
    maxAgents: config.limits.snapshotAgents,
    maxBytes: config.limits.snapshotBytes,
    now: monotonic,
  });
  const feed = new ControlFeed({
    client: database.client,
    registry,
    followed: () => snapshot.progress,
    now: monotonic,
  });
  const watch = new RevisionWatch({
    snapshot,
    followers: [feed, lastKnownGood.follower],
    source: database.changes(),
    minRevisionWaitMs: config.limits.minRevisionWaitMs,
    now: monotonic,
    async outrun(told) {
      log.warn({ told }, 'the database was restored to an earlier revision; everything is loaded anew');
      const revision = await database.outrun(told);
      log.warn({ told, revision }, 'the restored database has a revision that nobody was told before');
    },
    onDatabaseState(up, error) {
      lastKnownGood.databaseState(up);
      if (up) storage.reachable();
      else storage.unreachable(error);
      if (up && !hasAnswered) log.info({}, 'the database answers');
      hasAnswered ||= up;
      health.refresh();
    },
  });
  const mutate = createMutator(database, (change) => watch.committed(change));
  const strict = config.strictDefinitions;
  const reviewer = createReviewer({ registry, registrationNotes: createRegistrationNotes(), strict });
  const asked = createAskedForControls({ database, now });
  const controlOptions = {
    database,
    mutate,
    registry,
    now,
    checkReferences: checkEvaluatorReferences,
    reviewer,
  };
  const controls = createControlService(controlOptions);
  const controlVersions = createControlVersions(controlOptions);
  const agents = createAgentService({ database, mutate, registry, now, asked });
  const agentEvaluators = createAgentEvaluators({ database, mutate, registry, strict });
  const policies = createPolicyService({ database, mutate, registry, now });
  const agentPolicies = createAgentPolicies({ database, mutate, registry });
  const observability = createObservability({
    config: config.observability,
    database,
    log,
    failures,
    meter: metrics.events,
    now,
    monotonic,
  });
  const evaluation = createEvaluationService({
    programs: watch,
    ...(maxStalenessMs === null
      ? {}
      : { demandFresh: createStalenessLimit(maxStalenessMs, monotonic, () => watch.databaseUp) }),
    recorder: observability.recorder,
    now: monotonic,
    onKeptVerdict: () => {
      keptEvaluations += 1;
    },
    onVerdict: (label, stage, protocol) => metrics.evaluated(label, stage, protocol),
  });
  const explain = explainHandler(
    createExplainService({
      client: database.client,
      registry,
      library,
      checkReferences: checkEvaluatorReferences,
      newExecutionId,
      now: monotonic,
    }),
    registry,
  );

  const evaluationCalls = createEvaluationCalls(evaluation);

  const features: Feature[] = [
    feature(
      AgentServiceDesc,
      agentHandlers(agents, agentEvaluators, createWatchControls({ feed, asked, now: monotonic })),
    ),
    feature(ControlServiceDesc, controlHandlers(controls, controlVersions, registry)),
    feature(PolicyServiceDesc, policyHandlers(policies, agentPolicies)),
    feature(TemplateServiceDesc, templateHandlers(registry, reviewer, database.client)),
    feature(EvaluatorServiceDesc, evaluatorHandlers(registry)),
    feature(ObservabilityServiceDesc, observability.handlers),
  ];
  const evaluationMethods = new Map(rpcMethods(EvaluationServiceDesc).map((one) => [one.desc.name, one]));
  const explainMethod = evaluationMethods.get('Explain');
  if (explainMethod === undefined) throw new Error('EvaluationService has no method Explain');
  const judging = [...evaluationMethods.values()].filter((one) => one !== explainMethod);
  const routeOptions = { apiBase: config.apiBase, strict };
  const environment = { log, failures, requestTimeoutMs: config.limits.requestTimeoutMs, admission };
  const services = [...features.map((one) => one.service), EvaluationServiceDesc];
  const streamNames = createStreamNames(services, config.apiBase);
  const cannotEvaluateBecause = (): string | null => {
    if (watch.isBlind) return started.header === null ? whyWithoutDatabase(started) : null;
    if (watch.databaseUp || snapshot.loadedOnce || lastKnownGood.isAtHand) return null;
    return 'the database does not answer, and no agent is loaded';
  };
  const health = createHealthState(serviceNames(services), (name) => {
    if (name === '' || name === EvaluationServiceDesc.typeName) return cannotEvaluateBecause() === null;
    return WITHOUT_DATABASE.has(name) || (watch.databaseUp && storage.state === 'OK');
  });
  storage.onChange(health.refresh);
  const shutdown = new AbortController();
  // Connect listens for each of its calls.
  setMaxListeners(0, shutdown.signal);
  let draining = false;

  const authenticator = createAuthenticator(config.auth);
  const entrance = createEntrance({
    admission,
    authenticator,
    guessing: createKeyGuessing({
      now: monotonic,
      fingerprintOf,
      onRefused: () => metrics.callRefused('key-guessing'),
    }),
  });
  const lane = createHotLane({
    calls: evaluationCalls,
    codec: directCodec,
    metrics,
    log,
    failures,
    logsCalls: log.isLevelEnabled('debug'),
    version: VERSION,
    requestTimeoutMs: config.limits.requestTimeoutMs,
    maxMessageBytes: config.limits.bodyBytes,
    admission,
    entrance,
    methods: evaluationMethods,
    shutdownSignal: shutdown.signal,
  });
  const receiveTimeMs = config.limits.requestTimeoutMs + RECEIVE_MARGIN_MS;
  const errors = { failures, now: () => new Date(now()) };
  const judgingRoutes = evaluationRoutes(evaluation, judging, config.apiBase, errors);
  const restLane = createRestLane({
    routes: judgingRoutes,
    admission,
    entrance,
    metrics,
    log,
    logsCalls: log.isLevelEnabled('debug'),
    version: VERSION,
    corsHeaders: corsHeadersWithoutOrigin(config.cors, [VERSION_HEADER]),
    requestTimeoutMs: config.limits.requestTimeoutMs,
    maxBodyBytes: config.limits.bodyBytes,
    ...errors,
  });
  const methods = methodsByName([...features.flatMap((one) => one.methods), ...evaluationMethods.values()]);
  const gate = createFrontGate({
    admission,
    classOf: createPathClasses({
      methods: methods.values(),
      apiBase: config.apiBase,
      apiPrefix: config.apiPrefix,
    }),
    refuse: createRefusedCalls({ version: VERSION, log, now: () => new Date(now()), isRpc: isRpcPath }),
  });
  const listener = createListener({
    ...(config.tls === null ? {} : { tls: readTlsFiles(config.tls) }),
    limits: {
      drainGraceMs: config.limits.drainMs,
      requestTimeoutMs: receiveTimeMs,
      timeoutCheckIntervalMs: Math.min(receiveTimeMs, DEFAULT_LISTENER_LIMITS.timeoutCheckIntervalMs),
      http2MaxConcurrentStreams: config.limits.streamsPerConnection,
      // Admission refuses first, and counts what it refuses.
      maxConnections: config.limits.admission.connections + SPARE_CONNECTIONS,
    },
    admission,
    gate,
    onProblem: (problem) => log.debug(problemFacts(problem), 'a connection was given up'),
    takeStream: config.grpcHotLane ? lane : undefined,
    takeRequest: config.grpcHotLane ? restLane : undefined,
  });
  const serverOptions = {
    config,
    log,
    authenticator,
    admission,
    entrance,
    metrics: shared === undefined ? metrics : { ...metrics, text: () => shared.allMetrics() },
    health,
    state: {
      version: VERSION,
      instanceId: () => database.instanceId,
      databaseUp: () => watch.databaseUp,
      storage: () => storage.state,
      revision: () => watch.revision,
      controlsFrom(): ControlsSource {
        if (!watch.isBlind) return { source: 'database' };
        if (started.header === null) return { source: 'nothing' };
        return { source: 'last_known_good', ageSeconds: ageMs(started.header, now()) / 1000 };
      },
      cannotEvaluateBecause,
      notReadyBecause() {
        if (draining) return 'the server is shutting down';
        if (watch.isBlind) return notReadyWithoutDatabase(started);
        const { report } = storage;
        // While the database is down, the agents that are loaded are served as ever.
        if (report !== null && report.state !== 'DOWN') return `${report.meaning} ${report.advice}`;
        return cannotEvaluateBecause();
      },
    },
    services,
    methods,
    restRoutes: [
      ...features.flatMap((one) =>
        one.methods.flatMap((method) => handlerRoutes(method, one.handlerOf(method), routeOptions)),
      ),
      ...judgingRoutes,
      ...handlerRoutes(explainMethod, explain, routeOptions),
    ],
    registerRpcs(router: ConnectRouter) {
      for (const one of features) {
        const implementation = one.methods.map((method) => [
          method.desc.localName,
          handlerRpc(method, one.handlerOf(method), environment),
        ]);
        router.service(one.service, Object.fromEntries(implementation) as Partial<ServiceImpl<DescService>>);
      }
      router.service(EvaluationServiceDesc, {
        ...evaluationRpcs(evaluationCalls, evaluationMethods, environment),
        explain: handlerRpc(explainMethod, explain, environment) as never,
      });
    },
    shutdownSignal: shutdown.signal,
    ...errors,
  };
  const server = await createServer({ ...serverOptions, listener, gate });
  const operations = config.operations === null ? null : await createOperationsPort(serverOptions);
  await watch.start(lastKnownGood.progress);
  if (!watch.isBlind) lastKnownGood.startedAt(watch.revision);
  started.wait?.start((isAnother) => {
    if (isAnother) watch.replaced();
  });
  storage.watch();
  if (shared === undefined) lastKnownGood.keep();
  observability.recorder?.start();
  observability.pruner?.start();
  health.setServing(true);

  return {
    server,
    async ready() {
      await server.ready();
      listener.expectConnections();
      await operations?.ready();
    },
    accept(socket, port) {
      if (port === 'service') listener.accept(socket);
      else operations?.accept(socket);
    },
    keepLastKnownGood: () => lastKnownGood.keep(),
    measure: () => metrics.measure(),
    async listen() {
      await server.listen({
        host: config.host,
        port: config.port,
        listenTextResolver: (address) =>
          `listening at ${address.replace(/^http:/, config.tls === null ? 'http:' : 'https:')}`,
      });
      const address = addressText(config, (server.server.address() as AddressInfo).port);
      return { address, ...(operations === null ? {} : { operations: await operations.listen() }) };
    },
    async close() {
      draining = true;
      // Another process gets the new connections already; the last ones that came here deserve their answer.
      if (shared !== undefined) await listener.settled(Math.min(SETTLE_LIMIT_MS, config.limits.drainMs));
      health.shutDown();
      const streamsEnd = setTimeout(
        () => shutdown.abort(shutdownReason()),
        Math.max(0, config.limits.drainMs - STREAM_END_MARGIN_MS),
      );
      const drained = listener.drain();
      // They would go on for ever, and their clients have somewhere else to go.
      feed.close();
      observability.endStreams();
      await drained;
      clearTimeout(streamsEnd);
      await server.close();
      // Last, so that it can be seen that the service drains.
      await operations?.close();
      load.stop();
      await started.wait?.stop();
      await lastKnownGood.close();
      await watch.stop();
      await observability.recorder?.close();
      await observability.pruner?.close();
      await evaluators.close();
      await database.close();
      failures.close();
    },
  };
}

/** Why a service that started without its database should get no requests, if that is so. */
function notReadyWithoutDatabase(started: StartedDatabase): string | null {
  const problem = started.wait?.problem ?? null;
  const isUnexpected = problem?.state === 'MISSING' || problem?.state === 'REPLACED';
  if (isUnexpected) return problem.detail;
  return started.header === null ? whyWithoutDatabase(started) : null;
}

/** Why a service that started without its database has no controls. */
function whyWithoutDatabase({ wait }: StartedDatabase): string {
  return wait?.problem?.detail ?? 'the controls are being loaded';
}

/** A service whose RPCs are all handlers. */
interface Feature {
  readonly service: DescService;
  readonly methods: readonly RpcMethod[];
  handlerOf(method: RpcMethod): AnyHandler;
}

function feature(service: DescService, handlers: Readonly<Record<string, AnyHandler>>): Feature {
  return {
    service,
    methods: rpcMethods(service),
    handlerOf(method) {
      const found = handlers[method.desc.localName];
      if (found === undefined) throw new Error(`${method.name} has no handler`);
      return found;
    },
  };
}

function methodsByName(methods: readonly RpcMethod[]): Map<string, RpcMethod> {
  return new Map(methods.map((method) => [method.name, method]));
}
