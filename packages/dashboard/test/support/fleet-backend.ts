import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlBindingService } from '@gen/enforcement/v1/control_binding_service_pb.js';
import { Decision, Execution } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { CoverageService } from '@gen/enforcement/v1/coverage_service_pb.js';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { PackService } from '@gen/enforcement/v1/pack_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import type { Backend } from './render-page.js';

export const AGENT = 'billing-bot-01';
/** The id of `no-card-numbers`, which is linked to the agent; `watch-refunds` follows it. */
export const CARDS_ID = 1;
const WRITTEN_AT = '2026-11-01T10:00:00Z';

const definition = (decision: Decision, pattern: string) => ({
  execution: Execution.SERVER,
  enabled: true,
  condition: { selector: { path: 'input.text' }, evaluator: { name: 'regex', config: { pattern } } },
  action: { decision },
});
const CONTROLS = [
  { id: CARDS_ID, name: 'no-card-numbers', data: definition(Decision.DENY, '\\b\\d{16}\\b') },
  { id: 2, name: 'watch-refunds', data: definition(Decision.OBSERVE, 'refund') },
] as const;
const POLICY = { id: 1, name: 'mail-policy', controlIds: [2], agentCount: 1 };
const LINKED = { agentName: AGENT, direct: true };
const ONE = { total: 1 };

/** An agent with two controls, of which it has one through a policy, and a pack that is not installed. */
export const hasFleet: Backend = ({ rpc }) => {
  const agent = { agentName: AGENT, createdAt: WRITTEN_AT, stepCount: 1, activeControlsCount: 2 };
  const controls = CONTROLS.map(({ data, ...control }) => ({ ...control, control: data }));
  rpc(AgentService.method.listAgents, () => ({ agents: [agent], pagination: ONE }));
  rpc(AgentService.method.getAgent, () => ({
    agent: { agentName: AGENT, agentCreatedAt: WRITTEN_AT },
    steps: [{ type: 'tool', name: 'send_mail' }],
    linkedControlIds: [CARDS_ID],
    lastEvaluatedAt: WRITTEN_AT,
  }));
  rpc(AgentService.method.listAgentControls, () => ({ controls }));
  rpc(AgentService.method.watchControls, async function* (_request, { signal }) {
    yield { revision: 7n, news: { case: 'full' as const, value: { controls } } };
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  });
  rpc(ControlService.method.listControls, () => ({
    controls: CONTROLS.map(({ id, name, data: { execution, action } }) => ({
      id,
      name,
      execution,
      action,
      enabled: true,
      usedByAgentsCount: 1,
    })),
    pagination: { total: CONTROLS.length },
  }));
  rpc(ControlService.method.getControl, ({ controlId }) => {
    const found = CONTROLS.find(({ id }) => id === controlId) ?? CONTROLS[0];
    return { id: found.id, name: found.name, data: found.data, action: found.data.action, version: 1n };
  });
  rpc(ControlService.method.listControlAgents, () => ({ agents: [LINKED], pagination: ONE }));
  rpc(ControlService.method.listControlPolicies, () => ({ policies: [POLICY], pagination: ONE }));
  rpc(ControlService.method.listControlVersions, () => ({
    versions: [{ versionNum: 1, createdAt: WRITTEN_AT }],
    pagination: ONE,
  }));
  rpc(ControlService.method.getControlVersion, () => ({ versionNum: 1, createdAt: WRITTEN_AT }));
  rpc(ControlService.method.validateControl, () => ({}));
  rpc(ControlBindingService.method.listControlBindings, () => ({ pagination: { total: 0 } }));
  rpc(CoverageService.method.listCoverage, () => ({
    agents: [{ agentName: AGENT, evaluated: 3n, registeredSteps: 1 }],
    summary: { agents: 1 },
    pagination: ONE,
  }));
  rpc(PolicyService.method.listPolicies, () => ({ policies: [POLICY], pagination: ONE }));
  rpc(PolicyService.method.getPolicy, () => ({ policy: POLICY, version: 1n }));
  rpc(PolicyService.method.listPolicyAgents, () => ({ agents: [{ agentName: AGENT }], pagination: ONE }));
  rpc(PolicyService.method.listAgentPolicies, () => ({ policyIds: [1], policies: [POLICY] }));
  rpc(ObservabilityService.method.getEvaluationStats, () => ({ counts: { evaluated: 3n } }));
  rpc(ObservabilityService.method.getStatsOverview, () => ({ totals: {} }));
  rpc(ObservabilityService.method.getStats, () => ({ totals: {} }));
  rpc(ObservabilityService.method.queryEvents, () => ({}));
  rpc(ObservabilityService.method.listFalsePositives, () => ({}));
  const pack = { name: 'secrets', version: '1.0.0', title: 'Secrets', builtIn: true };
  rpc(PackService.method.listPacks, () => ({ packs: [pack] }));
  rpc(PackService.method.getPack, () => ({ pack }));
  rpc(PackService.method.listPackInstallations, () => ({}));
};
