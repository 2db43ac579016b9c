import { expect } from 'vitest';
import {
  BAD_KEY,
  CONTROL_IN_USE,
  DUPLICATE_STEP,
  NO_AGENT,
  NO_CONTROL,
  NO_KEY,
  NOT_ADMIN,
  nameTaken,
  refusal,
} from '../support/refusals.js';
import type { Json } from '../support/wire-shape.js';
import { ADAPTER_STEPS } from './every-rpc.adapters.js';
import { AGENT_EVALUATOR_STEPS } from './every-rpc.agent-evaluators.js';
import { APPROVAL_STEPS } from './every-rpc.approvals.js';
import { AUDIT_STEPS } from './every-rpc.audit.js';
import { AUTH_STEPS } from './every-rpc.auth.js';
import { BINDING_STEPS } from './every-rpc.bindings.js';
import { CONFIGURATION_STEPS } from './every-rpc.configuration.js';
import { COVERAGE_STEPS } from './every-rpc.coverage.js';
import { EXPLAIN_STEPS } from './every-rpc.explain.js';
import { FALSE_POSITIVE_STEPS } from './every-rpc.false-positives.js';
import { HALT_STEPS } from './every-rpc.halts.js';
import { KEY_STEPS } from './every-rpc.keys.js';
import { LABEL_STEPS } from './every-rpc.labels.js';
import { LINT_STEPS } from './every-rpc.lint.js';
import { MEMORY_STEPS } from './every-rpc.memory.js';
import { NAMESPACE_STEPS } from './every-rpc.namespaces.js';
import { NOTIFICATION_STEPS } from './every-rpc.notifications.js';
import { OBSERVABILITY_STEPS } from './every-rpc.observability.js';
import { PACK_STEPS } from './every-rpc.packs.js';
import { POLICY_STEPS } from './every-rpc.policies.js';
import { RESOURCE_STEPS } from './every-rpc.resources.js';
import { SAMPLE_STEPS } from './every-rpc.samples.js';
import { SHADOW_STEPS } from './every-rpc.shadows.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';
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

const refund = (input: Json, more: Record<string, Json> = {}) => ({
  type: 'tool',
  name: 'refund',
  input,
  ...more,
});
const evaluation = (input: Json, more: Record<string, Json> = {}) => ({
  agent_name: 'billing-bot-01',
  stage: 'pre',
  step: refund(input, more),
  detail: 'full',
});

/**
 * The script that every protocol plays on a database of its own: each RPC with what it is for and with its main
 * errors. Ids are those of an empty database.
 */
