import { createSealing, type Sealing } from '../../contract/secrets/sealing.js';
import { type Approvals, createApprovals } from '../../decide/approvals/approvals.js';
import { withAskedTargets } from '../../decide/decisions/asked-targets.js';
import {
  createEvaluationService,
  type EvaluationService,
} from '../../decide/decisions/evaluation-service.js';
import { createMismatchCounts, type MismatchCounts } from '../../decide/decisions/mismatch-counts.js';
import { createRandomIds } from '../../decide/decisions/random-id.js';
import { createStalenessLimit } from '../../decide/decisions/staleness.js';
import { tracedEvaluations } from '../../decide/decisions/traced-evaluations.js';
import { THREAD_EVALUATORS } from '../../kernel/evaluators/load-evaluators.js';
import type { EvaluatorMeter } from '../../kernel/evaluators/metered.js';
import { evaluatorReferenceProblems } from '../../manage/agents/agent-evaluator-references.js';
import type { Controls } from '../../manage/controls/controls.js';
import { type Coverage, createCoverage } from '../../observe/coverage/coverage.js';
import type { TrialOptions } from '../../observe/explain/trial.js';
import { createWaitingStepTrials } from '../../observe/explain/waiting-steps.js';
import { createNotifications, type Notifications } from '../../observe/notifications/notifications.js';
import { createSamples, type Samples } from '../../observe/samples/samples.js';
import { createShadows, type Shadows } from '../../observe/shadows/shadows.js';
import { createHeavySteps, type HeavyStepThread } from '../../serve/heavy-steps/heavy-steps.js';
import type { EventParts } from './event-parts.js';
import type { Foundations } from './foundations.js';
import type { Programs } from './programs.js';
import { createServiceMemory, type ServiceMemory } from './service-memory.js';
import {
  createKeptCount,
  measuringObserver,
  mismatchObserver,
  uncontrolledObserver,
} from './verdict-observers.js';

/** The evaluation of steps, and what is told of each verdict. */
export interface EvaluationParts extends ServiceMemory {
  readonly evaluation: EvaluationService;
  /** The thread for large messages of evaluations and explanations. */
  readonly heavySteps: HeavyStepThread;
  readonly approvals: Approvals;
  readonly notifications: Notifications;
  readonly shadows: Shadows;
  readonly samples: Samples;
  readonly coverage: Coverage;
  readonly mismatches: MismatchCounts;
  /** What a trial of controls with a step needs. */
  readonly trial: TrialOptions;
  readonly sampleSealing: Sealing;
  /** Evaluations with controls from the last known good file. */
  keptEvaluations(): number;
}

export async function createEvaluationParts(
  foundations: Foundations,
  programs: Programs,
  { observability }: EventParts,
  controls: Controls,
): Promise<EvaluationParts> {
  const { config, log, parts, database, failures, registry, findSensitive, metrics, threadEntries } =
    foundations;
  const { now, monotonic } = foundations;
  const { library, newExecutionId, stepSchemas, watch, mutate } = programs;
  const { maxStalenessMs } = config.limits;
  const { memory, storeKind } = await createServiceMemory(foundations);
  parts.add({ close: () => memory.close() });
  const sealing = sealingWith(config.approvals.key);
  const notifications = parts.add(
    createNotifications({
      config: config.notifications,
      database,
      mutate,
      sealer: {
        seal: (text) => sealing.seal(text, 'notification_destination'),
        open: (sealed) => sealing.open(sealed, 'notification_destination'),
      },
      publicUrl: config.publicUrl,
      failures,
      now,
      monotonic,
    }),
  );
  const shadows = parts.add(
    createShadows({
      database,
      mutate,
      evaluators: registry,
      reviewer: controls.reviewer,
      referenceProblems: evaluatorReferenceProblems,
      furtherProblems: controls.furtherProblems,
      registry: programs.shadows,
      library,
      newExecutionId,
      definitionsOf: programs.definitionsOf,
      findSensitive,
      failures,
      now,
      monotonic,
    }),
  );
  const sampleSealing = sealingWith(config.samples.key);
  const samples = createSamples({
    database,
    mutate,
    rules: programs.samplingRules,
    sealing: sampleSealing,
    findSensitive,
    meter: metrics.samples,
    failures,
    now,
  });
  parts.add({ close: () => samples.capture.settled() });
  parts.add({ keep: samples.upkeep.start, close: () => samples.upkeep.close() });
  const trial = { registry, library, stepSchemas, newExecutionId, now: monotonic, clock: now };
  const approvals = parts.add(
    createApprovals({
      database,
      config: config.approvals,
      trials: createWaitingStepTrials(database.client, { ...trial, memory }),
      meter: metrics.approvals,
      failures,
      now,
      idleMs: foundations.approvalsIdleMs,
    }),
  );
  const coverage = parts.add(
    createCoverage({
      database,
      mutate,
      retentionDays: config.observability.retentionDays,
      outbox: { maxWaiting: config.notifications.maxWaiting, publicUrl: config.publicUrl },
      failures,
      now,
      monotonic,
    }),
  );
  const mismatches = createMismatchCounts(now);
  const kept = createKeptCount();
  const untraced = createEvaluationService({
    programs: watch,
    ...(maxStalenessMs === null
      ? {}
      : { demandFresh: createStalenessLimit(maxStalenessMs, monotonic, () => watch.databaseUp) }),
    approvals: approvals.gate,
    halts: programs.halts,
    memory,
    now: monotonic,
    newDecisionId: createRandomIds(),
    observers: [
      observability.recorder,
      notifications.observer,
      shadows.observer,
      samples.capture.observer,
      observability.counts?.observer,
      coverage.observer,
      measuringObserver(metrics),
      kept.observer,
      uncontrolledObserver(config, failures),
      mismatchObserver(metrics, mismatches, failures),
    ].filter((observer) => observer !== undefined),
  });
  const { tracer } = foundations.telemetry;
  const traced = tracer === undefined ? untraced : tracedEvaluations(untraced, tracer);
  const evaluation = config.auth.upstream === null ? traced : withAskedTargets(traced);
  const heavySteps = parts.add(
    createHeavySteps({
      registry,
      meters: builtinMeters(foundations),
      definitionsOf: programs.definitionsOf,
      schemasText: stepSchemas.textOf,
      modeOf: stepSchemas.modeOf,
      emptyDenies: config.agentsWithoutControls === 'deny',
      keepEvaluators: config.evaluators.cacheSize,
      duplicates: config.duplicateMembers,
      onFailure: programs.onFailure,
      log,
      failures,
      now: monotonic,
      memory: memory.foreign,
      entry: threadEntries.heavySteps,
    }),
  );
  return {
    evaluation,
    heavySteps,
    memory,
    storeKind,
    approvals,
    notifications,
    shadows,
    samples,
    coverage,
    mismatches,
    trial,
    sampleSealing,
    keptEvaluations: kept.count,
  };
}

/** `key`: 32 bytes in base64; null for none. */
function sealingWith(key: string | null) {
  return createSealing(key === null ? null : Buffer.from(key, 'base64'));
}

/** The meters of the evaluators that the thread for large messages has itself. */
function builtinMeters({ meters }: Foundations): Map<string, EvaluatorMeter> {
  return new Map([...meters].filter(([name]) => THREAD_EVALUATORS.has(name)));
}
