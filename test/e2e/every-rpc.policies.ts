import {
  error,
  invalid,
  NO_AGENT,
  NO_CONTROL,
  NO_KEY,
  NOT_ADMIN,
  READER_KEY,
  type Step,
} from './every-rpc.support.js';

const NO_POLICY = error('POLICY_NOT_FOUND', 404, 'NotFound', []);
const SUCCESS = { reply: { success: true } };
/** What the script before this leaves behind. */
const AGENT = 'support-bot-01';
const CONTROL = 3;
const EVALUATION = {
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input: '4111111111111111' },
  detail: 'full',
};
const IS_CHECKED = { reply: { is_safe: false, matches: [{ control_id: CONTROL, action: 'deny' }] } };
const IS_NOT_CHECKED = { reply: { is_safe: true, matches: [], non_matches: [] } };

/** The part of the script that is about policies. */
export const POLICY_STEPS: readonly Step[] = [
  {
    rpc: 'PolicyService.CreatePolicy',
    what: 'creates an empty policy',
    input: { name: ' payments ' },
    expected: { reply: { policy_id: 1 } },
  },
  {
    rpc: 'PolicyService.CreatePolicy',
    what: 'creates another one',
    input: { name: 'Payments' },
    expected: { reply: { policy_id: 2 } },
  },
  {
    rpc: 'PolicyService.CreatePolicy',
    what: 'refuses a name that is taken',
    input: { name: 'payments' },
    expected: error('POLICY_NAME_CONFLICT', 409, 'AlreadyExists', ['name name_conflict']),
  },
  {
    rpc: 'PolicyService.CreatePolicy',
    what: 'demands a name',
    input: {},
    expected: invalid('name missing'),
  },
  {
    rpc: 'PolicyService.CreatePolicy',
    what: 'is for administrators',
    input: { name: 'mine' },
    key: READER_KEY,
    expected: NOT_ADMIN,
  },
  {
    rpc: 'PolicyService.AddPolicyControl',
    what: 'puts a control into a policy',
    input: { policy_id: 1, control_id: CONTROL },
    expected: SUCCESS,
  },
  {
    rpc: 'PolicyService.AddPolicyControl',
    what: 'looks for the policy first',
    input: { policy_id: 99, control_id: 99 },
    expected: NO_POLICY,
  },
  {
    rpc: 'PolicyService.AddPolicyControl',
    what: 'does not find an unknown control',
    input: { policy_id: 1, control_id: 99 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'PolicyService.ListPolicyControls',
    what: 'lists the controls of a policy with a regular key',
    input: { policy_id: 1 },
    key: READER_KEY,
    expected: { reply: { control_ids: [CONTROL] } },
  },
  {
    rpc: 'PolicyService.ListPolicyControls',
    what: 'does not find an unknown policy',
    input: { policy_id: 99 },
    expected: NO_POLICY,
  },
  {
    rpc: 'PolicyService.GetAgentPolicy',
    what: 'finds no policy of an agent without any',
    input: { agent_name: AGENT },
    expected: NO_POLICY,
  },
  {
    rpc: 'PolicyService.DeleteAgentPolicy',
    what: 'finds no policy of an agent without any',
    input: { agent_name: AGENT },
    expected: NO_POLICY,
  },
  {
    rpc: 'PolicyService.SetAgentPolicy',
    what: 'gives an agent its first policy',
    input: { agent_name: AGENT, policy_id: 2 },
    expected: { reply: { success: true, old_policy_id: null } },
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'evaluates nothing for an empty policy',
    input: EVALUATION,
    expected: IS_NOT_CHECKED,
  },
  {
    rpc: 'PolicyService.AddAgentPolicy',
    what: 'gives an agent another policy',
    input: { agent_name: ' Support-Bot-01 ', policy_id: 1 },
    expected: SUCCESS,
  },
  {
    rpc: 'PolicyService.AddAgentPolicy',
    what: 'looks for the agent first',
    input: { agent_name: 'nobody-at-all', policy_id: 99 },
    expected: NO_AGENT,
  },
  {
    rpc: 'PolicyService.AddAgentPolicy',
    what: 'does not find an unknown policy',
    input: { agent_name: AGENT, policy_id: 99 },
    expected: NO_POLICY,
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'evaluates the controls of a policy',
    input: EVALUATION,
    expected: IS_CHECKED,
  },
  {
    rpc: 'PolicyService.ListAgentPolicies',
    what: 'lists the policies of an agent with a regular key',
    input: { agent_name: AGENT },
    key: READER_KEY,
    expected: { reply: { policy_ids: [1, 2] } },
  },
  {
    rpc: 'PolicyService.ListAgentPolicies',
    what: 'refuses a name that can be no agent',
    input: { agent_name: 'short' },
    expected: invalid('agent_name invalid_format'),
  },
  {
    rpc: 'PolicyService.ListAgentPolicies',
    what: 'requires a key',
    input: { agent_name: AGENT },
    key: null,
    expected: NO_KEY,
  },
  {
    rpc: 'PolicyService.GetAgentPolicy',
    what: 'reads the lowest id',
    input: { agent_name: AGENT },
    expected: { reply: { policy_id: 1 } },
  },
  {
    rpc: 'AgentService.ListAgents',
    what: 'shows policies and what they bring',
    input: { name: AGENT },
    expected: { reply: { agents: [{ policy_ids: [1, 2], active_controls_count: 1 }] } },
  },
  {
    rpc: 'ControlService.ListControls',
    what: 'counts who has a control by a policy',
    input: { limit: 1 },
    expected: {
      reply: { controls: [{ id: CONTROL, used_by_agent: { agent_name: AGENT }, used_by_agents_count: 1 }] },
    },
  },
  {
    rpc: 'ControlService.DeleteControl',
    what: 'keeps a control that is in a policy',
    input: { control_id: CONTROL },
    expected: error('CONTROL_IN_USE', 409, 'FailedPrecondition', ['controls control_in_use']),
  },
  {
    rpc: 'PolicyService.SetAgentPolicy',
    what: 'replaces all policies by one',
    input: { agent_name: AGENT, policy_id: 2 },
    expected: { reply: { success: true, old_policy_id: 1 } },
  },
  {
    rpc: 'PolicyService.SetAgentPolicy',
    what: 'does not find an unknown policy',
    input: { agent_name: AGENT, policy_id: 99 },
    expected: NO_POLICY,
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'does not ask the controls of a policy that was replaced',
    input: EVALUATION,
    expected: IS_NOT_CHECKED,
  },
  {
    rpc: 'PolicyService.RemoveAgentPolicy',
    what: 'takes a policy from an agent',
    input: { agent_name: AGENT, policy_id: 2 },
    expected: SUCCESS,
  },
  {
    rpc: 'PolicyService.RemoveAgentPolicy',
    what: 'does not find an unknown policy',
    input: { agent_name: AGENT, policy_id: 99 },
    expected: NO_POLICY,
  },
  {
    rpc: 'PolicyService.RemoveAllAgentPolicies',
    what: 'takes what is not there',
    input: { agent_name: AGENT },
    expected: SUCCESS,
  },
  {
    rpc: 'PolicyService.RemoveAllAgentPolicies',
    what: 'does not find an unknown agent',
    input: { agent_name: 'nobody-at-all' },
    expected: NO_AGENT,
  },
  {
    rpc: 'PolicyService.AddPolicyAgents',
    what: 'gives a policy to several agents at once',
    input: { policy_id: 1, agent_names: [AGENT, ' Support-Bot-01 '] },
    expected: { reply: { success: true, added: 1 } },
  },
  {
    rpc: 'PolicyService.AddPolicyAgents',
    what: 'counts agents that did not have it',
    input: { policy_id: 1, agent_names: [AGENT] },
    expected: { reply: { success: true, added: 0 } },
  },
  {
    rpc: 'PolicyService.AddPolicyAgents',
    what: 'names every agent that is not registered',
    input: { policy_id: 1, agent_names: ['nobody-at-all', AGENT, 'nobody-else-either'] },
    expected: error('AGENT_NOT_FOUND', 404, 'NotFound', [
      'agent_names[0] not_found',
      'agent_names[2] not_found',
    ]),
  },
  {
    rpc: 'PolicyService.AddPolicyAgents',
    what: 'refuses names that can be no agent',
    input: { policy_id: 1, agent_names: [AGENT, 'short'] },
    expected: invalid('agent_names[1] value_error'),
  },
  {
    rpc: 'PolicyService.AddPolicyAgents',
    what: 'demands agents',
    input: { policy_id: 1 },
    expected: invalid('agent_names missing'),
  },
  {
    rpc: 'PolicyService.AddPolicyAgents',
    what: 'is for administrators',
    input: { policy_id: 1, agent_names: [AGENT] },
    key: READER_KEY,
    expected: NOT_ADMIN,
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'evaluates the controls of a policy that was given to several agents',
    input: EVALUATION,
    expected: IS_CHECKED,
  },
  {
    rpc: 'PolicyService.RemovePolicyAgents',
    what: 'takes a policy from several agents at once',
    input: { policy_id: 1, agent_names: [AGENT] },
    expected: { reply: { success: true, removed: 1 } },
  },
  {
    rpc: 'PolicyService.RemovePolicyAgents',
    what: 'does not find an unknown policy',
    input: { policy_id: 99, agent_names: [AGENT] },
    expected: NO_POLICY,
  },
  {
    rpc: 'PolicyService.AddAgentPolicy',
    what: 'gives a policy once more',
    input: { agent_name: AGENT, policy_id: 1 },
    expected: SUCCESS,
  },
  {
    rpc: 'PolicyService.RemovePolicyControl',
    what: 'takes a control out of a policy',
    input: { policy_id: 1, control_id: CONTROL },
    expected: SUCCESS,
  },
  {
    rpc: 'PolicyService.RemovePolicyControl',
    what: 'does not find an unknown policy',
    input: { policy_id: 99, control_id: CONTROL },
    expected: NO_POLICY,
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'does not ask a control that was taken out of a policy',
    input: EVALUATION,
    expected: IS_NOT_CHECKED,
  },
  {
    rpc: 'PolicyService.DeleteAgentPolicy',
    what: 'takes all policies from an agent',
    input: { agent_name: AGENT },
    expected: SUCCESS,
  },
  {
    rpc: 'PolicyService.AddAgentPolicy',
    what: 'gives a policy to an agent that has none any more',
    input: { agent_name: AGENT, policy_id: 1 },
    expected: SUCCESS,
  },
  {
    rpc: 'PolicyService.RemoveAllAgentPolicies',
    what: 'takes all policies from an agent',
    input: { agent_name: AGENT },
    expected: SUCCESS,
  },
  {
    rpc: 'PolicyService.ListAgentPolicies',
    what: 'lists none any more',
    input: { agent_name: AGENT },
    expected: { reply: { policy_ids: [] } },
  },
];
