import { expect } from 'vitest';
import type { Json } from '../support/wire-shape.js';
import { AGENT_EVALUATOR_STEPS } from './every-rpc.agent-evaluators.js';
import { AUDIT_STEPS } from './every-rpc.audit.js';
import { EXPLAIN_STEPS } from './every-rpc.explain.js';
import { OBSERVABILITY_STEPS } from './every-rpc.observability.js';
import { POLICY_STEPS } from './every-rpc.policies.js';
import { RESOURCE_STEPS } from './every-rpc.resources.js';
import {
  BAD_KEY,
  error,
  invalid,
  NO_AGENT,
  NO_CONTROL,
  NO_KEY,
  NOT_ADMIN,
  READER_KEY,
  type Step,
} from './every-rpc.support.js';
import { TEMPLATE_STEPS } from './every-rpc.templates.js';
import { VERSION_STEPS } from './every-rpc.versions.js';

const leaf = (path: string, pattern: string) => ({
  selector: { path },
  evaluator: { name: 'regex', config: { pattern } },
});

const CARDS = {
  execution: 'server',
  condition: leaf('input', '\\d{16}'),
  action: { decision: 'deny' },
} satisfies Json;

/** Every member that a definition can have. */
const RICH = {
  description: 'steers large refunds',
  enabled: true,
  execution: 'server',
  scope: {
    step_types: ['tool', 'llm'],
    step_names: ['refund'],
    step_name_regex: '^refund_',
    stages: ['pre', 'post'],
  },
  condition: {
    and: [
      {
        or: [
          leaf('input.size', 'large'),
          {
            selector: { path: 'input.size' },
            evaluator: {
              name: 'list',
              config: { values: ['huge', 7, 1.5], match_mode: 'exact', case_sensitive: true },
              metadata: { owner: 'risk', nested: { deep: [1, null, true, 'x'] } },
            },
          },
        ],
      },
      { not: leaf('context.role', 'auditor') },
    ],
  },
  action: {
    decision: 'steer',
    steering_context: { message: 'Ask a human.', required_actions: ['approve', 'log'] },
    metadata: { severity: 3 },
  },
  tags: ['money', 'pii'],
} satisfies Json;

const AGENT = {
  agent_name: 'billing-bot-01',
  agent_description: 'pays bills',
  agent_created_at: 'yesterday',
  agent_updated_at: 'today',
  agent_version: '1.2.3',
  agent_metadata: { team: 'finance', numbers: [1, 2.5, -3], nothing: null, deep: { er: true } },
};
const REGISTRATION = {
  agent: AGENT,
  steps: [
    {
      type: 'tool',
      name: 'refund',
      description: 'gives money back',
      input_schema: { type: 'object', properties: { size: { type: 'string' } } },
      output_schema: { type: 'boolean' },
      metadata: { risk: 'high' },
    },
    { type: 'llm', name: 'answer' },
  ],
  evaluators: [
    { name: 'tone', config_schema: { type: 'object' }, description: 'how it sounds' },
    { name: 'bare' },
  ],
};

const NO_CHANGES = {
  metadata_changed: false,
  steps_added: [],
  steps_updated: [],
  steps_removed: [],
  evaluators_added: [],
  evaluators_updated: [],
  evaluators_removed: [],
  evaluator_removals: [],
};

const step = (input: Json, more: Record<string, Json> = {}) => ({
  type: 'tool',
  name: 'refund',
  input,
  ...more,
});
const evaluation = (input: Json, more: Record<string, Json> = {}) => ({
  agent_name: 'billing-bot-01',
  stage: 'pre',
  step: step(input, more),
  detail: 'full',
});

/**
 * The script that every protocol plays on a database of its own: each RPC with what it is for and with its main
 * errors. Ids are those of an empty database.
 */
