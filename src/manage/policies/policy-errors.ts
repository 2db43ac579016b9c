import { ServiceError } from '../../contract/errors/service-error.js';

export function policyNotFound(policyId: number): ServiceError {
  return new ServiceError('POLICY_NOT_FOUND', {
    detail: `Policy ${policyId} was not found.`,
    hint: 'Check the id.',
    name: String(policyId),
    kind: 'Policy',
  });
}

/** The agent exists and has no policy, where one is required. */
export function agentWithoutPolicy(agentName: string): ServiceError {
  return new ServiceError('POLICY_NOT_FOUND', {
    detail: `Policy not found: agent "${agentName}" has none.`,
    hint: 'Give it one with POST /agents/{name}/policies/{policy_id}.',
    kind: 'Policy',
  });
}

/** Lists the given agents, which are the first ones with the policy. */
export function policyInUse(name: string, agentNames: readonly string[], count: number): ServiceError {
  return new ServiceError('POLICY_IN_USE', {
    detail: `${count} ${count === 1 ? 'agent has' : 'agents have'} the policy "${name}".`,
    hint: 'Remove it from them first, or delete it with force=true.',
    name,
    kind: 'Policy',
    items: agentNames.map((agentName) => ({
      resource: 'Agent',
      field: 'policies',
      code: 'policy_in_use',
      message: 'has this policy',
      value: agentName,
    })),
  });
}

/** The policy is for every agent, so it cannot be removed from one. */
export function policyOfEveryAgent(name: string): ServiceError {
  return new ServiceError('POLICY_IN_USE', {
    detail: `The policy "${name}" is for every agent, and cannot be removed from one.`,
    hint: 'Update the policy with every_agent false first.',
    name,
    kind: 'Policy',
  });
}

/** These agents have the labels of the policy, so it cannot be removed from them. */
export function policyOfLabels(name: string, labels: string, agentNames: readonly string[]): ServiceError {
  return new ServiceError('POLICY_IN_USE', {
    detail: `The policy "${name}" is for all agents with ${labels}, and cannot be removed from one that has them.`,
    hint: 'Change agent_labels of the policy, or the labels of the agent, first.',
    name,
    kind: 'Policy',
    items: agentNames.map((agentName) => ({
      resource: 'Agent',
      field: 'policies',
      code: 'policy_in_use',
      message: `agent "${agentName}" has this policy by its labels`,
    })),
  });
}

export function policyNameConflict(name: string): ServiceError {
  return new ServiceError('POLICY_NAME_CONFLICT', {
    detail: `The name "${name}" is taken by another policy.`,
    hint: 'Choose another name, or use the existing policy.',
    name,
    kind: 'Policy',
    items: [{ resource: 'Policy', field: 'name', code: 'name_conflict', message: 'is taken', value: name }],
  });
}
