import { NO_KEY, refusal } from '../support/refusals.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';

/** What the script before this leaves behind. */
const CONTROL = 3;
const POLICY = 4;
const AGENT = 'labelled-bot-01';
const OTHER = 'labelled-bot-02';
const registered = (
  agent_name: string,
  agent_metadata: Record<string, string | number | { team: string }>,
) => ({
  agent: { agent_name, agent_metadata },
});

/** The part of the script about labels of agents and what lists are filtered and sorted by. */
export const LABEL_STEPS: readonly Step[] = [
  ...steps('AgentService.InitAgent', [
    [
      'registers an agent with labels',
      registered(AGENT, { squad: 'finance', tier: 2, nested: { team: 'other' } }),
      { reply: { created: true } },
    ],
    ['registers another one', registered(OTHER, { squad: 'finance' }), { reply: { created: true } }],
  ]),
  ...steps('AgentService.ListAgentLabels', [
    [
      'counts labels and their values',
      {},
      {
        reply: {
          labels: [
            { name: 'squad', values: [{ value: 'finance', agent_count: 2 }] },
            { name: 'team', values: [{ value: 'finance', agent_count: 1 }] },
            { name: 'tier', values: [{ value: '2', agent_count: 1 }] },
          ],
        },
      },
      READER_KEY,
    ],
    ['requires a key', {}, NO_KEY, null],
  ]),
  called(
    'PolicyService.CreatePolicy',
    'creates a policy for labels',
    { name: 'by-labels' },
    {
      reply: { policy_id: POLICY },
    },
  ),
  called(
    'PolicyService.AddPolicyControl',
    'puts a control into it',
    { policy_id: POLICY, control_id: CONTROL },
    { reply: { success: true } },
  ),
  ...steps('PolicyService.UpdatePolicy', [
    [
      'gives it to the agents with labels',
      { policy_id: POLICY, agent_labels: { labels: ['tier=2', 'squad=finance'] } },
      { reply: { policy: { agent_labels: ['squad=finance', 'tier=2'], agent_count: 1 } } },
    ],
    [
      'refuses texts that are no labels',
      { policy_id: POLICY, agent_labels: { labels: ['team=a', 'tier', 'team=b', '=x'] } },
      'agent_labels.labels[3] value_error',
    ],
    [
      'refuses labels without a value, and names that are there twice',
      { policy_id: POLICY, agent_labels: { labels: ['team=a', 'tier', 'team=b'] } },
      ['agent_labels.labels[1] value_error', 'agent_labels.labels[2] value_error'],
    ],
    [
      'refuses too many labels',
      { policy_id: POLICY, agent_labels: { labels: Array(11).fill('a=b') } },
      'agent_labels.labels too_long',
    ],
  ]),
  ...steps('PolicyService.RemovePolicyAgents', [
    [
      'does not take it from an agent that has the labels',
      { policy_id: POLICY, agent_names: [AGENT] },
      refusal('POLICY_IN_USE', 409, 'FailedPrecondition', ['policies policy_in_use']),
    ],
  ]),
  called(
    'PolicyService.RemoveAgentPolicy',
    'does not take it from an agent that has the labels',
    { agent_name: AGENT, policy_id: POLICY },
    refusal('POLICY_IN_USE', 409, 'FailedPrecondition', ['policies policy_in_use']),
  ),
  called(
    'PolicyService.ListPolicyAgents',
    'lists the agents by labels',
    { policy_id: POLICY },
    {
      reply: { agents: [{ agent_name: AGENT }] },
    },
  ),
  called(
    'AgentService.InitAgent',
    'keeps the policy of an agent that a regular key registers without the labels',
    registered(AGENT, { squad: 'finance' }),
    { reply: { warnings: [{ code: 'policy_kept', field: 'agent.agent_metadata' }] } },
    READER_KEY,
  ),
  called(
    'AgentService.InitAgent',
    'takes the policy of an agent that an administrator registers without the labels',
    registered(AGENT, { squad: 'finance', tier: 3 }),
    { reply: { warnings: [{ code: 'policy_taken' }] } },
  ),
  ...steps('AgentService.ListAgents', [
    [
      'filters by labels, sorted by name',
      { labels: ['squad=finance', 'squad'], order_by: 'name', limit: 1 },
      {
        reply: {
          agents: [{ agent_name: AGENT }],
          pagination: { total: 2, next_cursor: AGENT, has_more: true },
        },
      },
    ],
    [
      'continues in the same order',
      { labels: ['squad=finance'], order_by: 'name', limit: 1, cursor: AGENT },
      { reply: { agents: [{ agent_name: OTHER }], pagination: { has_more: false } } },
    ],
    [
      'filters by a policy and a control',
      { policy_id: POLICY, control_id: CONTROL, order_by: 'last_denied', reverse: true },
      { reply: { agents: [], pagination: { total: 0 } } },
    ],
    ['refuses filters that it cannot read', { labels: ['squad=finance', 'team='] }, 'labels[1] value_error'],
  ]),
  ...steps('ControlService.ListControls', [
    [
      'filters by decisions, agents and a step, sorted by the number of agents',
      { decisions: ['deny', 'observe'], has_agents: false, step_name: 'any', order_by: 'agents', limit: 1 },
      { reply: { controls: [{ id: CONTROL }], pagination: { total: 1 } } },
    ],
    [
      'filters by an agent, sorted by name in reverse',
      { agent_name: AGENT, order_by: 'name', reverse: true },
      { reply: { controls: [], pagination: { total: 0 } } },
    ],
    ['refuses a step name that is too long', { step_name: 'x'.repeat(1_025) }, 'step_name string_too_long'],
    ['refuses an agent name that is none', { agent_name: 'short' }, 'agent_name invalid_format'],
  ]),
  ...steps('AuditService.ListAuditEntries', [
    [
      'finds entries by parts of their texts',
      { actor_contains: 'ADM', action_contains: 'Policy.Up', resource_contains: 'BY-LAB', limit: 1 },
      {
        reply: {
          entries: [{ action: 'policy.update', resource_name: 'by-labels' }],
          pagination: { total: 1 },
        },
      },
    ],
    [
      'refuses a part that is too long',
      { actor_contains: 'x'.repeat(1_025) },
      'actor_contains string_too_long',
    ],
  ]),
];
