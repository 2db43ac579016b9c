import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter, ServiceImpl } from '@connectrpc/connect';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { AgentService as AgentServiceDesc } from '../gen/proto/enforcement/v1/agent_service_pb.js';
import { ControlService as ControlServiceDesc } from '../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService as EvaluationServiceDesc } from '../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { EvaluatorService as EvaluatorServiceDesc } from '../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { ObservabilityService as ObservabilityServiceDesc } from '../gen/proto/enforcement/v1/observability_service_pb.js';
import { PolicyService as PolicyServiceDesc } from '../gen/proto/enforcement/v1/policy_service_pb.js';
import { TemplateService as TemplateServiceDesc } from '../gen/proto/enforcement/v1/template_service_pb.js';
import { checkEvaluatorReferences } from './agents/agent-evaluator-references.js';
import { createAgentEvaluators } from './agents/agent-evaluators.js';
import { agentHandlers } from './agents/agent-handlers.js';
import { createAgentService } from './agents/agent-service.js';
import type { Config } from './config.js';
import { controlHandlers } from './controls/control-handlers.js';
import { createControlService } from './controls/control-service.js';
import { createControlVersions } from './controls/control-versions.js';
import { type Database, openDatabase } from './database/database.js';
import { createMutator } from './database/mutator.js';
import { createEvaluationService } from './evaluation-api/evaluation-service.js';
import { evaluatorHandlers } from './evaluators/evaluator-handlers.js';
import { builtinEvaluators, createRegistry } from './evaluators/registry.js';
import { explainHandler } from './explain/explain-handler.js';
import { createExplainService } from './explain/explain-service.js';
import { createAuthenticator } from './host/auth/authenticator.js';
import { serviceNames, shutdownReason } from './host/connect/connect-plugin.js';
import { evaluationRpcs } from './host/connect/evaluation-rpcs.js';
import { handlerRpc } from './host/connect/unary.js';
import { type RpcMethod, rpcMethods } from './host/descriptors/rpc-methods.js';
import { createHealthState } from './host/health.js';
import { problemFacts } from './host/host-log.js';
import { createListener } from './host/listener/listener.js';
import { createMetrics } from './host/metrics.js';
import { evaluationRoutes } from './host/rest/evaluation-route.js';
import { handlerRoutes } from './host/rest/rest-routes.js';
import { createServer } from './host/server.js';
import { createObservability } from './observability/observability.js';
import { createAgentPolicies } from './policies/agent-policies.js';
import { policyHandlers } from './policies/policy-handlers.js';
import { createPolicyService } from './policies/policy-service.js';
import type { Handler } from './rpc/handler.js';
import { createControlLibrary } from './snapshot/control-library.js';
import { createFailureLog } from './snapshot/failure-log.js';
import { createProgramLoader } from './snapshot/program-loader.js';
import { RevisionWatch } from './snapshot/revision-watch.js';
import { Snapshot } from './snapshot/snapshot.js';
import { templateHandlers } from './templates/template-handlers.js';
import { VERSION } from './version.js';

/** What the composition root is given from outside. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Told every SQL statement; for tests that count queries. */
  readonly onQuery?: (sql: string) => void;
}

/** The assembled service. */
export interface App {
  readonly server: FastifyInstance;
  /** Starts to listen. Returns the address, for example `http://127.0.0.1:8000`. */
  listen(): Promise<string>;
  /** Finishes running requests, refuses new ones, and lets go of everything. */
  close(): Promise<void>;
}

/** Streams get this much less time than the whole drain, so that their last status still reaches the client. */
const STREAM_END_MARGIN_MS = 500;

