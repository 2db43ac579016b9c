import type { PolicyService as PolicyServiceDesc } from '../../../gen/proto/enforcement/v1/policy_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import type { AgentPolicies } from './agent-policies.js';
import type { PolicyAgents } from './policy-agents.js';
import { policySchemas as schemas } from './policy-schemas.js';
import type { PolicyService } from './policy-service.js';

/** The RPCs of PolicyService. */
export function policyHandlers(
  policies: PolicyService,
  agentPolicies: AgentPolicies,
  policyAgents: PolicyAgents,
): HandlersOf<typeof PolicyServiceDesc> {
  return {
    createPolicy: handler(schemas.createPolicy, ({ name }, context) => policies.create(context, name)),
    listPolicies: handler(schemas.listPolicies, ({ cursor, limit, name }, context) =>
      policies.list(context, { cursor, limit, nameContains: name || null }),
    ),
    getPolicy: handler(schemas.getPolicy, (input, context) => policies.get(context, input.policy_id)),
    updatePolicy: handler(schemas.updatePolicy, (input, context) =>
      policies.update(
        context,
        input.policy_id,
        { name: input.name, everyAgent: input.every_agent, labels: input.agent_labels?.labels },
        input.if_version,
      ),
    ),
    deletePolicy: handler(schemas.deletePolicy, (input, context) =>
      policies.remove(context, input.policy_id, input.force, input.if_version),
    ),
    listPolicyAgents: handler(schemas.listPolicyAgents, (input, context) =>
      policies.listAgents(context, input.policy_id, input),
    ),
    listPolicyControls: handler(schemas.listPolicyControls, (input, context) =>
      policies.listControls(context, input.policy_id),
    ),
    addPolicyControl: handler(schemas.addPolicyControl, (input, context) =>
      policies.addControl(context, input.policy_id, input.control_id, input.if_version),
    ),
    removePolicyControl: handler(schemas.removePolicyControl, (input, context) =>
      policies.removeControl(context, input.policy_id, input.control_id, input.if_version),
    ),
    addPolicyAgents: handler(schemas.addPolicyAgents, (input, context) =>
      policyAgents.add(context, input.policy_id, input.agent_names, input.if_version),
    ),
    removePolicyAgents: handler(schemas.removePolicyAgents, (input, context) =>
      policyAgents.remove(context, input.policy_id, input.agent_names),
    ),
    listAgentPolicies: handler(schemas.listAgentPolicies, (input, context) =>
      agentPolicies.list(context, input.agent_name),
    ),
    addAgentPolicy: handler(schemas.addAgentPolicy, (input, context) =>
      agentPolicies.add(context, input.agent_name, input.policy_id),
    ),
    removeAgentPolicy: handler(schemas.removeAgentPolicy, (input, context) =>
      agentPolicies.remove(context, input.agent_name, input.policy_id),
    ),
    removeAllAgentPolicies: handler(schemas.removeAllAgentPolicies, (input, context) =>
      agentPolicies.removeAll(context, input.agent_name),
    ),
    getAgentPolicy: handler(schemas.getAgentPolicy, (input, context) =>
      agentPolicies.lowest(context, input.agent_name),
    ),
    setAgentPolicy: handler(schemas.setAgentPolicy, (input, context) =>
      agentPolicies.replaceBy(context, input.agent_name, input.policy_id),
    ),
    deleteAgentPolicy: handler(schemas.deleteAgentPolicy, (input, context) =>
      agentPolicies.demandAndRemoveAll(context, input.agent_name),
    ),
  };
}