export const STEPS: readonly Step[] = [
  {
    rpc: 'EvaluatorService.ListEvaluators',
    what: 'lists the evaluators',
    input: {},
    key: READER_KEY,
    expected: {
      reply: {
        evaluators: {
          regex: { name: 'regex', version: '1.0.0', requires_api_key: false, timeout_ms: 10_000 },
          list: { name: 'list', version: '1.0.0' },
        },
      },
    },
  },
  {
    rpc: 'EvaluatorService.ListEvaluators',
    what: 'requires a key',
    input: {},
    key: null,
    expected: NO_KEY,
  },
  {
    rpc: 'EvaluatorService.ListEvaluators',
    what: 'refuses a wrong key',
    input: {},
    key: 'another-key',
    expected: BAD_KEY,
  },
  {
    rpc: 'ServerService.GetServerInfo',
    what: 'names the features and limits of the server',
    input: {},
    key: READER_KEY,
    expected: { reply: { max_batch: 1_000, stream_window: 64, max_message_bytes: 8 * 1024 * 1024 } },
  },
  {
    rpc: 'ServerService.GetServerInfo',
    what: 'names the features of this release to an admin as well',
    input: {},
    expected: { reply: { features: expect.arrayContaining(['active_controls_filter', 'server_state']) } },
  },
  {
    rpc: 'ServerService.GetServerInfo',
    what: 'requires a key',
    input: {},
    key: null,
    expected: NO_KEY,
  },
  {
    rpc: 'AgentService.ListAgents',
    what: 'lists nothing at first',
    input: {},
    expected: {
      reply: { agents: [], pagination: { limit: 20, total: 0, next_cursor: null, has_more: false } },
    },
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'registers an agent with a regular key',
    input: REGISTRATION,
    key: READER_KEY,
    expected: {
      reply: { created: true, controls: [], overwrite_applied: false, overwrite_changes: NO_CHANGES },
    },
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'registers another agent, name normalised',
    input: { agent: { agent_name: '  Support-Bot-01 ' } },
    expected: { reply: { created: true } },
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'refuses the name of an evaluator of the service',
    input: { agent: { agent_name: 'billing-bot-01' }, evaluators: [{ name: 'regex' }] },
    expected: error('EVALUATOR_NAME_CONFLICT', 409, 'AlreadyExists', ['name name_conflict']),
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'refuses a step that is there twice',
    input: {
      agent: { agent_name: 'billing-bot-01' },
      steps: [
        { type: 'a', name: 'b' },
        { type: 'a', name: 'b' },
      ],
    },
    expected: error('VALIDATION_ERROR', 400, 'InvalidArgument', ['name duplicate_step_name']),
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'refuses incompatible schemas',
    input: {
      agent: AGENT,
      steps: [{ type: 'tool', name: 'refund', input_schema: { type: 'string' } }],
    },
    expected: error('SCHEMA_INCOMPATIBLE', 409, 'FailedPrecondition', ['schema schema_mismatch']),
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'reports every problem at once',
    input: { agent: { agent_name: 'short' }, steps: [{ type: '', name: 'x' }, { type: 'y' }] },
    expected: invalid(
      'agent.agent_name value_error',
      'steps[0].type string_too_short',
      'steps[1].name missing',
    ),
  },
  {
    rpc: 'AgentService.GetAgent',
    what: 'gives back all of a registration',
    input: { agent_name: 'BILLING-BOT-01' },
    expected: {
      reply: {
        agent: AGENT,
        steps: [
          REGISTRATION.steps[0] as object,
          {
            type: 'llm',
            name: 'answer',
            description: null,
            input_schema: null,
            output_schema: null,
            metadata: null,
          },
        ],
        evaluators: [
          REGISTRATION.evaluators[0] as object,
          { name: 'bare', config_schema: {}, description: null },
        ],
      },
    },
  },
  {
    rpc: 'AgentService.GetAgent',
    what: 'does not find an unknown agent',
    input: { agent_name: 'nobody-at-all' },
    expected: NO_AGENT,
  },
  {
    rpc: 'AgentService.GetAgent',
    what: 'refuses a name that can be no agent',
    input: { agent_name: 'short' },
    expected: invalid('agent_name invalid_format'),
  },
  {
    rpc: 'AgentService.ListAgents',
    what: 'pages',
    input: { limit: 1 },
    expected: {
      reply: {
        agents: [{ agent_name: 'support-bot-01', policy_ids: [], step_count: 0, active_controls_count: 0 }],
        pagination: { limit: 1, total: 2, next_cursor: 'support-bot-01', has_more: true },
      },
    },
  },
  {
    rpc: 'AgentService.ListAgents',
    what: 'filters by name',
    input: { name: 'SUPPORT' },
    expected: { reply: { agents: [{ agent_name: 'support-bot-01' }], pagination: { total: 1 } } },
  },
  {
    rpc: 'AgentService.ListAgents',
    what: 'finds the agents that no control checks',
    input: { has_active_controls: false, name: 'BOT' },
    expected: {
      reply: {
        agents: [{ agent_name: 'support-bot-01' }, { agent_name: 'billing-bot-01' }],
        pagination: { total: 2 },
      },
    },
  },
  {
    rpc: 'AgentService.ListAgents',
    what: 'refuses a cursor that can be no agent',
    input: { cursor: 'short' },
    expected: invalid('cursor invalid_format'),
  },
  {
    rpc: 'ControlService.ValidateControl',
    what: 'accepts a definition and warns of an unknown evaluator, with a regular key',
    input: {
      data: { ...CARDS, condition: { ...CARDS.condition, evaluator: { name: 'not-installed', config: {} } } },
    },
    key: READER_KEY,
    expected: {
      reply: {
        success: true,
        warnings: [{ code: 'unknown_evaluator', field: 'data.condition.evaluator.name' }],
      },
    },
  },
  {
    rpc: 'ControlService.ValidateControl',
    what: 'names what is wrong with a definition',
    input: {
      data: { ...CARDS, condition: leaf('input', '('), action: { decision: 'steer', steering_context: {} } },
    },
    expected: invalid(
      'data.condition.evaluator.pattern value_error',
      'data.action.steering_context.message missing',
    ),
  },
  {
    rpc: 'ControlService.CreateControl',
    what: 'creates a control',
    input: { name: 'no-cards', data: CARDS },
    expected: { reply: { control_id: 1, warnings: [] } },
  },
  {
    rpc: 'ControlService.CreateControl',
    what: 'creates a control with everything a definition can have',
    input: { name: 'large-refunds', data: RICH },
    expected: {
      reply: {
        control_id: 2,
        warnings: [
          { code: 'unmatched_step_name_regex', field: 'data.scope.step_name_regex' },
          { code: 'path_not_guaranteed', field: 'data.condition.and[0].or[0].selector' },
          { code: 'path_not_guaranteed', field: 'data.condition.and[0].or[1].selector' },
        ],
      },
    },
  },
  {
    rpc: 'ControlService.CreateControl',
    what: 'refuses a name that is taken',
    input: { name: 'no-cards', data: CARDS },
    expected: error('CONTROL_NAME_CONFLICT', 409, 'AlreadyExists', ['name name_conflict']),
  },
  {
    rpc: 'ControlService.CreateControl',
    what: 'is for admins',
    input: { name: 'another', data: CARDS },
    key: READER_KEY,
    expected: NOT_ADMIN,
  },
  {
    rpc: 'ControlService.CreateControl',
    what: 'demands a name and a definition',
    input: {},
    expected: invalid('name missing', 'data missing'),
  },
  {
    rpc: 'ControlService.GetControl',
    what: 'gives back everything of a definition',
    input: { control_id: 2 },
    key: READER_KEY,
    expected: { reply: { id: 2, name: 'large-refunds', data: RICH } },
  },
  {
    rpc: 'ControlService.GetControl',
    what: 'does not find an unknown control',
    input: { control_id: 99 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'ControlService.GetControlData',
    what: 'gives back a definition alone',
    input: { control_id: 2 },
    expected: { reply: { data: RICH } },
  },
  {
    rpc: 'ControlService.GetControlData',
    what: 'does not find an unknown control',
    input: { control_id: 0 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'ControlService.ListControls',
    what: 'lists the newest first',
    input: {},
    expected: {
      reply: {
        controls: [
          {
            id: 2,
            name: 'large-refunds',
            description: 'steers large refunds',
            enabled: true,
            execution: 'server',
            step_types: ['tool', 'llm'],
            stages: ['pre', 'post'],
            tags: ['money', 'pii'],
            template_backed: false,
            template_rendered: null,
            used_by_agent: null,
            used_by_agents_count: 0,
          },
          { id: 1, name: 'no-cards', description: null, tags: [] },
        ],
        pagination: { limit: 20, total: 2, next_cursor: null, has_more: false },
      },
    },
  },
  {
    rpc: 'ControlService.ListControls',
    what: 'combines all filters',
    input: {
      cursor: '9',
      limit: 5,
      name: 'REFUND',
      enabled: true,
      template_backed: false,
      step_type: 'tool',
      stage: 'pre',
      execution: 'server',
      tag: 'pii',
    },
    expected: { reply: { controls: [{ id: 2 }], pagination: { limit: 5, total: 1 } } },
  },
  {
    rpc: 'ControlService.ListControls',
    what: 'refuses limits out of range and cursors that are no number',
    input: { limit: 0, cursor: 'x' },
    expected: invalid('cursor int_parsing', 'limit greater_than_equal'),
  },
  {
    rpc: 'AgentService.AddAgentControl',
    what: 'links a control',
    input: { agent_name: 'billing-bot-01', control_id: 1 },
    expected: { reply: { success: true } },
  },
  {
    rpc: 'AgentService.AddAgentControl',
    what: 'links another control',
    input: { agent_name: 'billing-bot-01', control_id: 2 },
    expected: { reply: { success: true } },
  },
  {
    rpc: 'AgentService.AddAgentControl',
    what: 'links a control again',
    input: { agent_name: 'Billing-Bot-01', control_id: 2 },
    expected: { reply: { success: true } },
  },
  {
    rpc: 'AgentService.ListAgents',
    what: 'finds the agents that a control checks',
    input: { has_active_controls: true },
    expected: {
      reply: {
        agents: [{ agent_name: 'billing-bot-01', active_controls_count: 2 }],
        pagination: { total: 1 },
      },
    },
  },
  {
    rpc: 'AgentService.AddAgentControl',
    what: 'looks for the agent first',
    input: { agent_name: 'nobody-at-all', control_id: 99 },
    expected: NO_AGENT,
  },
  {
    rpc: 'AgentService.AddAgentControl',
    what: 'does not find an unknown control',
    input: { agent_name: 'billing-bot-01', control_id: 99 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'AgentService.AddAgentControl',
    what: 'is for admins',
    input: { agent_name: 'billing-bot-01', control_id: 1 },
    key: READER_KEY,
    expected: NOT_ADMIN,
  },
  {
    rpc: 'AgentService.ListAgentControls',
    what: 'lists the controls of an agent, newest first',
    input: { agent_name: 'billing-bot-01' },
    key: READER_KEY,
    expected: {
      reply: {
        controls: [
          { id: 2, name: 'large-refunds', control: RICH },
          { id: 1, name: 'no-cards', control: { enabled: true, tags: [] } },
        ],
      },
    },
  },
  {
    rpc: 'AgentService.ListAgentControls',
    what: 'filters',
    input: { agent_name: 'billing-bot-01', enabled_state: 'disabled', rendered_state: 'rendered' },
    expected: { reply: { controls: [] } },
  },
  {
    rpc: 'AgentService.ListAgentControls',
    what: 'refuses unknown states',
    input: { agent_name: 'billing-bot-01', rendered_state: 'half', enabled_state: 'maybe' },
    expected: invalid('rendered_state literal_error', 'enabled_state literal_error'),
  },
  {
    rpc: 'AgentService.ListAgentControls',
    what: 'does not find an unknown agent',
    input: { agent_name: 'nobody-at-all' },
    expected: NO_AGENT,
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'overwrites, reports what changed and which controls are active',
    input: {
      agent: { ...AGENT, agent_version: '2' },
      steps: [
        { type: 'tool', name: 'refund' },
        { type: 'tool', name: 'fresh' },
      ],
      evaluators: [{ name: 'tone', config_schema: { type: 'string' } }],
      conflict_mode: 'overwrite',
      force_replace: true,
    },
    expected: {
      reply: {
        created: false,
        controls: [{ id: 2, control: RICH }, { id: 1 }],
        overwrite_applied: true,
        overwrite_changes: {
          metadata_changed: true,
          steps_added: [{ type: 'tool', name: 'fresh' }],
          steps_updated: [{ type: 'tool', name: 'refund' }],
          steps_removed: [{ type: 'llm', name: 'answer' }],
          evaluators_added: [],
          evaluators_updated: ['tone'],
          evaluators_removed: ['bare'],
          evaluator_removals: [
            { name: 'bare', referenced_by_active_controls: false, control_ids: [], control_names: [] },
          ],
        },
      },
    },
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'finds a step unsafe and states why, with a regular key',
    input: evaluation(
      { size: 'huge', card: '4111111111111111' },
      { context: { role: 'clerk' }, output: [1, null] },
    ),
    key: READER_KEY,
    expected: {
      reply: {
        is_safe: false,
        confidence: 1,
        matches: [
          {
            control_id: 2,
            control_name: 'large-refunds',
            action: 'steer',
            result: { matched: true, confidence: 1, error: null },
            steering_context: { message: 'Ask a human.', required_actions: ['approve', 'log'] },
          },
          { control_id: 1, action: 'deny', steering_context: null },
        ],
        errors: [],
        non_matches: [],
      },
    },
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'finds a step safe',
    input: evaluation({ size: 'small' }),
    expected: {
      reply: {
        is_safe: true,
        confidence: 1,
        reason: null,
        matches: [],
        errors: [],
        non_matches: [{ control_id: 2 }, { control_id: 1 }],
      },
    },
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'does not find an unknown agent',
    input: { ...evaluation({}), agent_name: 'nobody-at-all' },
    expected: NO_AGENT,
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'names every missing member',
    input: { detail: 'full' },
    expected: invalid('agent_name missing', 'step missing', 'stage missing'),
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'demands an object as the input of a tool',
    input: evaluation('text'),
    expected: invalid('step value_error'),
  },
  ...EXPLAIN_STEPS,
  {
    rpc: 'EvaluationService.EvaluateBatch',
    what: 'gives every evaluation a result of its own, with a regular key',
    input: {
      evaluations: [
        evaluation({ size: 'small' }),
        { ...evaluation({}), agent_name: 'nobody-at-all' },
        evaluation('text'),
        evaluation({ size: 'small', card: '4111111111111111' }),
      ],
    },
    key: READER_KEY,
    expected: {
      reply: {
        results: [
          { verdict: { is_safe: true, non_matches: [{ control_id: 2 }, { control_id: 1 }] }, error: null },
          { verdict: null, error: { code: 5, details: ['google.rpc.ErrorInfo'] } },
          { verdict: null, error: { code: 3, details: ['google.rpc.ErrorInfo', 'google.rpc.BadRequest'] } },
          { verdict: { is_safe: false, matches: [{ control_id: 1, action: 'deny' }] }, error: null },
        ],
      },
    },
  },
  {
    rpc: 'EvaluationService.EvaluateBatch',
    what: 'demands an evaluation',
    input: { evaluations: [] },
    expected: invalid('evaluations too_short'),
  },
  {
    rpc: 'EvaluationService.EvaluateBatch',
    what: 'demands no more than 1,000 evaluations',
    input: { evaluations: Array<Json>(1_001).fill({}) },
    expected: invalid('evaluations too_long'),
  },
  {
    rpc: 'EvaluationService.EvaluateBatch',
    what: 'requires a key',
    input: { evaluations: [evaluation({})] },
    key: null,
    expected: NO_KEY,
  },
  {
    rpc: 'ControlService.UpdateControl',
    what: 'renames and disables a control',
    input: { control_id: 1, name: 'cards', enabled: false },
    expected: { reply: { success: true, name: 'cards', enabled: false } },
  },
  {
    rpc: 'ControlService.UpdateControl',
    what: 'leaves alone what is not given',
    input: { control_id: 1 },
    expected: { reply: { success: true, name: 'cards', enabled: false } },
  },
  {
    rpc: 'ControlService.UpdateControl',
    what: 'refuses a name that is taken',
    input: { control_id: 1, name: 'large-refunds', enabled: true },
    expected: error('CONTROL_NAME_CONFLICT', 409, 'AlreadyExists', ['name name_conflict']),
  },
  {
    rpc: 'ControlService.UpdateControl',
    what: 'refuses a name that is no slug',
    input: { control_id: 1, name: 'two words' },
    expected: invalid('name string_pattern_mismatch'),
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'does not ask a disabled control',
    input: evaluation({ size: 'small', card: '4111111111111111' }),
    expected: { reply: { is_safe: true, matches: [], non_matches: [{ control_id: 2 }] } },
  },
  {
    rpc: 'ControlService.SetControlData',
    what: 'replaces a definition',
    input: { control_id: 1, data: { ...CARDS, tags: ['cards'], action: { decision: 'observe' } } },
    expected: { reply: { success: true, warnings: [] } },
  },
  {
    rpc: 'ControlService.SetControlData',
    what: 'does not find an unknown control',
    input: { control_id: 99, data: CARDS },
    expected: NO_CONTROL,
  },
  {
    rpc: 'ControlService.SetControlData',
    what: 'demands a definition',
    input: { control_id: 1 },
    expected: invalid('data missing'),
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'asks the new definition',
    input: evaluation({ size: 'small', card: '4111111111111111' }),
    expected: {
      reply: { is_safe: true, matches: [{ control_id: 1, control_name: 'cards', action: 'observe' }] },
    },
  },
  {
    rpc: 'ControlService.DeleteControl',
    what: 'keeps a control that is in use',
    input: { control_id: 2 },
    expected: error('CONTROL_IN_USE', 409, 'FailedPrecondition', ['controls control_in_use']),
  },
  {
    rpc: 'AgentService.RemoveAgentControl',
    what: 'unlinks a control',
    input: { agent_name: 'billing-bot-01', control_id: 1 },
    expected: { reply: { success: true, removed_direct_association: true, control_still_active: false } },
  },
  {
    rpc: 'AgentService.RemoveAgentControl',
    what: 'has nothing left to unlink',
    input: { agent_name: 'billing-bot-01', control_id: 1 },
    expected: { reply: { success: true, removed_direct_association: false, control_still_active: false } },
  },
  {
    rpc: 'AgentService.RemoveAgentControl',
    what: 'does not find an unknown control',
    input: { agent_name: 'billing-bot-01', control_id: 99 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'ControlService.DeleteControl',
    what: 'deletes an unused control',
    input: { control_id: 1 },
    expected: {
      reply: {
        success: true,
        dissociated_from: [],
        dissociated_from_policies: [],
        dissociated_from_agents: [],
      },
    },
  },
  {
    rpc: 'ControlService.DeleteControl',
    what: 'deletes a control in use by force',
    input: { control_id: 2, force: true },
    expected: { reply: { success: true, dissociated_from_agents: ['billing-bot-01'] } },
  },
  {
    rpc: 'ControlService.DeleteControl',
    what: 'does not find a deleted control',
    input: { control_id: 2 },
    expected: NO_CONTROL,
  },
  {
    rpc: 'ControlService.CreateControl',
    what: 'never gives an id again',
    input: { name: 'large-refunds', data: CARDS },
    expected: { reply: { control_id: 3 } },
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'finds no control at all',
    input: evaluation({}),
    expected: { reply: { is_safe: true, confidence: 1, matches: [], errors: [], non_matches: [] } },
  },
  ...OBSERVABILITY_STEPS,
  ...VERSION_STEPS,
  ...POLICY_STEPS,
  ...AGENT_EVALUATOR_STEPS,
  ...TEMPLATE_STEPS,
  ...RESOURCE_STEPS,
  ...AUDIT_STEPS,
];
