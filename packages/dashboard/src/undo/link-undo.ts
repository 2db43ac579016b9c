import { createClient } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { transport } from '../data/transport.js';
import type { UndoOffer } from './undo-store.js';

const agents = createClient(AgentService, transport);
const policies = createClient(PolicyService, transport);

/** Something that has a name for people and an id for calls. */
interface Named {
  readonly id: number;
  readonly name: string;
}

/** For a control whose direct link to an agent was removed. */
export function unlinkUndo(agentName: string, control: Named): UndoOffer {
  return {
    text: `${control.name} was unlinked from ${agentName}.`,
    change: AgentService.method.addAgentControl,
    async undo() {
      await agents.addAgentControl({ agentName, controlId: control.id });
      return { text: `${control.name} is linked to ${agentName} again.` };
    },
  };
}

/** For a control that was taken out of a policy. */
export function policyControlUndo(policy: Named, control: Named): UndoOffer {
  return {
    text: `${control.name} was removed from ${policy.name}.`,
    change: PolicyService.method.addPolicyControl,
    async undo() {
      await policies.addPolicyControl({ policyId: policy.id, controlId: control.id });
      return { text: `${control.name} is in ${policy.name} again.` };
    },
  };
}

/** For agents that a policy was taken from. */
export function policyAgentsUndo(policy: Named, agentNames: readonly string[]): UndoOffer {
  const who = agentNames.length === 1 ? (agentNames[0] ?? '') : `${agentNames.length} agents`;
  return {
    text: `${policy.name} was taken from ${who}.`,
    change: PolicyService.method.addPolicyAgents,
    async undo() {
      await policies.addPolicyAgents({ policyId: policy.id, agentNames: [...agentNames] });
      return {
        text:
          agentNames.length === 1 ? `${who} has ${policy.name} again.` : `${who} have ${policy.name} again.`,
      };
    },
  };
}
