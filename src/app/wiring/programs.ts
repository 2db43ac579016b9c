import { createAgentUseStore } from '../../decide/agent-state/agent-use-store.js';
import { createControlLinksStore } from '../../decide/agent-state/control-links-store.js';
import { type ControlLibrary, createControlLibrary } from '../../decide/decisions/control-library.js';
import { createExecutionIds } from '../../decide/decisions/execution-id.js';
import { createFailureLog } from '../../decide/decisions/failure-log.js';
import { createProgramBuilder, type ProgramBuilder } from '../../decide/decisions/program-builder.js';
import { RevisionWatch } from '../../decide/decisions/revision-watch.js';
import { Snapshot } from '../../decide/decisions/snapshot.js';
import {
  createStepSchemaLibrary,
  type StepSchemaLibrary,
} from '../../decide/decisions/step-schema-library.js';
import { createWarmStart, type WarmStart } from '../../decide/decisions/warm-start.js';
import { HaltRegistry } from '../../decide/halts/halt-registry.js';
import { readActiveHalts } from '../../decide/halts/halt-store.js';
import type { ControlFailure } from '../../kernel/core/linked-control.js';
import { ControlFeed } from '../../manage/agents/control-feed.js';
import { LiveKeys } from '../../manage/keys/live-keys.js';
import { NamespaceRegistry } from '../../manage/namespaces/namespace-registry.js';
import { createNamespaceStore } from '../../manage/namespaces/namespace-store.js';
import { readSamplingRules } from '../../observe/samples/sample-store.js';
import { SamplingRegistry } from '../../observe/samples/sampling-registry.js';
import { ShadowRegistry } from '../../observe/shadows/shadow-registry.js';
import { readActiveShadows } from '../../observe/shadows/shadow-store.js';
import { originOfService } from '../../storage/database/audit-log.js';
import { loadedInTime } from '../../storage/database/in-time.js';
import { createMutator, type Mutator } from '../../storage/database/mutator.js';
import { createLastKnownGood, type LastKnownGood } from '../last-known-good/last-known-good.js';
import type { Foundations } from './foundations.js';

/** The compiled controls of agents, kept in sync with the database. */
export interface Programs {
  readonly library: ControlLibrary;
  readonly newExecutionId: () => string;
  readonly definitionsOf: ProgramBuilder['definitionsOf'];
  /** Tells the operator that a control cannot be evaluated. */
  readonly onFailure: (failure: ControlFailure) => void;
  readonly stepSchemas: StepSchemaLibrary;
  readonly snapshot: Snapshot;
  /** Effective controls for watchers. */
  readonly feed: ControlFeed;
  readonly watch: RevisionWatch;
  readonly lastKnownGood: LastKnownGood;
  readonly warmStart: WarmStart;
  /** The namespaces that exist: callers of others are refused. */
  readonly namespaces: NamespaceRegistry;
  /** The halts in force. */
  readonly halts: HaltRegistry;
  /** The shadows that are set. */
  readonly shadows: ShadowRegistry;
  /** The rules by which steps are kept. */
  readonly samplingRules: SamplingRegistry;
  /** The keys of the database that are valid. */
  readonly liveKeys: LiveKeys;
  /** Runs changes; they take effect in this process immediately. */
  readonly mutate: Mutator;
  /** Calls back whenever the database becomes unavailable or available. */
  onDatabaseState(listener: () => void): void;
}

