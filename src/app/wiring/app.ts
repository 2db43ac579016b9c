import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { serviceNames, shutdownReason } from '../../serve/connect/connect-plugin.js';
import { rpcMethods } from '../../serve/descriptors/rpc-methods.js';
import { createHealthState, type HealthState } from '../operations/health.js';
import type { MeasuredMetric } from '../operations/metrics.js';
import type { OperationalState } from '../operations/operations-routes.js';
import { type Closers, createClosers } from '../process/closers.js';
import { addressText } from './address.js';
import { createFeatures, type Features, WITHOUT_DATABASE } from './features.js';
import { type AppOptions, type Foundations, openFoundations } from './foundations.js';
import { createPrograms, type Programs } from './programs.js';
import { createOperationalState } from './readiness.js';
import { createTransports, servicesOf, type Transports } from './transports.js';

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
  const closers = createClosers();
  try {
    return await assemble(await openFoundations(options, closers), closers);
  } catch (error) {
    // The first failure is the one to report.
    await closers.close().catch(() => {});
    throw error;
  }
}

async function assemble(foundations: Foundations, closers: Closers): Promise<App> {
  const { config, metrics, shared } = foundations;
  const programs = createPrograms(foundations);
  let isDraining = false;
  let noticeMs = 0;
  const state = createOperationalState(foundations, programs, () => isDraining);
  const features = await createFeatures(foundations, programs, state);
  const health = createHealth(foundations, programs, features, state);
  const transports = await createTransports(foundations, programs, features, { health, state });
  stack(foundations, programs, features, transports, closers);
  observe(foundations, programs, features, transports);
  features.problems.watch(transports.credentials);
  const keep = () => {
    programs.lastKnownGood.keep();
    features.audit.upkeep.start();
    features.listUpkeep.start();
    features.approvals.start();
    features.samples.upkeep.start();
  };
  await start(foundations, programs, features);
  transports.keyUses.start();
  if (shared === undefined) keep();
  health.setServing(true);

  const { server, listener, operations } = transports;
  closers.add(async () => {
    isDraining = true;
    // Another process already gets new connections; the last ones accepted here are still served.
    if (shared !== undefined) await listener.settled(Math.min(SETTLE_LIMIT_MS, config.limits.drainMs));
    health.shutDown();
    await drain(foundations, programs, features, transports, Math.min(noticeMs, config.limits.drainMs / 2));
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
    keep,
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
      return closers.close();
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

async function start(
  { started, database }: Foundations,
  { watch, lastKnownGood, warmStart, namespaces, halts, shadows, samplingRules, liveKeys }: Programs,
  { observability, eventSinks, notifications, coverage }: Features,
): Promise<void> {
  await watch.start(lastKnownGood.progress);
  if (!watch.isBlind) {
    lastKnownGood.startedAt(watch.revision);
    // At once: none needs what another reads, and a database far away is waited for only once.
    await Promise.all([
      namespaces.load(),
      halts.load(),
      shadows.refreshed(),
      samplingRules.refreshed(),
      liveKeys.load(),
    ]);
  } else {
    // Its display name is known to the database only.
    namespaces.restore(lastKnownGood.kept().namespaces.map((name) => ({ name, displayName: name })));
    halts.restore(lastKnownGood.kept().halts);
    liveKeys.restore(lastKnownGood.kept().keys);
  }
  started.wait?.start((hasOtherState) => {
    if (hasOtherState) watch.replaced();
  });
  database.storage.watch();
  warmStart.start();
  const prepared = observability.start();
  // Without its database the process serves what it knows.
  if (!watch.isBlind) await prepared;
  observability.recorder?.start();
  observability.counts?.start();
  observability.pruner?.start();
  eventSinks.start();
  notifications.start();
  coverage.start();
}

/** Resources to release after all requests are answered, in reverse order. */
function stack(
  { started }: Foundations,
  { watch, lastKnownGood, warmStart }: Programs,
  {
    observability,
    memory,
    audit,
    approvals,
    listUpkeep,
    eventSinks,
    eventReaders,
    notifications,
    shadows,
    samples,
    coverage,
    heavySteps,
  }: Features,
  { server, operations, load, files, issuer, keyUses, endedSessions }: Transports,
  closers: Closers,
): void {
  closers.add(() => observability.close());
  closers.add(() => memory.close());
  closers.add(() => shadows.close());
  closers.add(() => eventSinks.close());
  closers.add(() => notifications.close());
  closers.add(() => coverage.close());
  closers.add(() => eventReaders?.close());
  closers.add(() => observability.pruner?.close());
  closers.add(() => audit.upkeep.close());
  closers.add(() => listUpkeep.close());
  closers.add(() => approvals.close());
  closers.add(() => samples.upkeep.close());
  closers.add(() => samples.capture.settled());
  closers.add(() => observability.recorder?.close());
  closers.add(() => observability.counts?.close());
  closers.add(() => watch.stop());
  closers.add(() => heavySteps.close());
  closers.add(() => warmStart.close());
  closers.add(() => lastKnownGood.close());
  closers.add(() => started.wait?.stop());
  closers.add(() => load.stop());
  closers.add(() => files.stop());
  closers.add(() => keyUses.close());
  closers.add(() => endedSessions.close());
  closers.add(() => issuer?.close());
  // Closed after the server, so that draining stays visible.
  closers.add(() => operations?.close());
  closers.add(() => server.close());
}

/** Lets running calls finish and refuses new ones. */
async function drain(
  { config }: Foundations,
  { feed }: Programs,
  { observability, approvals }: Features,
  { listener, shutdown, longStreams }: Transports,
  noticeMs: number,
): Promise<void> {
  const streamsMs = Math.max(0, config.limits.drainMs - STREAM_END_MARGIN_MS);
  const streamsEnd = setTimeout(() => shutdown.abort(shutdownReason()), streamsMs);
  const drained = listener.drain({ noticeMs });
  longStreams.drain(streamsMs);
  // These streams are endless, and their clients can reconnect to another process.
  feed.close();
  observability.endStreams();
  approvals.endStreams();
  await drained;
  clearTimeout(streamsEnd);
}
