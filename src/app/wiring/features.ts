import { ExtMcp } from '../../../gen/proto/agentgateway/dev/ext_mcp/ext_mcp_pb.js';
import { AccessRequestService } from '../../../gen/proto/enforcement/v1/access_request_service_pb.js';
import { AdapterService } from '../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ApprovalService } from '../../../gen/proto/enforcement/v1/approval_service_pb.js';
import { AuditService } from '../../../gen/proto/enforcement/v1/audit_service_pb.js';
import { AuthService } from '../../../gen/proto/enforcement/v1/auth_service_pb.js';
import { AuthzenService } from '../../../gen/proto/enforcement/v1/authzen_service_pb.js';
import { ConfigurationService } from '../../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { ControlBindingService } from '../../../gen/proto/enforcement/v1/control_binding_service_pb.js';
import { ControlService } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { CoverageService } from '../../../gen/proto/enforcement/v1/coverage_service_pb.js';
import { EvaluationService as EvaluationServiceDesc } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { EvaluatorService } from '../../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { HaltService } from '../../../gen/proto/enforcement/v1/halt_service_pb.js';
import { KeyService } from '../../../gen/proto/enforcement/v1/key_service_pb.js';
import { MemoryService } from '../../../gen/proto/enforcement/v1/memory_service_pb.js';
import { NamespaceService } from '../../../gen/proto/enforcement/v1/namespace_service_pb.js';
import { NotificationService } from '../../../gen/proto/enforcement/v1/notification_service_pb.js';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { PackService } from '../../../gen/proto/enforcement/v1/pack_service_pb.js';
import { PolicyService } from '../../../gen/proto/enforcement/v1/policy_service_pb.js';
import { SampleService } from '../../../gen/proto/enforcement/v1/sample_service_pb.js';
import { ServerService } from '../../../gen/proto/enforcement/v1/server_service_pb.js';
import { ShadowService } from '../../../gen/proto/enforcement/v1/shadow_service_pb.js';
import { TemplateService } from '../../../gen/proto/enforcement/v1/template_service_pb.js';
import { Authorization } from '../../../gen/proto/envoy/service/auth/v3/external_auth_pb.js';
import { type AgentKey, nameOfKey, namespaceOfKey } from '../../contract/call/namespace.js';
import { roleTable } from '../../contract/call/scopes.js';
import { inPackage, VERSION } from '../../contract/runtime/package-root.js';
import { createSealing } from '../../contract/secrets/sealing.js';
import { type Approvals, createApprovals } from '../../decide/approvals/approvals.js';
import { withAskedTargets } from '../../decide/decisions/asked-targets.js';
import { MAX_EVALUATIONS } from '../../decide/decisions/evaluate-request.js';
import {
  createEvaluationService,
  type EvaluationService,
} from '../../decide/decisions/evaluation-service.js';
import { createMismatchCounts } from '../../decide/decisions/mismatch-counts.js';
import { createRandomIds } from '../../decide/decisions/random-id.js';
import { createStalenessLimit } from '../../decide/decisions/staleness.js';
import { tracedEvaluations } from '../../decide/decisions/traced-evaluations.js';
import { createHalts } from '../../decide/halts/halts.js';
import type { Memory } from '../../decide/memory/memory-types.js';
import { evaluatorHandlers } from '../../kernel/evaluators/evaluator-handlers.js';
import { builtinEvaluators } from '../../kernel/evaluators/load-evaluators.js';
import type { EvaluatorMeter } from '../../kernel/evaluators/metered.js';
import { evaluatorReferenceProblems } from '../../manage/agents/agent-evaluator-references.js';
import { createAgents } from '../../manage/agents/agents.js';
import { createLabelUpkeep } from '../../manage/agents/label-upkeep.js';
import {
  createRegisteredTypes,
  createRegistrationNotes,
  createSharedRegistrationNotes,
} from '../../manage/agents/registration-notes.js';
import { createBindings } from '../../manage/bindings/bindings.js';
import { createConfiguration } from '../../manage/configuration/configuration.js';
import { createReviewer } from '../../manage/controls/control-review.js';
import { createControls } from '../../manage/controls/controls.js';
import { createFacetUpkeep } from '../../manage/controls/facet-upkeep.js';
import { createKeys } from '../../manage/keys/keys.js';
import { createLimits } from '../../manage/limits/limits.js';
import { createLint } from '../../manage/lint/lint.js';
import { createNamespaces } from '../../manage/namespaces/namespaces.js';
import { openPackCatalogue } from '../../manage/packs/catalogue.js';
import { createPacks } from '../../manage/packs/packs.js';
import { createPolicies } from '../../manage/policies/policies.js';
import { type Audit, createAudit } from '../../observe/audit/audit.js';
import { type Coverage, createCoverage } from '../../observe/coverage/coverage.js';
import { createServiceEventStore } from '../../observe/events/create-event-store.js';
import { createMarks } from '../../observe/events/marks/marks.js';
import { createObservability, type Observability } from '../../observe/events/observability.js';
import { createEventSinks, type EventSinks } from '../../observe/events/sinks/event-sinks.js';
import { createExplain } from '../../observe/explain/explain.js';
import { createWaitingStepTrials } from '../../observe/explain/waiting-steps.js';
import { createNotifications, type Notifications } from '../../observe/notifications/notifications.js';
import { createProblems, type Problems } from '../../observe/problems/problems.js';
import { createPackPreview } from '../../observe/replay/pack-preview.js';
import { createReplay } from '../../observe/replay/replay.js';
import { createSamples, type Samples } from '../../observe/samples/samples.js';
import { createServerInfo, type ServerState } from '../../observe/server-info/server-info.js';
import { createShadows, type Shadows } from '../../observe/shadows/shadows.js';
import { createAdapterEvaluations } from '../../serve/adapters/adapter-evaluations.js';
import { createAgentHooks } from '../../serve/adapters/agent-hooks/agent-hooks.js';
import { createAgentgateway } from '../../serve/adapters/agentgateway/agentgateway.js';
import { createAuthzen } from '../../serve/adapters/authzen/authzen.js';
import { createCodingHooks } from '../../serve/adapters/coding-hooks/coding-hooks.js';
import { createCopilotStudio } from '../../serve/adapters/copilot-studio/copilot-studio.js';
import { createExtAuthz } from '../../serve/adapters/ext-authz/ext-authz.js';
import { createExtMcp } from '../../serve/adapters/ext-mcp/ext-mcp.js';
import { createLitellm } from '../../serve/adapters/litellm/litellm.js';
import { STREAM_WINDOW } from '../../serve/evaluation/evaluation-calls.js';
import { createEventReaders, type EventReaderThreads } from '../../serve/event-reading/event-readers.js';
import { createHeavySteps, type HeavyStepThread } from '../../serve/heavy-steps/heavy-steps.js';
import { maxReplyBytes } from '../../serve/wire/message-limits.js';
import type { OperationalState } from '../operations/operations-routes.js';
import { type Feature, feature } from './feature.js';
import type { Foundations } from './foundations.js';
import { createListUpkeep, type ListUpkeep } from './list-upkeep.js';
import type { Programs } from './programs.js';
import { createRuntimeTokenParts, type RuntimeTokenParts } from './runtime-auth.js';
import { createServiceMemory } from './service-memory.js';

