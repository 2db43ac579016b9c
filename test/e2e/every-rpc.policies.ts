import {
  CONTROL_IN_USE,
  NO_AGENT,
  NO_CONTROL,
  NO_KEY,
  NO_POLICY,
  NOT_ADMIN,
  nameTaken,
  refusal,
} from '../support/refusals.js';
import { called, evaluation, READER_KEY, type Step, steps } from './every-rpc.support.js';

const SUCCESS = { reply: { success: true } };
/** What the script before this leaves behind. */
const AGENT = 'support-bot-01';
const CONTROL = 3;
const EVALUATION = evaluation(AGENT, '4111111111111111');
const IS_CHECKED = { reply: { is_safe: false, matches: [{ control_id: CONTROL, action: 'deny' }] } };
const IS_NOT_CHECKED = { reply: { is_safe: true, matches: [], non_matches: [] } };

/** The part of the script that is about policies. */
export const POLICY_STEPS: readonly Step[] = [
  ...steps('PolicyService.CreatePolicy', [
    ['creates an empty policy', { name: ' payments ' }, { reply: { policy_id: 1 } }],
    ['creates another one', { name: 'Payments' }, { reply: { policy_id: 2 } }],
    ['refuses a name that is taken', { name: 'payments' }, nameTaken('POLICY')],
    ['demands a name', {}, 'name missing'],
    ['is for administrators', { name: 'mine' }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('PolicyService.AddPolicyControl', [
    ['puts a control into a policy', { policy_id: 1, control_id: CONTROL }, SUCCESS],
    ['looks for the policy first', { policy_id: 99, control_id: 99 }, NO_POLICY],
    ['does not find an unknown control', { policy_id: 1, control_id: 99 }, NO_CONTROL],
  ]),
  ...steps('PolicyService.ListPolicyControls', [
    [
      'lists the controls of a policy with a regular key',
      { policy_id: 1 },
      { reply: { control_ids: [CONTROL] } },
      READER_KEY,
    ],
    ['does not find an unknown policy', { policy_id: 99 }, NO_POLICY],
  ]),
  called(
    'PolicyService.GetAgentPolicy',
    'finds no policy of an agent without any',
    { agent_name: AGENT },
    NO_POLICY,
  ),
  called(
    'PolicyService.DeleteAgentPolicy',
    'finds no policy of an agent without any',
    { agent_name: AGENT },
    NO_POLICY,
  ),
  called(
    'PolicyService.SetAgentPolicy',
    'gives an agent its first policy',
    { agent_name: AGENT, policy_id: 2 },
    { reply: { success: true, old_policy_id: null } },
  ),
  called('EvaluationService.Evaluate', 'evaluates nothing for an empty policy', EVALUATION, IS_NOT_CHECKED),
  ...steps('PolicyService.AddAgentPolicy', [
    ['gives an agent another policy', { agent_name: ' Support-Bot-01 ', policy_id: 1 }, SUCCESS],
    ['looks for the agent first', { agent_name: 'nobody-at-all', policy_id: 99 }, NO_AGENT],
    ['does not find an unknown policy', { agent_name: AGENT, policy_id: 99 }, NO_POLICY],
  ]),
  called('EvaluationService.Evaluate', 'evaluates the controls of a policy', EVALUATION, IS_CHECKED),
  ...steps('PolicyService.ListAgentPolicies', [
    [
      'lists the policies of an agent with a regular key',
      { agent_name: AGENT },
      { reply: { policy_ids: [1, 2] } },
      READER_KEY,
    ],
    ['refuses a name that can be no agent', { agent_name: 'short' }, 'agent_name invalid_format'],
    ['requires a key', { agent_name: AGENT }, NO_KEY, null],
  ]),
  called(
    'PolicyService.GetAgentPolicy',
    'reads the lowest id',
    { agent_name: AGENT },
    { reply: { policy_id: 1 } },
  ),
  called(
    'AgentService.ListAgents',
    'shows policies and what they bring',
    { name: AGENT },
    { reply: { agents: [{ policy_ids: [1, 2], active_controls_count: 1 }] } },
  ),
  called(
    'ControlService.ListControls',
    'counts who has a control by a policy',
    { limit: 1 },
    {
      reply: { controls: [{ id: CONTROL, used_by_agent: { agent_name: AGENT }, used_by_agents_count: 1 }] },
    },
  ),
  called(
    'ControlService.DeleteControl',
    'keeps a control that is in a policy',
    { control_id: CONTROL },
    CONTROL_IN_USE,
  ),
  ...steps('PolicyService.SetAgentPolicy', [
    [
      'replaces all policies by one',
      { agent_name: AGENT, policy_id: 2 },
      { reply: { success: true, old_policy_id: 1 } },
    ],
    ['does not find an unknown policy', { agent_name: AGENT, policy_id: 99 }, NO_POLICY],
  ]),
  called(
    'EvaluationService.Evaluate',
    'does not ask the controls of a policy that was replaced',
    EVALUATION,
    IS_NOT_CHECKED,
  ),
  ...steps('PolicyService.RemoveAgentPolicy', [
    ['takes a policy from an agent', { agent_name: AGENT, policy_id: 2 }, SUCCESS],
    ['does not find an unknown policy', { agent_name: AGENT, policy_id: 99 }, NO_POLICY],
  ]),
  ...steps('PolicyService.RemoveAllAgentPolicies', [
    ['takes what is not there', { agent_name: AGENT }, SUCCESS],
    ['does not find an unknown agent', { agent_name: 'nobody-at-all' }, NO_AGENT],
  ]),
  ...steps('PolicyService.AddPolicyAgents', [
    [
      'gives a policy to several agents at once',
      { policy_id: 1, agent_names: [AGENT, ' Support-Bot-01 '] },
      { reply: { success: true, added: 1 } },
    ],
    [
      'counts agents that did not have it',
      { policy_id: 1, agent_names: [AGENT] },
      { reply: { success: true, added: 0 } },
    ],
    [
      'names every agent that is not registered',
      { policy_id: 1, agent_names: ['nobody-at-all', AGENT, 'nobody-else-either'] },
      refusal('AGENT_NOT_FOUND', 404, 'NotFound', ['agent_names[0] not_found', 'agent_names[2] not_found']),
    ],
    [
      'refuses names that can be no agent',
      { policy_id: 1, agent_names: [AGENT, 'short'] },
      'agent_names[1] value_error',
    ],
    ['demands agents', { policy_id: 1 }, 'agent_names missing'],
    ['is for administrators', { policy_id: 1, agent_names: [AGENT] }, NOT_ADMIN, READER_KEY],
  ]),
  called(
    'EvaluationService.Evaluate',
    'evaluates the controls of a policy that was given to several agents',
    EVALUATION,
    IS_CHECKED,
  ),
  ...steps('PolicyService.RemovePolicyAgents', [
    [
      'takes a policy from several agents at once',
      { policy_id: 1, agent_names: [AGENT] },
      { reply: { success: true, removed: 1 } },
    ],
    ['does not find an unknown policy', { policy_id: 99, agent_names: [AGENT] }, NO_POLICY],
  ]),
  called(
    'PolicyService.AddAgentPolicy',
    'gives a policy once more',
    { agent_name: AGENT, policy_id: 1 },
    SUCCESS,
  ),
  ...steps('PolicyService.RemovePolicyControl', [
    ['takes a control out of a policy', { policy_id: 1, control_id: CONTROL }, SUCCESS],
    ['does not find an unknown policy', { policy_id: 99, control_id: CONTROL }, NO_POLICY],
  ]),
  called(
    'EvaluationService.Evaluate',
    'does not ask a control that was taken out of a policy',
    EVALUATION,
    IS_NOT_CHECKED,
  ),
  called(
    'PolicyService.DeleteAgentPolicy',
    'takes all policies from an agent',
    { agent_name: AGENT },
    SUCCESS,
  ),
  called(
    'PolicyService.AddAgentPolicy',
    'gives a policy to an agent that has none any more',
    { agent_name: AGENT, policy_id: 1 },
    SUCCESS,
  ),
  called(
    'PolicyService.RemoveAllAgentPolicies',
    'takes all policies from an agent',
    { agent_name: AGENT },
    SUCCESS,
  ),
  called(
    'PolicyService.ListAgentPolicies',
    'lists none any more',
    { agent_name: AGENT },
    { reply: { policy_ids: [] } },
  ),
];
