import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { serviceNames, shutdownReason } from '../../serve/connect/connect-plugin.js';
import { rpcMethods } from '../../serve/descriptors/rpc-methods.js';
import { createHealthState, type HealthState } from '../operations/health.js';
import type { MeasuredMetric } from '../operations/metrics.js';
import type { OperationalState } from '../operations/operations-routes.js';
import { createParts } from '../process/parts.js';
import { addressText } from './address.js';
import { createFeatures, type Features, WITHOUT_DATABASE } from './features.js';
import { type AppOptions, type Foundations, openFoundations } from './foundations.js';
import { createPrograms, type Programs } from './programs.js';
import { createOperationalState } from './readiness.js';
import { servicesOf } from './rpc-services.js';
import { createTransports, type Transports } from './transports.js';

/** The port on which a connection was accepted. */
export type PortName = 'service' | 'operations';

/** Where the service listens, for example `http://127.0.0.1:8000`. */
export interface Addresses {
  readonly address: string;
  /** Absent if there is no operations port. */
  readonly operations?: string;
}

/** The assembled service. */
export interface App {
  readonly server: FastifyInstance;
  /** Starts to listen. */
  listen(): Promise<Addresses>;
  /** Used instead of `listen`: prepares for connections that another process accepts, for `accept`. */
  ready(): Promise<void>;
  accept(socket: Socket, port: PortName): void;
  /** Saves the last known good state and prunes the audit log from now on. One of several processes on a port must. */
  keep(): void;
  /** Reads the files again that may change while the service runs. */
  reload(): void;
  /** The metrics of this process. */
  measure(): Promise<MeasuredMetric[]>;
  /**
   * Finishes running requests, refuses new ones, and releases all resources. Idle connections are closed after
   * `noticeMs` (default 0), so that clients learn from a reply that theirs closes.
   */
  close(options?: { readonly noticeMs?: number }): Promise<void>;
}

/** Streams end this long before the end of the drain, so that their final status still reaches the client. */
const STREAM_END_MARGIN_MS = 500;

/** Time limit at shutdown for handed-over connections to complete their opening. */
const SETTLE_LIMIT_MS = 1_000;

/**
 * Assembles the service: foundations, programs, features, transports. If a stage fails, those before it are
 * closed.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const parts = createParts();
  try {
    return await assemble(await openFoundations(options, parts));
  } catch (error) {
    // The first failure is the one to report.
    await parts.close().catch(() => {});
    throw error;
  }
}

async function assemble(foundations: Foundations): Promise<App> {
  const { config, metrics, parts, shared } = foundations;
  const programs = createPrograms(foundations);
  let isDraining = false;
  let noticeMs = 0;
  const state = createOperationalState(foundations, programs, () => isDraining);
  const features = await createFeatures(foundations, programs, state);
  const health = createHealth(foundations, programs, features, state);
  const transports = await createTransports(foundations, programs, features, { health, state });
  observe(foundations, programs, features, transports);
  features.problems.watch(transports.credentials);
  await parts.start();
  if (shared === undefined) parts.keep();
  health.setServing(true);

  const { server, listener, operations } = transports;
  parts.add({
    async close() {
      isDraining = true;
      // Another process already gets new connections; the last ones accepted here are still served.
      if (shared !== undefined) await listener.settled(Math.min(SETTLE_LIMIT_MS, config.limits.drainMs));
      health.shutDown();
      await drain(foundations, transports, Math.min(noticeMs, config.limits.drainMs / 2));
    },
  });
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
    keep: parts.keep,
    reload: () => transports.files.reload(),
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
    close(options) {
      noticeMs = options?.noticeMs ?? 0;
      return parts.close();
    },
  };
}

function createHealth(
  { config, database }: Foundations,
  { watch, onDatabaseState }: Programs,
  features: Features,
  state: OperationalState,
): HealthState {
  const { storage } = database;
  const evaluating = evaluatingServices(features);
  const isOff = (name: string) => name === ObservabilityService.typeName && !config.observability.enabled;
  const health = createHealthState(serviceNames(servicesOf(features)), (name) => {
    if (name === '' || evaluating.has(name)) return state.cannotEvaluateBecause() === null;
    if (WITHOUT_DATABASE.has(name)) return true;
    return !isOff(name) && watch.databaseUp && storage.state === 'OK';
  });
  storage.onChange(health.refresh);
  onDatabaseState(health.refresh);
  return health;
}

/** Services that evaluate steps, those of adapters included: they need the controls in memory, and no database. */
function evaluatingServices({ features }: Features): ReadonlySet<string> {
  const evaluating = features
    .flatMap(({ service }) => rpcMethods(service))
    .filter(({ isEvaluation }) => isEvaluation);
  return new Set(evaluating.map(({ desc }) => desc.parent.typeName));
}

/** Adds the values of all parts to the metrics. */
function observe(
  { metrics, database, started, monotonic }: Foundations,
  { snapshot, watch, lastKnownGood }: Programs,
  { keptEvaluations, problems, coverage }: Features,
  { admission, load, streamNames }: Transports,
): void {
  metrics.observe({
    snapshotAgents: () => snapshot.size,
    snapshotControlSets: () => snapshot.sets,
    revision: () => watch.revision,
    stalenessSeconds: () => (monotonic() - snapshot.oldestCurrentAtMs) / 1000,
    databaseUp: () => watch.databaseUp,
    storage: () => database.storage,
    eventLoopDelaySeconds: () => load.delayMs / 1000,
    countedCalls: () => admission.keyedCalls,
    connections: () => admission.connections,
    publicCalls: () => admission.publicCalls,
    waitingForRevision: () => watch.waiting,
    streams: () => streamNames,
    problems: problems.figures,
    agentActivity: problems.activity,
    coverage: coverage.figures,
    lastKnownGood: () => ({
      isActive: watch.isBlind && started.header !== null,
      evaluations: keptEvaluations(),
      ...lastKnownGood.meter,
    }),
  });
}

/** Lets running calls finish and refuses new ones. */
async function drain(
  { config, parts }: Foundations,
  { listener, shutdown, longStreams }: Transports,
  noticeMs: number,
): Promise<void> {
  const streamsMs = Math.max(0, config.limits.drainMs - STREAM_END_MARGIN_MS);
  const streamsEnd = setTimeout(() => shutdown.abort(shutdownReason()), streamsMs);
  const drained = listener.drain({ noticeMs });
  longStreams.drain(streamsMs);
  parts.drain();
  await drained;
  clearTimeout(streamsEnd);
}
