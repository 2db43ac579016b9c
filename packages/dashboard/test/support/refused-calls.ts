import { getOption } from '@bufbuild/protobuf';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ApprovalService } from '@gen/enforcement/v1/approval_service_pb.js';
import { AuditService } from '@gen/enforcement/v1/audit_service_pb.js';
import { ControlBindingService } from '@gen/enforcement/v1/control_binding_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { CoverageService } from '@gen/enforcement/v1/coverage_service_pb.js';
import { EvaluationService } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { EvaluatorService } from '@gen/enforcement/v1/evaluator_service_pb.js';
import { HaltService } from '@gen/enforcement/v1/halt_service_pb.js';
import { KeyService } from '@gen/enforcement/v1/key_service_pb.js';
import { MemoryService } from '@gen/enforcement/v1/memory_service_pb.js';
import { NamespaceService } from '@gen/enforcement/v1/namespace_service_pb.js';
import { NotificationService } from '@gen/enforcement/v1/notification_service_pb.js';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { AgentScope, agent_scope, scopes } from '@gen/enforcement/v1/options_pb.js';
import { PackService } from '@gen/enforcement/v1/pack_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { SampleService } from '@gen/enforcement/v1/sample_service_pb.js';
import { ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { ShadowService } from '@gen/enforcement/v1/shadow_service_pb.js';
import { TemplateService } from '@gen/enforcement/v1/template_service_pb.js';
import { type Caller, scopesOfCaller } from './callers.js';
import type { ShownPage } from './render-page.js';

const SERVICES = [
  ...[AgentService, ApprovalService, AuditService, ControlBindingService, ControlService, CoverageService],
  ...[EvaluationService, EvaluatorService, HaltService, KeyService, MemoryService, NamespaceService],
  ...[NotificationService, ObservabilityService, PackService, PolicyService, SampleService, ServerService],
  ...[ShadowService, TemplateService],
];

/** Names of the RPCs that the page has called, although the service refuses them to the caller. */
export function refusedCalls({ sent }: Pick<ShownPage, 'sent'>, caller: Caller): string[] {
  const own = new Set(scopesOfCaller(caller));
  const isLimited = caller.agents !== undefined;
  return SERVICES.flatMap(({ methods }) => methods)
    .filter((method) => sent(method).length > 0)
    .filter((method) => {
      const needed = getOption(method, scopes);
      const isBeyond = isLimited && getOption(method, agent_scope) === AgentScope.BEYOND;
      return isBeyond || (needed.length > 0 && !needed.some((scope) => own.has(scope)));
    })
    .map(({ name }) => name);
}
