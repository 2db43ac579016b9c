import {
  NO_AGENT,
  NO_CONTROL,
  NO_KEY,
  NO_POLICY,
  NOT_ADMIN,
  nameTaken,
  refusal,
} from '../support/refusals.js';
import { called, evaluation, READER_KEY, type Step, steps } from './every-rpc.support.js';

const MISMATCH = refusal('VERSION_MISMATCH', 412, 'Aborted', ['if_version version_mismatch']);
/** What the scripts before this leave behind. */
const CONTROL = 3;
const POLICY = 3;
const AGENT = 'resource-bot-01';
const OTHER = 'resource-bot-02';
const EVALUATION = evaluation(AGENT, '4111111111111111');
const page = (total: number, next: string | null = null) => ({
  total,
  next_cursor: next,
  has_more: next !== null,
});

/** The part of the script about versions, about what uses policies and controls, and about deleting. */
export const RESOURCE_STEPS: readonly Step[] = [
  ...steps('AgentService.InitAgent', [
    [
      'refuses to register an agent that has to exist in a version',
      { agent: { agent_name: AGENT }, if_version: 1 },
      MISMATCH,
    ],
    [
      'registers an agent that must not exist yet',
      { agent: { agent_name: AGENT }, if_version: 0, omit_controls: true },
      { reply: { created: true, controls: [] } },
    ],
    [
      'refuses a registration for another version',
      { agent: { agent_name: AGENT, agent_version: '2' }, if_version: 2 },
      MISMATCH,
    ],
    [
      'refuses a version that is no number',
      { agent: { agent_name: AGENT }, if_version: -1 },
      'if_version greater_than_equal',
    ],
    ['registers another agent', { agent: { agent_name: OTHER } }, { reply: { created: true } }],
  ]),
  called(
    'PolicyService.CreatePolicy',
    'creates a policy for several agents',
    { name: 'shared' },
    { reply: { policy_id: POLICY } },
  ),
  ...steps('PolicyService.AddPolicyControl', [
    [
      'refuses another version of the policy',
      { policy_id: POLICY, control_id: CONTROL, if_version: 2 },
      MISMATCH,
    ],
    [
      'puts a control into a version of a policy',
      { policy_id: POLICY, control_id: CONTROL, if_version: 1 },
      { reply: { success: true } },
    ],
  ]),
  ...steps('PolicyService.UpdatePolicy', [
    [
      'renames a version of a policy',
      { policy_id: POLICY, name: ' shared-rules ', if_version: 2 },
      {
        reply: {
          policy: { id: POLICY, name: 'shared-rules', control_ids: [CONTROL], version: 3, agent_count: 0 },
        },
      },
    ],
    ['refuses another version of the policy', { policy_id: POLICY, name: 'late', if_version: 2 }, MISMATCH],
    ['refuses a name that is taken', { policy_id: POLICY, name: 'payments' }, nameTaken('POLICY')],
    ['demands a name', { policy_id: POLICY }, 'name missing'],
    ['does not find an unknown policy', { policy_id: 99, name: 'other', if_version: 7 }, NO_POLICY],
    ['is for administrators', { policy_id: POLICY, name: 'mine' }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('PolicyService.AddPolicyAgents', [
    [
      'refuses another version of the policy',
      { policy_id: POLICY, agent_names: [AGENT, OTHER], if_version: 2 },
      MISMATCH,
    ],
    [
      'gives a version of a policy to several agents',
      { policy_id: POLICY, agent_names: [AGENT, OTHER], if_version: 3 },
      { reply: { added: 2 } },
    ],
  ]),
  ...steps('PolicyService.GetPolicy', [
    [
      'reads a policy with a regular key',
      { policy_id: POLICY },
      { reply: { policy: { name: 'shared-rules', version: 3, agent_count: 2 } } },
      READER_KEY,
    ],
    ['does not find an unknown policy', { policy_id: 99 }, NO_POLICY],
  ]),
  ...steps('PolicyService.ListPolicies', [
    [
      'lists policies, the newest first',
      { limit: 2 },
      {
        reply: { policies: [{ id: POLICY }, { id: 2 }], pagination: page(3, '2') },
      },
    ],
    [
      'continues after a policy',
      { limit: 2, cursor: '2' },
      {
        reply: {
          policies: [{ id: 1, name: 'payments', control_ids: [], agent_count: 0 }],
          pagination: page(3),
        },
      },
    ],
    [
      'filters by a part of the name',
      { name: 'SHARED' },
      { reply: { policies: [{ id: POLICY }], pagination: page(1) } },
    ],
    ['refuses a page that is too large', { limit: 101 }, 'limit less_than_equal'],
  ]),
  ...steps('PolicyService.ListPolicyAgents', [
    [
      'lists the agents of a policy by name',
      { policy_id: POLICY, limit: 1 },
      { reply: { agents: [{ agent_name: AGENT }], pagination: page(2, AGENT) } },
    ],
    [
      'continues after an agent',
      { policy_id: POLICY, limit: 1, cursor: AGENT },
      { reply: { agents: [{ agent_name: OTHER }], pagination: page(2) } },
    ],
    ['does not find an unknown policy', { policy_id: 99 }, NO_POLICY],
  ]),
  ...steps('AgentService.AddAgentControl', [
    [
      'refuses another version of the registration',
      { agent_name: OTHER, control_id: CONTROL, if_version: 2 },
      MISMATCH,
    ],
    [
      'links a control to a version of the registration',
      { agent_name: OTHER, control_id: CONTROL, if_version: 1 },
      { reply: { success: true } },
    ],
  ]),
  ...steps('ControlService.ListControlAgents', [
    [
      'lists who has a control, and how',
      { control_id: CONTROL, cursor: 'resource' },
      {
        reply: {
          agents: [
            { agent_name: AGENT, direct: false, policy_ids: [POLICY] },
            { agent_name: OTHER, direct: true, policy_ids: [POLICY] },
          ],
        },
      },
    ],
    [
      'lists one page',
      { control_id: CONTROL, cursor: 'resource', limit: 1 },
      {
        reply: { agents: [{ agent_name: AGENT }], pagination: { next_cursor: AGENT, has_more: true } },
      },
    ],
    ['does not find an unknown control', { control_id: 99 }, NO_CONTROL],
  ]),
  ...steps('ControlService.ListControlPolicies', [
    [
      'lists the policies with a control',
      { control_id: CONTROL },
      { reply: { policies: [{ id: POLICY, name: 'shared-rules' }], pagination: page(1) } },
    ],
    ['does not find an unknown control', { control_id: 99 }, NO_CONTROL],
  ]),
  ...steps('AgentService.ListAgentControls', [
    [
      'lists a page of the controls of an agent',
      { agent_name: OTHER, page_size: 1, max_message_bytes: 4_096 },
      { reply: { controls: [{ id: CONTROL }] } },
    ],
    [
      'lists nothing after the last control',
      { agent_name: OTHER, page_size: 1, page_token: String(CONTROL) },
      { reply: { controls: [] } },
    ],
    [
      'refuses sizes and positions that are none',
      { agent_name: OTHER, page_size: 0, page_token: 'x', max_message_bytes: 1 },
      ['page_size greater_than_equal', 'page_token int_parsing', 'max_message_bytes greater_than_equal'],
    ],
  ]),
  called(
    'AgentService.InitAgent',
    'leaves the controls out when asked to',
    { agent: { agent_name: OTHER }, omit_controls: true },
    { reply: { created: false, controls: [] } },
  ),
  ...steps('ControlService.ListControls', [
    [
      'filters by a value of an enum',
      { stage_filter: 'pre', execution_filter: 'sdk' },
      { reply: { controls: [], pagination: page(0) } },
    ],
    [
      'filters by the same value twice',
      { stage: 'pre', stage_filter: 'pre', limit: 1 },
      { reply: { pagination: { limit: 1 } } },
    ],
    [
      'refuses two different values',
      { execution: 'sdk', execution_filter: 'server' },
      'execution_filter value_error',
    ],
  ]),
  called('EvaluationService.Evaluate', 'evaluates the controls of the policy', EVALUATION, {
    reply: { is_safe: false, matches: [{ control_id: CONTROL }] },
  }),
  called(
    'PolicyService.RemovePolicyControl',
    'refuses another version of the policy',
    { policy_id: POLICY, control_id: CONTROL, if_version: 1 },
    MISMATCH,
  ),
  ...steps('PolicyService.DeletePolicy', [
    [
      'keeps a policy that agents have',
      { policy_id: POLICY },
      refusal('POLICY_IN_USE', 409, 'FailedPrecondition', [
        'policies policy_in_use',
        'policies policy_in_use',
      ]),
    ],
    ['refuses another version of the policy', { policy_id: POLICY, force: true, if_version: 4 }, MISMATCH],
    [
      'deletes a version of a policy by force',
      { policy_id: POLICY, force: true, if_version: 3 },
      {
        reply: { success: true, removed_from_agents_count: 2, removed_from_agents: [AGENT, OTHER] },
      },
    ],
    ['does not find a deleted policy', { policy_id: POLICY }, NO_POLICY],
  ]),
  called('EvaluationService.Evaluate', 'does not ask the controls of a deleted policy', EVALUATION, {
    reply: { is_safe: true, matches: [] },
  }),
  called(
    'ControlService.UpdateControl',
    'refuses another version of the control',
    { control_id: CONTROL, enabled: false, if_version: 999 },
    MISMATCH,
  ),
  called(
    'ControlService.SetControlData',
    'refuses another version of the control',
    {
      control_id: CONTROL,
      if_version: 999,
      data: {
        execution: 'server',
        condition: { selector: {}, evaluator: { name: 'regex', config: { pattern: 'x' } } },
        action: { decision: 'deny' },
      },
    },
    MISMATCH,
  ),
  called(
    'ControlService.RestoreControlVersion',
    'refuses another version of the control',
    { control_id: CONTROL, version_num: 1, if_version: 999 },
    MISMATCH,
  ),
  called(
    'ControlService.DeleteControl',
    'refuses another version of the control',
    { control_id: CONTROL, force: true, if_version: 999 },
    MISMATCH,
  ),
  called(
    'AgentService.UpdateAgent',
    'refuses another version of the registration',
    { agent_name: AGENT, remove_evaluators: ['x'], if_version: 999 },
    MISMATCH,
  ),
  ...steps('AgentService.DeleteAgent', [
    ['is for administrators', { agent_name: AGENT }, NOT_ADMIN, READER_KEY],
    ['requires a key', { agent_name: AGENT }, NO_KEY, null],
    ['refuses another version of the registration', { agent_name: AGENT, if_version: 2 }, MISMATCH],
    [
      'deletes a version of an agent',
      { agent_name: ' Resource-Bot-01 ', if_version: 1 },
      { reply: { success: true, removed_controls_count: 0, removed_policies_count: 0 } },
    ],
    ['does not find a deleted agent', { agent_name: AGENT }, NO_AGENT],
    [
      'deletes the links of an agent',
      { agent_name: OTHER },
      { reply: { success: true, removed_controls_count: 1, removed_policies_count: 0 } },
    ],
  ]),
  called('EvaluationService.Evaluate', 'does not find a deleted agent', EVALUATION, NO_AGENT),
  called('AgentService.GetAgent', 'does not find a deleted agent', { agent_name: AGENT }, NO_AGENT),
];