/** Wires the parts that determine the controls of an agent; nothing runs before they start. */
export function createPrograms(foundations: Foundations): Programs {
  const { config, log, parts, database, registry, started, failures, now, monotonic } = foundations;
  const { storage } = database;
  const listeners: (() => void)[] = [];
  const newExecutionId = createExecutionIds();
  const library = createControlLibrary({ registry, keepEvaluators: config.evaluators.cacheSize });
  const stepSchemas = createStepSchemaLibrary(config.stepSchemas);
  const lastKnownGood = createLastKnownGood({
    started,
    database,
    stored: createControlLinksStore(database.client),
    maxStalenessMs: config.limits.maxStalenessMs,
    log,
    now,
    monotonic,
  });
  const onFailure = createFailureLog(log, monotonic);
  const builder = createProgramBuilder({
    library,
    newExecutionId,
    now,
    emptyDenies: config.agentsWithoutControls === 'deny',
    onFailure,
  });
  const snapshot = new Snapshot({
    reader: lastKnownGood.reader,
    builder,
    stepSchemas,
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
  const namespaces = new NamespaceRegistry({
    read: createNamespaceStore(database.client).all,
    onFailure: (error) => failures.failed('namespaces', 'the namespaces cannot be read now', error),
    now: monotonic,
  });
  const halts = new HaltRegistry({
    read: () => loadedInTime(readActiveHalts(database, now())),
    onFailure: (error) =>
      failures.failed('halts', 'the halts cannot be read now; those that were known stay in force', error),
    now,
  });
  const shadows = new ShadowRegistry({
    read: () => loadedInTime(readActiveShadows(database.client)),
    onFailure: (error) =>
      failures.failed('shadows', 'the shadows cannot be read now; those that were known stay', error),
    now: monotonic,
  });
  const samplingRules = new SamplingRegistry({
    read: () => readSamplingRules(database),
    onFailure: (error) =>
      failures.failed(
        'sampling rules',
        'the sampling rules cannot be read now; those that were known stay in force',
        error,
      ),
    now,
  });
  const liveKeys = new LiveKeys({ database, failures, now });
  let hasAnswered = false;
  const watch = new RevisionWatch({
    snapshot,
    followers: [halts, namespaces, shadows, samplingRules, liveKeys, feed, lastKnownGood.follower],
    source: database.changes(),
    minRevisionWaitMs: config.limits.minRevisionWaitMs,
    now: monotonic,
    async outrun(told) {
      log.warn({ told }, 'the database was restored to an earlier revision; everything is loaded anew');
      const revision = await database.outrun(told, originOfService(now()));
      log.warn({ told, revision }, 'the restored database has a revision that was never told before');
    },
    onDatabaseState(up, error) {
      lastKnownGood.databaseState(up);
      if (up) storage.reachable();
      else storage.unreachable(error);
      if (up && !hasAnswered) log.info({}, 'the database answers');
      hasAnswered ||= up;
      for (const listener of listeners) listener();
    },
  });
  lastKnownGood.follow(watch);
  const warmStart = createWarmStart({
    agents: config.limits.preloadAgents,
    snapshot,
    uses: createAgentUseStore(database.bulk),
    log,
    failures,
    databaseUp: () => watch.databaseUp,
    now,
  });

  /** Reads what decides, or takes what was known last. */
  async function start(): Promise<void> {
    await watch.start(lastKnownGood.progress);
    if (watch.isBlind) {
      const kept = lastKnownGood.kept();
      // Its display name is known to the database only.
      namespaces.restore(kept.namespaces.map((name) => ({ name, displayName: name })));
      halts.restore(kept.halts);
      liveKeys.restore(kept.keys);
    } else {
      lastKnownGood.startedAt(watch.revision);
      // At once: none needs what another reads, and a database far away is waited for only once.
      await Promise.all([
        namespaces.load(),
        halts.load(),
        shadows.refreshed(),
        samplingRules.refreshed(),
        liveKeys.load(),
      ]);
    }
    started.wait?.start((hasOtherState) => {
      if (hasOtherState) watch.replaced();
    });
    storage.watch();
  }

  parts.add({ start, drain: () => feed.close(), close: () => watch.stop() });
  parts.add(warmStart);
  parts.add({ keep: () => lastKnownGood.keep(), close: () => lastKnownGood.close() });
  parts.add({ close: () => started.wait?.stop() });
  return {
    library,
    newExecutionId,
    definitionsOf: builder.definitionsOf,
    onFailure,
    stepSchemas,
    snapshot,
    feed,
    watch,
    lastKnownGood,
    namespaces,
    halts,
    shadows,
    samplingRules,
    liveKeys,
    warmStart,
    mutate: createMutator({ database, now, onCommit: (change) => watch.committed(change) }),
    onDatabaseState: (listener) => void listeners.push(listener),
  };
}