/** The functions of the service, independent of protocols. */
export interface Features {
  readonly features: readonly Feature[];
  readonly evaluation: EvaluationService;
  readonly observability: Observability;
  readonly runtimeTokens: RuntimeTokenParts;
  readonly eventSinks: EventSinks;
  /** Undefined when all events are read in the thread that serves requests. */
  readonly eventReaders: EventReaderThreads | undefined;
  /** The thread for large messages of evaluations and explanations. */
  readonly heavySteps: HeavyStepThread;
  readonly memory: Memory;
  readonly audit: Audit;
  readonly approvals: Approvals;
  readonly samples: Samples;
  readonly problems: Problems;
  readonly listUpkeep: ListUpkeep;
  readonly notifications: Notifications;
  readonly shadows: Shadows;
  readonly coverage: Coverage;
  /** Evaluations with controls from the last known good file. */
  keptEvaluations(): number;
}

/** Services that read and write nothing: they are served whatever the state of the database. */
export const WITHOUT_DATABASE: ReadonlySet<string> = new Set([
  TemplateService.typeName,
  AuthService.typeName,
  EvaluatorService.typeName,
  ServerService.typeName,
]);

export async function createFeatures(
  foundations: Foundations,
  programs: Programs,
  operational: OperationalState,
): Promise<Features> {
  const { config, log, failures, database, registry, metrics, threadEntries, now, monotonic } = foundations;
  const { library, newExecutionId, stepSchemas, feed, watch, mutate } = programs;
  const { maxStalenessMs } = config.limits;
  const parts = { database, mutate, registry, now, strict: config.strictDefinitions };
  const controls = createControls({
    ...parts,
    referenceProblems: evaluatorReferenceProblems,
    registrationNotes: createRegistrationNotes(),
    registeredTypes: createRegisteredTypes(),
  });
  const store = await createServiceEventStore({
    config: config.observability,
    database,
    failures,
    meter: metrics.events,
    now,
  });
  const eventSinks = await createEventSinks({
    config: config.eventSinks,
    tail: store.tail,
    database,
    log,
    failures,
    meter: metrics.eventSinks,
    now,
    monotonic,
  });
  const eventReaders = createEventReaders({
    kind: store.kind,
    duplicates: config.duplicateMembers,
    threads: config.observability.enabled ? config.observability.readerThreads : 0,
    failures,
    now,
    entry: threadEntries.eventReader,
  });
  const observability = await createObservability({
    config: config.observability,
    store,
    database,
    readers: eventReaders?.readers,
    log,
    failures,
    meter: metrics.events,
    countMeter: metrics.evaluationCounts,
    now,
    monotonic,
  });
  const audit = createAudit({ config: config.audit, database, log, failures, now });
  const labels = createLabelUpkeep({ database, now });
  const { memory, storeKind } = createServiceMemory(foundations);
  const namespaces = createNamespaces({
    database,
    mutate,
    registry,
    known: programs.namespaces,
    forgetMemory: memory.removeNamespace,
    failures,
    now,
  });
  const sealing = sealingWith(config.approvals.key);
  const notifications = createNotifications({
    config: config.notifications,
    database,
    mutate,
    sealer: {
      seal: (text) => sealing.seal(text, 'notification_destination'),
      open: (sealed) => sealing.open(sealed, 'notification_destination'),
    },
    recorder: observability.recorder,
    publicUrl: config.publicUrl,
    failures,
    now,
    monotonic,
  });
  const shadows = createShadows({
    database,
    mutate,
    evaluators: registry,
    reviewer: controls.reviewer,
    referenceProblems: evaluatorReferenceProblems,
    furtherProblems: controls.furtherProblems,
    registry: programs.shadows,
    recorder: notifications.recorder,
    library,
    newExecutionId,
    programs: watch,
    definitionsOf: programs.definitionsOf,
    failures,
    now,
    monotonic,
  });
  const sampleSealing = sealingWith(config.samples.key);
  const samples = createSamples({
    database,
    mutate,
    rules: programs.samplingRules,
    sealing: sampleSealing,
    recorder: shadows.recorder,
    meter: metrics.samples,
    failures,
    now,
  });
  const trial = { registry, library, stepSchemas, newExecutionId, now: monotonic, clock: now };
  const approvals = createApprovals({
    database,
    config: config.approvals,
    trials: createWaitingStepTrials(database.client, { ...trial, memory }),
    meter: metrics.approvals,
    failures,
    now,
    idleMs: foundations.approvalsIdleMs,
  });
  const coverage = createCoverage({
    database,
    mutate,
    retentionDays: config.observability.retentionDays,
    outbox: { maxWaiting: config.notifications.maxWaiting, publicUrl: config.publicUrl },
    failures,
    now,
    monotonic,
  });
  let keptEvaluations = 0;
  const uncontrolled = UNCONTROLLED[config.agentsWithoutControls];
  const mismatches = createMismatchCounts(now);
  const untraced = createEvaluationService({
    programs: watch,
    ...(maxStalenessMs === null
      ? {}
      : { demandFresh: createStalenessLimit(maxStalenessMs, monotonic, () => watch.databaseUp) }),
    approvals: approvals.gate,
    halts: programs.halts,
    memory,
    counter: observability.counts?.counter,
    sightings: coverage.sightings,
    recorder: samples.capture.recorder,
    now: monotonic,
    onKeptVerdict: () => {
      keptEvaluations += 1;
    },
    onUncontrolled(agent) {
      failures.told('warn', 'agents without controls', uncontrolled, agentFacts(agent));
    },
    onMismatch({ step, stage }, mismatch, mode, agent) {
      metrics.mismatched(stage, mode);
      mismatches.note(agent, step, mismatch);
      const facts = { ...agentFacts(agent), step: step.name, path: mismatch.path, problem: mismatch.problem };
      failures.told('warn', `step schemas ${agent}`, MISMATCHED[mode], facts);
    },
    newDecisionId: createRandomIds(),
    onVerdict: (label, stage, protocol) => metrics.evaluated(label, stage, protocol),
  });
  const { tracer } = foundations.telemetry;
  const traced = tracer === undefined ? untraced : tracedEvaluations(untraced, tracer);
  const evaluation = config.auth.upstream === null ? traced : withAskedTargets(traced);
  const { on, file, failOpen } = config.adapters;
  const evaluations = createAdapterEvaluations({
    evaluation,
    on,
    failOpen,
    // The parser of files is loaded only if there is one.
    mappings:
      file === null
        ? new Map()
        : await import('../../serve/adapters/mapping-file.js').then(({ readMappingFile }) =>
            readMappingFile(file),
          ),
    meter: metrics.adapters,
    failures,
  });
  const heavySteps = createHeavySteps({
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
  });
  const explain = createExplain(
    { ...trial, client: database.client, halts: programs.halts, memory },
    heavySteps.explain,
  );
  const catalogue = await openPackCatalogue({
    builtIn: inPackage('packs'),
    folders: config.packs.folders,
    registry,
  });
  const state = () => serverState(foundations, programs, operational);
  const problems = createProblems({
    database,
    registry,
    state,
    emptyDenies: config.agentsWithoutControls === 'deny',
    halts: programs.halts,
    memory: memory.troubles,
    sinks: { meter: metrics.eventSinks, tail: store.tail },
    log,
    now,
    monotonic,
  });
  const runtimeTokens = createRuntimeTokenParts(config.auth.runtime, now);
  const serverInfo = createServerInfo({
    version: VERSION,
    maxMessageBytes: config.limits.bodyBytes,
    maxBatch: MAX_EVALUATIONS,
    streamWindow: STREAM_WINDOW,
    revision: () => watch.progress.revision,
    state,
    namespaces: programs.namespaces,
  });
  return {
    features: [
      feature(
        AgentService,
        createAgents({
          ...parts,
          feed,
          stepSchemas: { modeOf: stepSchemas.modeOf, mismatchedSteps: mismatches.of },
          monotonic,
          maxReplyBytes: maxReplyBytes(config.limits.bodyBytes),
        }),
      ),
      feature(ControlService, controls.controls),
      feature(ControlBindingService, createBindings(parts)),
      feature(PolicyService, createPolicies({ ...parts, catchUpLabels: labels.catchUp })),
      feature(PackService, {
        ...createPacks({ ...parts, catalogue }),
        ...createPackPreview({
          client: database.client,
          catalogue,
          search: store.search,
          trial,
          now,
        }),
      }),
      feature(ConfigurationService, {
        ...createConfiguration({
          ...parts,
          newReviewer: () => createReviewer({ ...parts, registrationNotes: createSharedRegistrationNotes() }),
          referenceProblems: evaluatorReferenceProblems,
          catalogue,
          catchUpLabels: labels.catchUp,
        }),
        ...createLint({ ...parts, maxWindowMs: config.memory.maxWindowMs }),
      }),
      feature(SampleService, {
        ...samples.handlers,
        ...createReplay({
          database,
          client: database.client,
          registry,
          reviewer: controls.reviewer,
          referenceProblems: evaluatorReferenceProblems,
          catalogue,
          library,
          stepSchemas,
          sealing: sampleSealing,
          newExecutionId,
          emptyDenies: config.agentsWithoutControls === 'deny',
          now,
        }),
      }),
      feature(TemplateService, controls.templates),
      feature(EvaluatorService, evaluatorHandlers(registry)),
      feature(ObservabilityService, {
        ...observability.handlers,
        ...createMarks({ ...config.observability, database, mutate, search: store.search, now }),
      }),
      feature(AuditService, audit.handlers),
      feature(AuthService, runtimeTokens.handlers),
      feature(
        KeyService,
        createKeys({
          database,
          mutate,
          roles: roleTable(config.auth.validationAccess),
          namespaces: programs.namespaces,
          applied: () => programs.liveKeys.refreshed(),
          now,
        }),
      ),
      feature(ApprovalService, approvals.handlers),
      feature(AccessRequestService, approvals.accessRequests),
      feature(AuthzenService, createAuthzen({ evaluations, publicUrl: config.publicUrl })),
      feature(Authorization, createExtAuthz(evaluations)),
      feature(ExtMcp, createExtMcp(evaluations)),
      feature(AdapterService, {
        ...createCodingHooks(evaluations),
        ...createLitellm(evaluations),
        ...createCopilotStudio(evaluations),
        ...createAgentgateway(evaluations),
        ...createAgentHooks(evaluations),
      }),
      feature(HaltService, createHalts({ database, mutate, registry: programs.halts, now })),
      feature(
        MemoryService,
        createLimits({
          database,
          mutate,
          registry,
          memory,
          storeKind,
          maxKeys: config.memory.maxKeys,
          maxBytes: config.memory.maxBytes,
        }),
      ),
      feature(NotificationService, notifications.handlers),
      feature(CoverageService, coverage.handlers),
      feature(ShadowService, shadows.handlers),
      feature(NamespaceService, namespaces.handlers),
      feature(ServerService, { ...serverInfo, ...problems.handlers }),
      // The other RPCs are evaluations, which the transport serves without handlers.
      feature(EvaluationServiceDesc, explain),
    ],
    evaluation,
    observability,
    runtimeTokens,
    eventSinks,
    eventReaders,
    heavySteps,
    memory,
    audit,
    approvals,
    samples,
    problems,
    notifications,
    shadows,
    coverage,
    listUpkeep: createListUpkeep({
      works: [labels.catchUp, createFacetUpkeep({ database, registry }).catchUp, namespaces.finishRemovals],
      revision: () => watch.progress.revision,
      failures,
    }),
    keptEvaluations: () => keptEvaluations,
  };
}