export const STEPS: readonly Step[] = [
  ...steps('EvaluatorService.ListEvaluators', [
    [
      'lists the evaluators',
      {},
      {
        reply: {
          evaluators: {
            regex: { name: 'regex', version: '1.0.0', requires_api_key: false, timeout_ms: 10_000 },
            list: { name: 'list', version: '1.0.0' },
          },
        },
      },
      READER_KEY,
    ],
    ['requires a key', {}, NO_KEY, null],
    ['refuses a wrong key', {}, BAD_KEY, 'another-key'],
  ]),
  ...steps('ServerService.GetServerInfo', [
    [
      'names the features and limits of the server',
      {},
      { reply: { max_batch: 1_000, stream_window: 64, max_message_bytes: 8 * 1024 * 1024 } },
      READER_KEY,
    ],
    [
      'names the features of this release to an admin as well',
      {},
      { reply: { features: expect.arrayContaining(['active_controls_filter', 'server_state']) } },
    ],
    ['requires a key', {}, NO_KEY, null],
  ]),
  ...steps('ServerService.ListProblems', [
    ['has nothing to tell at first', {}, { reply: { working: true, problems: [] } }, READER_KEY],
    ['requires a key', {}, NO_KEY, null],
  ]),
  called(
    'AgentService.ListAgents',
    'lists nothing at first',
    {},
    {
      reply: { agents: [], pagination: { limit: 20, total: 0, next_cursor: null, has_more: false } },
    },
  ),
  ...steps('AgentService.InitAgent', [
    [
      'registers an agent with a regular key',
      REGISTRATION,
      {
        reply: { created: true, controls: [], overwrite_applied: false, overwrite_changes: NO_CHANGES },
      },
      READER_KEY,
    ],
    [
      'registers another agent, name normalised',
      { agent: { agent_name: '  Support-Bot-01 ' } },
      { reply: { created: true } },
    ],
    [
      'refuses the name of an evaluator of the service',
      { agent: { agent_name: 'billing-bot-01' }, evaluators: [{ name: 'regex' }] },
      nameTaken('EVALUATOR'),
    ],
    [
      'refuses a step that is there twice',
      {
        agent: { agent_name: 'billing-bot-01' },
        steps: [
          { type: 'a', name: 'b' },
          { type: 'a', name: 'b' },
        ],
      },
      DUPLICATE_STEP,
    ],
    [
      'refuses incompatible schemas',
      {
        agent: AGENT,
        steps: [{ type: 'tool', name: 'refund', input_schema: { type: 'string' } }],
      },
      refusal('SCHEMA_INCOMPATIBLE', 409, 'FailedPrecondition', ['schema schema_mismatch']),
    ],
    [
      'reports every problem at once',
      { agent: { agent_name: 'short' }, steps: [{ type: '', name: 'x' }, { type: 'y' }] },
      ['agent.agent_name value_error', 'steps[0].type string_too_short', 'steps[1].name missing'],
    ],
  ]),
  ...steps('AgentService.GetAgent', [
    [
      'gives back all of a registration',
      { agent_name: 'BILLING-BOT-01' },
      {
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
    ],
    ['does not find an unknown agent', { agent_name: 'nobody-at-all' }, NO_AGENT],
    ['refuses a name that can be no agent', { agent_name: 'short' }, 'agent_name invalid_format'],
  ]),
  ...steps('AgentService.ListAgents', [
    [
      'pages',
      { limit: 1 },
      {
        reply: {
          agents: [{ agent_name: 'support-bot-01', policy_ids: [], step_count: 0, active_controls_count: 0 }],
          pagination: { limit: 1, total: 2, next_cursor: 'support-bot-01', has_more: true },
        },
      },
    ],
    [
      'filters by name',
      { name: 'SUPPORT' },
      { reply: { agents: [{ agent_name: 'support-bot-01' }], pagination: { total: 1 } } },
    ],
    [
      'finds the agents that no control checks',
      { has_active_controls: false, name: 'BOT' },
      {
        reply: {
          agents: [{ agent_name: 'support-bot-01' }, { agent_name: 'billing-bot-01' }],
          pagination: { total: 2 },
        },
      },
    ],
    ['refuses a cursor that can be no agent', { cursor: 'short' }, 'cursor invalid_format'],
  ]),
  ...steps('ControlService.InspectExpression', [
    [
      'says what is wrong with an expression, and what may be written, with a regular key',
      {
        expression: "nmae == 'refund' && agent.name == 'x'",
        cursor: 26,
        scope: { step_names: ['registered-by-none'], stages: ['pre'] },
        selector_path: 'input',
      },
      {
        reply: {
          problems: [{ code: 'unknown_name', start: 0, end: 4, suggestion: 'name', error: true }],
          completions: expect.arrayContaining([expect.objectContaining({ label: 'metadata' })]),
          replace_from: 26,
          schemas_known: false,
        },
      },
      READER_KEY,
    ],
    [
      'says what an expression is and reads',
      { expression: "name == 'refund' && agent.name == 'x'" },
      { reply: { problems: [], result_type: 'bool', reads: ['name', 'agent.name'], replace_from: 0 } },
    ],
    [
      'refuses a selector that is none',
      { expression: 'true', selector_path: 'inputs' },
      'selector_path value_error',
    ],
    ['requires a key', { expression: 'true' }, NO_KEY, null],
  ]),
  ...steps('ControlService.ValidateControl', [
    [
      'accepts a definition and warns of an unknown evaluator, with a regular key',
      {
        data: {
          ...CARDS,
          condition: { ...CARDS.condition, evaluator: { name: 'not-installed', config: {} } },
        },
      },
      {
        reply: {
          success: true,
          warnings: [{ code: 'unknown_evaluator', field: 'data.condition.evaluator.name' }],
        },
      },
      READER_KEY,
    ],
    [
      'names what is wrong with a definition',
      {
        data: {
          ...CARDS,
          condition: leaf('input', '('),
          action: { decision: 'steer', steering_context: {} },
        },
      },
      ['data.condition.evaluator.pattern value_error', 'data.action.steering_context.message missing'],
    ],
  ]),
  ...steps('ControlService.CreateControl', [
    ['creates a control', { name: 'no-cards', data: CARDS }, { reply: { control_id: 1, warnings: [] } }],
    [
      'creates a control with everything a definition can have',
      { name: 'large-refunds', data: RICH },
      {
        reply: {
          control_id: 2,
          warnings: [
            { code: 'unmatched_step_name_regex', field: 'data.scope.step_name_regex' },
            { code: 'path_not_guaranteed', field: 'data.condition.and[0].or[0].selector' },
            { code: 'path_not_guaranteed', field: 'data.condition.and[0].or[1].selector' },
          ],
        },
      },
    ],
    ['refuses a name that is taken', { name: 'no-cards', data: CARDS }, nameTaken('CONTROL')],
    ['is for admins', { name: 'another', data: CARDS }, NOT_ADMIN, READER_KEY],
    ['demands a name and a definition', {}, ['name missing', 'data missing']],
  ]),
  ...steps('ControlService.GetControl', [
    [
      'gives back everything of a definition',
      { control_id: 2 },
      { reply: { id: 2, name: 'large-refunds', data: RICH } },
      READER_KEY,
    ],
    ['does not find an unknown control', { control_id: 99 }, NO_CONTROL],
  ]),
  ...steps('ControlService.GetControlData', [
    ['gives back a definition alone', { control_id: 2 }, { reply: { data: RICH } }],
    ['does not find an unknown control', { control_id: 0 }, NO_CONTROL],
  ]),
  ...steps('ControlService.ListControls', [
    [
      'lists the newest first',
      {},
      {
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
    ],
    [
      'combines all filters',
      {
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
      { reply: { controls: [{ id: 2 }], pagination: { limit: 5, total: 1 } } },
    ],
    [
      'refuses limits out of range and cursors that are no number',
      { limit: 0, cursor: 'x' },
      ['cursor int_parsing', 'limit greater_than_equal'],
    ],
  ]),
  ...steps('AgentService.AddAgentControl', [
    ['links a control', { agent_name: 'billing-bot-01', control_id: 1 }, { reply: { success: true } }],
    ['links another control', { agent_name: 'billing-bot-01', control_id: 2 }, { reply: { success: true } }],
    ['links a control again', { agent_name: 'Billing-Bot-01', control_id: 2 }, { reply: { success: true } }],
  ]),
  called(
    'AgentService.ListAgents',
    'finds the agents that a control checks',
    { has_active_controls: true },
    {
      reply: {
        agents: [{ agent_name: 'billing-bot-01', active_controls_count: 2 }],
        pagination: { total: 1 },
      },
    },
  ),
  ...steps('AgentService.AddAgentControl', [
    ['looks for the agent first', { agent_name: 'nobody-at-all', control_id: 99 }, NO_AGENT],
    ['does not find an unknown control', { agent_name: 'billing-bot-01', control_id: 99 }, NO_CONTROL],
    ['is for admins', { agent_name: 'billing-bot-01', control_id: 1 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('AgentService.ListAgentControls', [
    [
      'lists the controls of an agent, newest first',
      { agent_name: 'billing-bot-01' },
      {
        reply: {
          controls: [
            { id: 2, name: 'large-refunds', control: RICH },
            { id: 1, name: 'no-cards', control: { enabled: true, tags: [] } },
          ],
        },
      },
      READER_KEY,
    ],
    [
      'filters',
      { agent_name: 'billing-bot-01', enabled_state: 'disabled', rendered_state: 'rendered' },
      { reply: { controls: [] } },
    ],
    [
      'refuses unknown states',
      { agent_name: 'billing-bot-01', rendered_state: 'half', enabled_state: 'maybe' },
      ['rendered_state literal_error', 'enabled_state literal_error'],
    ],
    ['does not find an unknown agent', { agent_name: 'nobody-at-all' }, NO_AGENT],
  ]),
  called(
    'AgentService.InitAgent',
    'overwrites, reports what changed and which controls are active',
    {
      agent: { ...AGENT, agent_version: '2' },
      steps: [
        { type: 'tool', name: 'refund' },
        { type: 'tool', name: 'fresh' },
      ],
      evaluators: [{ name: 'tone', config_schema: { type: 'string' } }],
      conflict_mode: 'overwrite',
      force_replace: true,
    },
    {
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
  ),
  ...steps('EvaluationService.Evaluate', [
    [
      'finds a step unsafe and states why, with a regular key',
      evaluation(
        { size: 'huge', card: '4111111111111111' },
        { context: { role: 'clerk' }, output: [1, null] },
      ),
      {
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
      READER_KEY,
    ],
    [
      'finds a step safe',
      evaluation({ size: 'small' }),
      {
        reply: {
          is_safe: true,
          confidence: 1,
          reason: null,
          matches: [],
          errors: [],
          non_matches: [{ control_id: 2 }, { control_id: 1 }],
        },
      },
    ],
    ['does not find an unknown agent', { ...evaluation({}), agent_name: 'nobody-at-all' }, NO_AGENT],
    [
      'names every missing member',
      { detail: 'full' },
      ['agent_name missing', 'step missing', 'stage missing'],
    ],
    ['demands an object as the input of a tool', evaluation('text'), 'step value_error'],
  ]),
  ...EXPLAIN_STEPS,
  ...steps('EvaluationService.EvaluateBatch', [
    [
      'gives every evaluation a result of its own, with a regular key',
      {
        evaluations: [
          evaluation({ size: 'small' }),
          { ...evaluation({}), agent_name: 'nobody-at-all' },
          evaluation('text'),
          evaluation({ size: 'small', card: '4111111111111111' }),
        ],
      },
      {
        reply: {
          results: [
            { verdict: { is_safe: true, non_matches: [{ control_id: 2 }, { control_id: 1 }] }, error: null },
            { verdict: null, error: { code: 5, details: ['google.rpc.ErrorInfo'] } },
            { verdict: null, error: { code: 3, details: ['google.rpc.ErrorInfo', 'google.rpc.BadRequest'] } },
            { verdict: { is_safe: false, matches: [{ control_id: 1, action: 'deny' }] }, error: null },
          ],
        },
      },
      READER_KEY,
    ],
    ['demands an evaluation', { evaluations: [] }, 'evaluations too_short'],
    [
      'demands no more than 1,000 evaluations',
      { evaluations: Array<Json>(1_001).fill({}) },
      'evaluations too_long',
    ],
    ['requires a key', { evaluations: [evaluation({})] }, NO_KEY, null],
  ]),
  ...steps('ControlService.UpdateControl', [
    [
      'renames and disables a control',
      { control_id: 1, name: 'cards', enabled: false },
      { reply: { success: true, name: 'cards', enabled: false } },
    ],
    [
      'leaves alone what is not given',
      { control_id: 1 },
      { reply: { success: true, name: 'cards', enabled: false } },
    ],
    [
      'refuses a name that is taken',
      { control_id: 1, name: 'large-refunds', enabled: true },
      nameTaken('CONTROL'),
    ],
    ['refuses a name that is no slug', { control_id: 1, name: 'two words' }, 'name string_pattern_mismatch'],
  ]),
  called(
    'EvaluationService.Evaluate',
    'does not ask a disabled control',
    evaluation({ size: 'small', card: '4111111111111111' }),
    { reply: { is_safe: true, matches: [], non_matches: [{ control_id: 2 }] } },
  ),
  ...steps('ControlService.SetControlData', [
    [
      'replaces a definition',
      { control_id: 1, data: { ...CARDS, tags: ['cards'], action: { decision: 'observe' } } },
      { reply: { success: true, warnings: [] } },
    ],
    ['does not find an unknown control', { control_id: 99, data: CARDS }, NO_CONTROL],
    ['demands a definition', { control_id: 1 }, 'data missing'],
  ]),
  called(
    'EvaluationService.Evaluate',
    'asks the new definition',
    evaluation({ size: 'small', card: '4111111111111111' }),
    {
      reply: { is_safe: true, matches: [{ control_id: 1, control_name: 'cards', action: 'observe' }] },
    },
  ),
  called('ControlService.DeleteControl', 'keeps a control that is in use', { control_id: 2 }, CONTROL_IN_USE),
  ...steps('AgentService.RemoveAgentControl', [
    [
      'unlinks a control',
      { agent_name: 'billing-bot-01', control_id: 1 },
      { reply: { success: true, removed_direct_association: true, control_still_active: false } },
    ],
    [
      'has nothing left to unlink',
      { agent_name: 'billing-bot-01', control_id: 1 },
      { reply: { success: true, removed_direct_association: false, control_still_active: false } },
    ],
    ['does not find an unknown control', { agent_name: 'billing-bot-01', control_id: 99 }, NO_CONTROL],
  ]),
  ...steps('ControlService.DeleteControl', [
    [
      'deletes an unused control',
      { control_id: 1 },
      {
        reply: {
          success: true,
          dissociated_from: [],
          dissociated_from_policies: [],
          dissociated_from_agents: [],
        },
      },
    ],
    [
      'deletes a control in use by force',
      { control_id: 2, force: true },
      { reply: { success: true, dissociated_from_agents: ['billing-bot-01'] } },
    ],
    ['does not find a deleted control', { control_id: 2 }, NO_CONTROL],
  ]),
  called(
    'ControlService.CreateControl',
    'never gives an id again',
    { name: 'large-refunds', data: CARDS },
    { reply: { control_id: 3 } },
  ),
  called('EvaluationService.Evaluate', 'finds no control at all', evaluation({}), {
    reply: { is_safe: true, confidence: 1, matches: [], errors: [], non_matches: [] },
  }),
  ...OBSERVABILITY_STEPS,
  ...FALSE_POSITIVE_STEPS,
  ...VERSION_STEPS,
  ...POLICY_STEPS,
  ...AGENT_EVALUATOR_STEPS,
  ...TEMPLATE_STEPS,
  ...RESOURCE_STEPS,
  ...LABEL_STEPS,
  ...AUDIT_STEPS,
  ...AUTH_STEPS,
  ...BINDING_STEPS,
  ...NAMESPACE_STEPS,
  ...KEY_STEPS,
  ...PACK_STEPS,
  ...HALT_STEPS,
  ...NOTIFICATION_STEPS,
  ...MEMORY_STEPS,
  ...APPROVAL_STEPS,
  ...SAMPLE_STEPS,
  ...SHADOW_STEPS,
  ...CONFIGURATION_STEPS,
  ...LINT_STEPS,
  ...ADAPTER_STEPS,
  ...COVERAGE_STEPS,
];
