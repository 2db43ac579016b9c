import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { createConnectQueryKey } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { AuditService } from '@gen/enforcement/v1/audit_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { HaltService } from '@gen/enforcement/v1/halt_service_pb.js';
import { MemoryService } from '@gen/enforcement/v1/memory_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { ShadowService } from '@gen/enforcement/v1/shadow_service_pb.js';

const agents = AgentService.method;
const controls = ControlService.method;
const policies = PolicyService.method;

/** Most changes touch all of these: each shows numbers and names of the others. */
const LINKED: readonly DescService[] = [AgentService, ControlService, PolicyService];

/** The services whose replies are not the same after a change, for those that touch fewer. */
const TOUCHED = new Map<DescMethod, readonly DescService[]>([
  [agents.updateAgent, [AgentService]],
  [agents.addAgentControl, [AgentService, ControlService]],
  [agents.removeAgentControl, [AgentService, ControlService]],
  [controls.createControl, [ControlService]],
  // Agents have numbers of controls that are on.
  [controls.updateControl, [AgentService, ControlService]],
  [controls.setControlData, [AgentService, ControlService]],
  [controls.restoreControlVersion, [AgentService, ControlService]],
  [policies.createPolicy, [PolicyService]],
  [ShadowService.method.setShadow, [ShadowService]],
  [ShadowService.method.dropShadow, [ShadowService]],
  [HaltService.method.createHalt, [HaltService]],
  [HaltService.method.liftHalt, [HaltService]],
  [MemoryService.method.resetMemoryKey, [MemoryService]],
]);

/** Services whose changes touch nothing else. By name: what a page needs of them is loaded with it. */
const ALONE: ReadonlySet<string> = new Set(
  ['ApprovalService', 'CoverageService', 'NotificationService', 'ObservabilityService', 'SampleService'].map(
    (name) => `enforcement.v1.${name}`,
  ),
);

/** What every change touches: the audit log has an entry of it, and the state of the server a new revision. */
const ALWAYS: readonly DescService[] = [AuditService, ServerService];

/** The keys of all queries whose data a change can make others. */
export function touchedBy(change: DescMethod) {
  const { parent } = change;
  const usual = ALONE.has(parent.typeName) ? [parent] : [...LINKED, parent];
  return [...(TOUCHED.get(change) ?? usual), ...ALWAYS].map(queriesOf);
}

/** The key that keys of all queries of a service begin with. */
export function queriesOf(schema: DescService) {
  return createConnectQueryKey({ schema, cardinality: undefined });
}