/** `key`: 32 bytes in base64; null for none. */
function sealingWith(key: string | null) {
  return createSealing(key === null ? null : Buffer.from(key, 'base64'));
}

/** An agent in log lines; its namespace is named unless it is `default`. */
function agentFacts(agent: AgentKey): object {
  const name = nameOfKey(agent);
  return agent === name ? { agent } : { agent: name, namespace: namespaceOfKey(agent) };
}

function serverState(
  { config, database, metrics, monotonic }: Foundations,
  { snapshot }: Programs,
  operational: OperationalState,
): ServerState {
  const { state, report } = database.storage;
  const { queued, buffered, dropped } = metrics.events;
  return {
    cannotEvaluateBecause: operational.cannotEvaluateBecause(),
    stalenessSeconds: (monotonic() - snapshot.oldestCurrentAtMs) / 1000,
    controlsFrom: operational.controlsFrom().source,
    databaseUp: operational.databaseUp(),
    storage: { state, problem: report === null ? null : `${report.meaning} ${report.advice}` },
    events: {
      enabled: config.observability.enabled,
      recorded: config.observability.enabled ? config.observability.record : 'none',
      waiting: queued() + buffered(),
      lost: Object.values(dropped.service).reduce((sum, count) => sum + count, 0),
    },
  };
}

/** The meters of the evaluators that the thread for large messages has itself. */
function builtinMeters({ meters }: Foundations): Map<string, EvaluatorMeter> {
  const names = new Set(builtinEvaluators.map(({ name }) => name));
  return new Map([...meters].filter(([name]) => names.has(name)));
}

/** Lines about agents without controls, by the setting. */
const UNCONTROLLED = {
  warn: 'steps of an agent without enabled controls are allowed: link a control or a policy to it, or set SERVICE_AGENTS_WITHOUT_CONTROLS=deny',
  deny: 'steps of an agent without enabled controls are denied: link a control or a policy to it',
} as const;

/** Lines about steps that differ from their registered schemas, by the mode. */
const MISMATCHED = {
  warn: 'a step differs from the schema that its agent registered, and is decided by the controls alone: SERVICE_STEP_SCHEMAS=enforce denies such steps',
  enforce: 'a step is denied because it differs from the schema that its agent registered',
} as const;
