import { AccessRequestService } from '../../../gen/proto/enforcement/v1/access_request_service_pb.js';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ApprovalService } from '../../../gen/proto/enforcement/v1/approval_service_pb.js';
import { AuditService } from '../../../gen/proto/enforcement/v1/audit_service_pb.js';
import { AuthService } from '../../../gen/proto/enforcement/v1/auth_service_pb.js';
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
import { roleTable } from '../../contract/call/scopes.js';
import { inPackage, VERSION } from '../../contract/runtime/package-root.js';
import { MAX_EVALUATIONS } from '../../decide/decisions/evaluate-request.js';
import type { EvaluationService } from '../../decide/decisions/evaluation-service.js';
import { createHalts } from '../../decide/halts/halts.js';
import { evaluatorHandlers } from '../../kernel/evaluators/evaluator-handlers.js';
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
import { createPacks } from '../../manage/pack-installations/packs.js';
import { openPackCatalogue } from '../../manage/packs/catalogue.js';
import { createPolicies } from '../../manage/policies/policies.js';
import { createAudit } from '../../observe/audit/audit.js';
import type { Coverage } from '../../observe/coverage/coverage.js';
import { createMarks } from '../../observe/events/marks/marks.js';
import { createExplain } from '../../observe/explain/explain.js';
import { createProblems, type Problems } from '../../observe/problems/problems.js';
import { createPackPreview } from '../../observe/replay/pack-preview.js';
import { createReplay } from '../../observe/replay/replay.js';
import { createServerInfo } from '../../observe/server-info/server-info.js';
import { STREAM_WINDOW } from '../../serve/evaluation/evaluation-calls.js';
import type { HeavyStepThread } from '../../serve/heavy-steps/heavy-steps.js';
import { maxReplyBytes } from '../../serve/wire/reply.js';
import type { OperationalState } from '../operations/operations-routes.js';
import { createAdapterFeatures } from './adapter-features.js';
import { createEvaluationParts } from './evaluation-parts.js';
import { createEventParts } from './event-parts.js';
import { type Feature, feature } from './feature.js';
import type { Foundations } from './foundations.js';
import { createListUpkeep } from './list-upkeep.js';
import type { Programs } from './programs.js';
import { createRuntimeTokenParts, type RuntimeTokenParts } from './runtime-auth.js';
import { serverState } from './server-state.js';

/** The functions of the service, independent of protocols. */
export interface Features {
  readonly features: readonly Feature[];
  readonly evaluation: EvaluationService;
  readonly runtimeTokens: RuntimeTokenParts;
  /** The thread for large messages of evaluations and explanations. */
  readonly heavySteps: HeavyStepThread;
  readonly problems: Problems;
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
  const { config, log, parts, failures, database, registry, metrics, now, monotonic } = foundations;
  const { library, newExecutionId, stepSchemas, feed, watch, mutate } = programs;
  const shared = { database, mutate, registry, now, strict: config.strictDefinitions };
  const controls = createControls({
    ...shared,
    referenceProblems: evaluatorReferenceProblems,
    registrationNotes: createRegistrationNotes(),
    registeredTypes: createRegisteredTypes(),
  });
  const events = await createEventParts(foundations, programs);
  const { store, observability } = events;
  const audit = createAudit({ config: config.audit, database, log, failures, now });
  parts.add({ keep: audit.upkeep.start, close: audit.upkeep.close });
  const labels = createLabelUpkeep({ database, now });
  const evaluationParts = await createEvaluationParts(foundations, programs, events, controls);
  const { evaluation, heavySteps, memory, storeKind, trial, sampleSealing } = evaluationParts;
  const { approvals, notifications, shadows, samples, coverage, mismatches, keptEvaluations } =
    evaluationParts;
  const namespaces = createNamespaces({
    database,
    mutate,
    registry,
    known: programs.namespaces,
    forgetMemory: memory.removeNamespace,
    failures,
    now,
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
  const listUpkeep = createListUpkeep({
    works: [labels.catchUp, createFacetUpkeep({ database, registry }).catchUp, namespaces.finishRemovals],
    revision: () => watch.progress.revision,
    failures,
  });
  parts.add({ keep: listUpkeep.start, close: listUpkeep.close });
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
          ...shared,
          feed,
          stepSchemas: { modeOf: stepSchemas.modeOf, mismatchedSteps: mismatches.of },
          monotonic,
          maxReplyBytes: maxReplyBytes(config.limits.bodyBytes),
        }),
      ),
      feature(ControlService, controls.controls),
      feature(ControlBindingService, createBindings(shared)),
      feature(PolicyService, createPolicies({ ...shared, catchUpLabels: labels.catchUp })),
      feature(PackService, {
        ...createPacks({ ...shared, catalogue }),
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
          ...shared,
          newReviewer: () =>
            createReviewer({ ...shared, registrationNotes: createSharedRegistrationNotes() }),
          referenceProblems: evaluatorReferenceProblems,
          catalogue,
          catchUpLabels: labels.catchUp,
        }),
        ...createLint({ ...shared, maxWindowMs: config.memory.maxWindowMs }),
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
      ...(await createAdapterFeatures(foundations, evaluation)),
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
    runtimeTokens,
    heavySteps,
    problems,
    coverage,
    keptEvaluations,
  };
}