/** Assembles the service: opens the database, applies migrations, wires every part. */
export async function createApp({ config, log, onQuery }: AppOptions): Promise<App> {
  const database = await openDatabase({
    url: config.databaseUrl,
    logger: log,
    ...(onQuery === undefined ? {} : { onQuery }),
  });
  try {
    return await assemble(config, log, database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function assemble(config: Config, log: Logger, database: Database): Promise<App> {
  const registry = createRegistry(builtinEvaluators);
  const now = () => Date.now();
  const library = createControlLibrary({ registry, keepEvaluators: config.evaluators.cacheSize });
  const snapshot = new Snapshot({
    load: createProgramLoader({
      client: database.client,
      library,
      newExecutionId: randomUUID,
      onFailure: createFailureLog(log, () => performance.now()),
    }),
    maxAgents: config.limits.snapshotAgents,
    maxBytes: config.limits.snapshotBytes,
    now: () => performance.now(),
  });
  const watch = new RevisionWatch({
    snapshot,
    readRevision: () => database.revision(),
    onDatabaseState(up, error) {
      if (up) log.info({}, 'the database answers');
      else log.error({ err: error }, 'the database does not answer; loaded agents are still evaluated');
    },
  });
  const mutate = createMutator(database, (change, revision) => watch.committed(change, revision));
  const controlOptions = { database, mutate, registry, now, checkReferences: checkEvaluatorReferences };
  const controls = createControlService(controlOptions);
  const controlVersions = createControlVersions(controlOptions);
  const agents = createAgentService({ database, mutate, registry, now });
  const agentEvaluators = createAgentEvaluators({ database, mutate, registry });
  const policies = createPolicyService({ database, mutate, now });
  const agentPolicies = createAgentPolicies({ database, mutate, registry });
  const metrics = createMetrics(config.metricsPrefix, {
    snapshotAgents: () => snapshot.size,
    revision: () => watch.revision,
    databaseUp: () => watch.databaseUp,
  });
  const observability = createObservability({ config: config.observability, database, log, now });
  const evaluation = createEvaluationService({
    snapshot,
    recorder: observability.recorder,
    onVerdict: (label, stage, protocol) => metrics.evaluated(label, stage, protocol),
  });
  const explain = explainHandler(
    createExplainService({
      client: database.client,
      registry,
      library,
      checkReferences: checkEvaluatorReferences,
      newExecutionId: randomUUID,
      now: () => performance.now(),
    }),
    registry,
  );

  const features: Feature[] = [
    feature(AgentServiceDesc, agentHandlers(agents, agentEvaluators)),
    feature(ControlServiceDesc, controlHandlers(controls, controlVersions, registry)),
    feature(PolicyServiceDesc, policyHandlers(policies, agentPolicies)),
    feature(TemplateServiceDesc, templateHandlers(registry)),
    feature(EvaluatorServiceDesc, evaluatorHandlers(registry)),
    feature(ObservabilityServiceDesc, observability.handlers),
  ];
  const evaluationMethods = new Map(rpcMethods(EvaluationServiceDesc).map((one) => [one.desc.name, one]));
  const environment = { log, requestTimeoutMs: config.limits.requestTimeoutMs };
  const services = [...features.map((one) => one.service), EvaluationServiceDesc];
  const health = createHealthState(serviceNames(services));
  const shutdown = new AbortController();
  let draining = false;

  const listener = createListener({
    ...(config.tls === null ? {} : { tls: readTls(config.tls) }),
    limits: { drainGraceMs: config.limits.drainMs },
    onProblem: (problem) => log.debug(problemFacts(problem), 'a connection was given up'),
  });
  const server = await createServer({
    config,
    log,
    listener,
    authenticator: createAuthenticator(config.auth),
    metrics,
    health,
    state: {
      version: VERSION,
      databaseUp: () => watch.databaseUp,
      revision: () => watch.revision,
      notReadyBecause() {
        if (draining) return 'the server is shutting down';
        if (!watch.databaseUp && !snapshot.loadedOnce) return 'the database does not answer';
        return null;
      },
    },
    services,
    methods: methodsByName([...features.flatMap((one) => one.methods), ...evaluationMethods.values()]),
    restRoutes: [
      ...features.flatMap((one) =>
        one.methods.flatMap((method) => handlerRoutes(method, one.handlerOf(method), config.apiBase)),
      ),
      ...[...evaluationMethods.values()].flatMap((method) =>
        method.desc.localName === 'explain'
          ? handlerRoutes(method, explain, config.apiBase)
          : evaluationRoutes(evaluation, method, config.apiBase),
      ),
    ],
    registerRpcs(router: ConnectRouter) {
      for (const one of features) {
        const implementation = one.methods.map((method) => [
          method.desc.localName,
          handlerRpc(method, one.handlerOf(method), environment),
        ]);
        router.service(one.service, Object.fromEntries(implementation) as Partial<ServiceImpl<DescService>>);
      }
      router.service(
        EvaluationServiceDesc,
        evaluationRpcs(evaluation, evaluationMethods, environment, explain),
      );
    },
    shutdownSignal: shutdown.signal,
    now: () => new Date(now()),
  });
  await watch.start();
  observability.recorder?.start();
  health.setServing(true);

  return {
    server,
    async listen() {
      await server.listen({
        host: config.host,
        port: config.port,
        listenTextResolver: (address) =>
          `listening at ${address.replace(/^http:/, config.tls === null ? 'http:' : 'https:')}`,
      });
      return addressOf(server, config);
    },
    async close() {
      draining = true;
      health.shutDown();
      const streamsEnd = setTimeout(
        () => shutdown.abort(shutdownReason()),
        Math.max(0, config.limits.drainMs - STREAM_END_MARGIN_MS),
      );
      await listener.drain();
      clearTimeout(streamsEnd);
      await server.close();
      watch.stop();
      await observability.recorder?.close();
      await database.close();
    },
  };
}

/** A service whose RPCs are all handlers. */
interface Feature {
  readonly service: DescService;
  readonly methods: readonly RpcMethod[];
  handlerOf(method: RpcMethod): Handler;
}

function feature(service: DescService, handlers: Readonly<Record<string, Handler>>): Feature {
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

function readTls(tls: NonNullable<Config['tls']>): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) };
}

function addressOf(server: FastifyInstance, config: Config): string {
  const { port } = server.server.address() as AddressInfo;
  const scheme = config.tls === null ? 'http' : 'https';
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host;
  return `${scheme}://${host}:${port}`;
}
