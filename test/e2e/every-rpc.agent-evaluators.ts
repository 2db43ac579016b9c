import type { Json } from '../support/wire-shape.js';
import { error, invalid, NO_AGENT, NO_KEY, NOT_ADMIN, READER_KEY, type Step } from './every-rpc.support.js';

const AGENT = 'evaluator-bot-01';
const TONE_SCHEMA = {
  type: 'object',
  properties: { level: { type: 'integer', minimum: 1 } },
  required: ['level'],
} satisfies Json;

const toneControl = (name: string, config: Json) =>
  ({
    execution: 'sdk',
    condition: { not: { selector: { path: 'output' }, evaluator: { name, config } } },
    action: { decision: 'deny' },
  }) satisfies Json;

/** The part of the script about the evaluators of agents; it needs nothing of the parts before it. */
export const AGENT_EVALUATOR_STEPS: readonly Step[] = [
  {
    rpc: 'AgentService.InitAgent',
    what: 'registers evaluators',
    input: {
      agent: { agent_name: AGENT },
      steps: [
        { type: 'tool', name: 'refund' },
        { type: 'tool', name: 'lookup' },
      ],
      evaluators: [
        { name: 'tone', config_schema: TONE_SCHEMA, description: 'how it sounds' },
        { name: 'a:b/c' },
        { name: 'last' },
      ],
    },
    expected: { reply: { created: true } },
  },
  {
    rpc: 'AgentService.ListAgentEvaluators',
    what: 'pages in the order of registration',
    input: { agent_name: AGENT, limit: 2 },
    key: READER_KEY,
    expected: {
      reply: {
        evaluators: [
          { name: 'tone', description: 'how it sounds', config_schema: TONE_SCHEMA },
          { name: 'a:b/c', description: null, config_schema: {} },
        ],
        pagination: { limit: 2, total: 3, next_cursor: 'a:b/c', has_more: true },
      },
    },
  },
  {
    rpc: 'AgentService.ListAgentEvaluators',
    what: 'shows what follows the cursor',
    input: { agent_name: AGENT, cursor: 'a:b/c' },
    expected: {
      reply: { evaluators: [{ name: 'last' }], pagination: { next_cursor: null, has_more: false } },
    },
  },
  {
    rpc: 'AgentService.ListAgentEvaluators',
    what: 'does not find an unknown agent',
    input: { agent_name: 'nobody-at-all' },
    expected: NO_AGENT,
  },
  {
    rpc: 'AgentService.GetAgentEvaluator',
    what: 'reads one evaluator',
    input: { agent_name: AGENT, evaluator_name: 'tone' },
    key: READER_KEY,
    expected: { reply: { name: 'tone', description: 'how it sounds', config_schema: TONE_SCHEMA } },
  },
  {
    rpc: 'AgentService.GetAgentEvaluator',
    what: 'does not find an unknown evaluator',
    input: { agent_name: AGENT, evaluator_name: 'Tone' },
    expected: error('EVALUATOR_NOT_FOUND', 404, 'NotFound', []),
  },
  {
    rpc: 'ControlService.CreateControl',
    what: 'refuses an evaluator that its agent does not have',
    input: { name: 'polite-answers', data: toneControl(`${AGENT}:tune`, {}) },
    expected: error('EVALUATOR_NOT_FOUND', 422, 'InvalidArgument', [
      'data.condition.not.evaluator.name evaluator_not_found',
    ]),
  },
  {
    rpc: 'ControlService.ValidateControl',
    what: 'refuses a configuration that the schema of the agent refuses',
    input: { data: toneControl(`${AGENT}:tone`, { level: 0 }) },
    key: READER_KEY,
    expected: error('INVALID_CONFIG', 422, 'InvalidArgument', [
      'data.condition.not.evaluator.config schema_validation_error',
    ]),
  },
  {
    rpc: 'ControlService.ValidateControl',
    what: 'refuses an evaluator of an unknown agent',
    input: { data: toneControl('nobody-at-all:tone', {}) },
    expected: NO_AGENT,
  },
  {
    rpc: 'ControlService.ValidateControl',
    what: 'does not warn of an evaluator that its agent has',
    input: { data: toneControl(`${AGENT}:tone`, { level: 3 }) },
    expected: { reply: { success: true, warnings: [] } },
  },
  {
    rpc: 'AgentService.UpdateAgent',
    what: 'demands an admin key',
    input: { agent_name: AGENT },
    key: READER_KEY,
    expected: NOT_ADMIN,
  },
  {
    rpc: 'AgentService.UpdateAgent',
    what: 'names what is wrong',
    input: { agent_name: AGENT, remove_steps: [{ type: '', name: 'x' }] },
    expected: invalid('remove_steps[0].type string_too_short'),
  },
  {
    rpc: 'AgentService.UpdateAgent',
    what: 'sets how steps are compared with their schemas, and warns of what is weaker than the service',
    input: { agent_name: AGENT, step_schemas: 'off' },
    expected: { reply: { steps_removed: [], warnings: [{ code: 'weaker_than_service' }] } },
  },
  {
    rpc: 'AgentService.UpdateAgent',
    what: 'removes steps and evaluators, and lists which there were',
    input: {
      agent_name: AGENT,
      remove_steps: [
        { type: 'tool', name: 'lookup' },
        { type: 'llm', name: 'refund' },
      ],
      remove_evaluators: ['last', 'never-there'],
    },
    expected: {
      reply: { steps_removed: [{ type: 'tool', name: 'lookup' }], evaluators_removed: ['last'] },
    },
  },
  {
    rpc: 'AgentService.GetAgent',
    what: 'shows what an update left',
    input: { agent_name: AGENT },
    expected: {
      reply: { steps: [{ name: 'refund' }], evaluators: [{ name: 'tone' }, { name: 'a:b/c' }] },
    },
  },
  {
    rpc: 'ControlService.GetControlSchema',
    what: 'returns the schema of a definition',
    input: {},
    key: READER_KEY,
    expected: {
      reply: { schema: { type: 'object', required: ['condition', 'execution', 'action'] } },
    },
  },
  {
    rpc: 'ControlService.GetControlSchema',
    what: 'requires a key',
    input: {},
    key: null,
    expected: NO_KEY,
  },
];
