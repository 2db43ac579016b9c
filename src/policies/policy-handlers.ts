import type { PolicyService as PolicyServiceDesc } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { type HandlersOf, handler } from '../contract/call/handler.js';
import type { AgentPolicies } from './agent-policies.js';
import { policySchemas as schemas } from './policy-schemas.js';
import type { PolicyService } from './policy-service.js';

/** The RPCs of PolicyService. */
export function policyHandlers(
  policies: PolicyService,
  agentPolicies: AgentPolicies,
): HandlersOf<typeof PolicyServiceDesc> {
  return {
    createPolicy: handler(schemas.createPolicy, ({ name }, context) => policies.create(context, name)),
    listPolicyControls: handler(schemas.listPolicyControls, (input) =>
      policies.listControls(input.policy_id),
    ),
    addPolicyControl: handler(schemas.addPolicyControl, (input, context) =>
      policies.addControl(context, input.policy_id, input.control_id),
    ),
    removePolicyControl: handler(schemas.removePolicyControl, (input, context) =>
      policies.removeControl(context, input.policy_id, input.control_id),
    ),
    listAgentPolicies: handler(schemas.listAgentPolicies, (input) => agentPolicies.list(input.agent_name)),
    addAgentPolicy: handler(schemas.addAgentPolicy, (input, context) =>
      agentPolicies.add(context, input.agent_name, input.policy_id),
    ),
    removeAgentPolicy: handler(schemas.removeAgentPolicy, (input, context) =>
      agentPolicies.remove(context, input.agent_name, input.policy_id),
    ),
    removeAllAgentPolicies: handler(schemas.removeAllAgentPolicies, (input, context) =>
      agentPolicies.removeAll(context, input.agent_name),
    ),
    getAgentPolicy: handler(schemas.getAgentPolicy, (input) => agentPolicies.lowest(input.agent_name)),
    setAgentPolicy: handler(schemas.setAgentPolicy, (input, context) =>
      agentPolicies.replaceBy(context, input.agent_name, input.policy_id),
    ),
    deleteAgentPolicy: handler(schemas.deleteAgentPolicy, (input, context) =>
      agentPolicies.demandAndRemoveAll(context, input.agent_name),
    ),
  };
}
