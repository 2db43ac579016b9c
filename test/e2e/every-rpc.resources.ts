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
const MISMATCH = error('VERSION_MISMATCH', 412, 'Aborted', ['if_version version_mismatch']);
/** What the scripts before this leave behind. */
const CONTROL = 3;
const POLICY = 3;
const AGENT = 'resource-bot-01';
const OTHER = 'resource-bot-02';
const EVALUATION = {
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input: '4111111111111111' },
  detail: 'full',
};
const page = (total: number, next: string | null = null) => ({
  total,
  next_cursor: next,
  has_more: next !== null,
});

/** The part of the script about versions, about what uses policies and controls, and about deleting. */
export const RESOURCE_STEPS: readonly Step[] = [
  {
    rpc: 'AgentService.InitAgent',
    what: 'refuses to register an agent that has to exist in a version',
    input: { agent: { agent_name: AGENT }, if_version: 1 },
    expected: MISMATCH,
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'registers an agent that must not exist yet',
    input: { agent: { agent_name: AGENT }, if_version: 0, omit_controls: true },
    expected: { reply: { created: true, controls: [] } },
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'refuses a registration for another version',
    input: { agent: { agent_name: AGENT, agent_version: '2' }, if_version: 2 },
    expected: MISMATCH,
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'refuses a version that is no number',
    input: { agent: { agent_name: AGENT }, if_version: -1 },
    expected: invalid('if_version greater_than_equal'),
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'registers another agent',
    input: { agent: { agent_name: OTHER } },
    expected: { reply: { created: true } },
  },
  {
    rpc: 'PolicyService.CreatePolicy',
    what: 'creates a policy for several agents',
    input: { name: 'shared' },
    expected: { reply: { policy_id: POLICY } },
  },
  {
    rpc: 'PolicyService.AddPolicyControl',
    what: 'refuses another version of the policy',
    input: { policy_id: POLICY, control_id: CONTROL, if_version: 2 },
    expected: MISMATCH,
  },
  {
    rpc: 'PolicyService.AddPolicyControl',
    what: 'puts a control into a version of a policy',
    input: { policy_id: POLICY, control_id: CONTROL, if_version: 1 },
    expected: { reply: { success: true } },
  },
  {
    rpc: 'PolicyService.UpdatePolicy',
    what: 'renames a version of a policy',
    input: { policy_id: POLICY, name: ' shared-rules ', if_version: 2 },
    expected: {
      reply: {
        policy: { id: POLICY, name: 'shared-rules', control_ids: [CONTROL], version: 3, agent_count: 0 },
      },
    },
  },
  {
    rpc: 'PolicyService.UpdatePolicy',
    what: 'refuses another version of the policy',
    input: { policy_id: POLICY, name: 'late', if_version: 2 },
    expected: MISMATCH,
  },
  {
    rpc: 'PolicyService.UpdatePolicy',
    what: 'refuses a name that is taken',
    input: { policy_id: POLICY, name: 'payments' },
    expected: error('POLICY_NAME_CONFLICT', 409, 'AlreadyExists', ['name name_conflict']),
  },
  {
    rpc: 'PolicyService.UpdatePolicy',
    what: 'demands a name',
    input: { policy_id: POLICY },
    expected: invalid('name missing'),
  },
  {
    rpc: 'PolicyService.UpdatePolicy',
    what: 'does not find an unknown policy',
    input: { policy_id: 99, name: 'other', if_version: 7 },
    expected: NO_POLICY,
  },
  {
    rpc: 'PolicyService.UpdatePolicy',
    what: 'is for administrators',
    input: { policy_id: POLICY, name: 'mine' },
    key: READER_KEY,
    expected: NOT_ADMIN,
  },
  {
    rpc: 'PolicyService.AddPolicyAgents',
    what: 'refuses another version of the policy',
    input: { policy_id: POLICY, agent_names: [AGENT, OTHER], if_version: 2 },
    expected: MISMATCH,
  },
  {
    rpc: 'PolicyService.AddPolicyAgents',
    what: 'gives a version of a policy to several agents',
    input: { policy_id: POLICY, agent_names: [AGENT, OTHER], if_version: 3 },
    expected: { reply: { added: 2 } },
  },
  {
    rpc: 'PolicyService.GetPolicy',
    what: 'reads a policy with a regular key',
    input: { policy_id: POLICY },
    key: READER_KEY,
    expected: { reply: { policy: { name: 'shared-rules', version: 3, agent_count: 2 } } },
  },
  {
    rpc: 'PolicyService.GetPolicy',
    what: 'does not find an unknown policy',
    input: { policy_id: 99 },
    expected: NO_POLICY,
  },
  {
    rpc: 'PolicyService.ListPolicies',
    what: 'lists policies, the newest first',
    input: { limit: 2 },
    expected: {
      reply: { policies: [{ id: POLICY }, { id: 2 }], pagination: page(3, '2') },
    },
  },
  {
    rpc: 'PolicyService.ListPolicies',
    what: 'continues after a policy',
    input: { limit: 2, cursor: '2' },
    expected: {
      reply: {
        policies: [{ id: 1, name: 'payments', control_ids: [], agent_count: 0 }],
        pagination: page(3),
      },
    },
  },
  {
    rpc: 'PolicyService.ListPolicies',
    what: 'filters by a part of the name',
    input: { name: 'SHARED' },
    expected: { reply: { policies: [{ id: POLICY }], pagination: page(1) } },
  },
  {
    rpc: 'PolicyService.ListPolicies',
    what: 'refuses a page that is too large',
    input: { limit: 101 },
    expected: invalid('limit less_than_equal'),
  },
  {
    rpc: 'PolicyService.ListPolicyAgents',
    what: 'lists the agents of a policy by name',
    input: { policy_id: POLICY, limit: 1 },
    expected: { reply: { agents: [{ agent_name: AGENT }], pagination: page(2, AGENT) } },
  },
  {
    rpc: 'PolicyService.ListPolicyAgents',
    what: 'continues after an agent',
    input: { policy_id: POLICY, limit: 1, cursor: AGENT },
    expected: { reply: { agents: [{ agent_name: OTHER }], pagination: page(2) } },
  },
  {
    rpc: 'PolicyService.ListPolicyAgents',
    what: 'does not find an unknown policy',
    input: { policy_id: 99 },
    expected: NO_POLICY,
  },
  {
    rpc: 'AgentService.AddAgentControl',
    what: 'refuses another version of the registration',
    input: { agent_name: OTHER, control_id: CONTROL, if_version: 2 },
    expected: MISMATCH,
  },
  {
    rpc: 'AgentService.AddAgentControl',
    what: 'links a control to a version of the registration',
    input: { agent_name: OTHER, control_id: CONTROL, if_version: 1 },
    expected: { reply: { success: true } },
  },
  {
    rpc: 'ControlService.ListControlAgents',
    what: 'lists who has a control, and how',
    input: { control_id: CONTROL, cursor: 'resource' },
    expected: {
      reply: {
        agents: [
          { agent_name: AGENT, direct: false, policy_ids: [POLICY] },
          { agent_name: OTHER, direct: true, policy_ids: [POLICY] },
        ],
      },
    },
  },
  {
    rpc: 'ControlService.ListControlAgents',
    what: 'lists one page',
    input: { control_id: CONTROL, cursor: 'resource', limit: 1 },
    expected: {
      reply: { agents: [{ agent_name: AGENT }], pagination: { next_cursor: AGENT, has_more: true } },
    },
  },
  {
    rpc: 'ControlService.ListControlAgents',
    what: 'does not find an unknown control',
    input: { control_id: 99 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'ControlService.ListControlPolicies',
    what: 'lists the policies with a control',
    input: { control_id: CONTROL },
    expected: { reply: { policies: [{ id: POLICY, name: 'shared-rules' }], pagination: page(1) } },
  },
  {
    rpc: 'ControlService.ListControlPolicies',
    what: 'does not find an unknown control',
    input: { control_id: 99 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'AgentService.ListAgentControls',
    what: 'lists a page of the controls of an agent',
    input: { agent_name: OTHER, page_size: 1, max_message_bytes: 4_096 },
    expected: { reply: { controls: [{ id: CONTROL }] } },
  },
  {
    rpc: 'AgentService.ListAgentControls',
    what: 'lists nothing after the last control',
    input: { agent_name: OTHER, page_size: 1, page_token: String(CONTROL) },
    expected: { reply: { controls: [] } },
  },
  {
    rpc: 'AgentService.ListAgentControls',
    what: 'refuses sizes and positions that are none',
    input: { agent_name: OTHER, page_size: 0, page_token: 'x', max_message_bytes: 1 },
    expected: invalid(
      'page_size greater_than_equal',
      'page_token int_parsing',
      'max_message_bytes greater_than_equal',
    ),
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'leaves the controls out when asked to',
    input: { agent: { agent_name: OTHER }, omit_controls: true },
    expected: { reply: { created: false, controls: [] } },
  },
  {
    rpc: 'ControlService.ListControls',
    what: 'filters by a value of an enum',
    input: { stage_filter: 'pre', execution_filter: 'sdk' },
    expected: { reply: { controls: [], pagination: page(0) } },
  },
  {
    rpc: 'ControlService.ListControls',
    what: 'filters by the same value twice',
    input: { stage: 'pre', stage_filter: 'pre', limit: 1 },
    expected: { reply: { pagination: { limit: 1 } } },
  },
  {
    rpc: 'ControlService.ListControls',
    what: 'refuses two different values',
    input: { execution: 'sdk', execution_filter: 'server' },
    expected: invalid('execution_filter value_error'),
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'evaluates the controls of the policy',
    input: EVALUATION,
    expected: { reply: { is_safe: false, matches: [{ control_id: CONTROL }] } },
  },
  {
    rpc: 'PolicyService.RemovePolicyControl',
    what: 'refuses another version of the policy',
    input: { policy_id: POLICY, control_id: CONTROL, if_version: 1 },
    expected: MISMATCH,
  },
  {
    rpc: 'PolicyService.DeletePolicy',
    what: 'keeps a policy that agents have',
    input: { policy_id: POLICY },
    expected: error('POLICY_IN_USE', 409, 'FailedPrecondition', [
      'policies policy_in_use',
      'policies policy_in_use',
    ]),
  },
  {
    rpc: 'PolicyService.DeletePolicy',
    what: 'refuses another version of the policy',
    input: { policy_id: POLICY, force: true, if_version: 4 },
    expected: MISMATCH,
  },
  {
    rpc: 'PolicyService.DeletePolicy',
    what: 'deletes a version of a policy by force',
    input: { policy_id: POLICY, force: true, if_version: 3 },
    expected: {
      reply: { success: true, removed_from_agents_count: 2, removed_from_agents: [AGENT, OTHER] },
    },
  },
  {
    rpc: 'PolicyService.DeletePolicy',
    what: 'does not find a deleted policy',
    input: { policy_id: POLICY },
    expected: NO_POLICY,
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'does not ask the controls of a deleted policy',
    input: EVALUATION,
    expected: { reply: { is_safe: true, matches: [] } },
  },
  {
    rpc: 'ControlService.UpdateControl',
    what: 'refuses another version of the control',
    input: { control_id: CONTROL, enabled: false, if_version: 999 },
    expected: MISMATCH,
  },
  {
    rpc: 'ControlService.SetControlData',
    what: 'refuses another version of the control',
    input: {
      control_id: CONTROL,
      if_version: 999,
      data: {
        execution: 'server',
        condition: { selector: {}, evaluator: { name: 'regex', config: { pattern: 'x' } } },
        action: { decision: 'deny' },
      },
    },
    expected: MISMATCH,
  },
  {
    rpc: 'ControlService.RestoreControlVersion',
    what: 'refuses another version of the control',
    input: { control_id: CONTROL, version_num: 1, if_version: 999 },
    expected: MISMATCH,
  },
  {
    rpc: 'ControlService.DeleteControl',
    what: 'refuses another version of the control',
    input: { control_id: CONTROL, force: true, if_version: 999 },
    expected: MISMATCH,
  },
  {
    rpc: 'AgentService.UpdateAgent',
    what: 'refuses another version of the registration',
    input: { agent_name: AGENT, remove_evaluators: ['x'], if_version: 999 },
    expected: MISMATCH,
  },
  {
    rpc: 'AgentService.DeleteAgent',
    what: 'is for administrators',
    input: { agent_name: AGENT },
    key: READER_KEY,
    expected: NOT_ADMIN,
  },
  {
    rpc: 'AgentService.DeleteAgent',
    what: 'requires a key',
    input: { agent_name: AGENT },
    key: null,
    expected: NO_KEY,
  },
  {
    rpc: 'AgentService.DeleteAgent',
    what: 'refuses another version of the registration',
    input: { agent_name: AGENT, if_version: 2 },
    expected: MISMATCH,
  },
  {
    rpc: 'AgentService.DeleteAgent',
    what: 'deletes a version of an agent',
    input: { agent_name: ' Resource-Bot-01 ', if_version: 1 },
    expected: { reply: { success: true, removed_controls_count: 0, removed_policies_count: 0 } },
  },
  {
    rpc: 'AgentService.DeleteAgent',
    what: 'does not find a deleted agent',
    input: { agent_name: AGENT },
    expected: NO_AGENT,
  },
  {
    rpc: 'AgentService.DeleteAgent',
    what: 'deletes the links of an agent',
    input: { agent_name: OTHER },
    expected: { reply: { success: true, removed_controls_count: 1, removed_policies_count: 0 } },
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'does not find a deleted agent',
    input: EVALUATION,
    expected: NO_AGENT,
  },
  {
    rpc: 'AgentService.GetAgent',
    what: 'does not find a deleted agent',
    input: { agent_name: AGENT },
    expected: NO_AGENT,
  },
];
