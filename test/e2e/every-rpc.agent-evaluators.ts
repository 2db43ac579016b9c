import { NO_AGENT, NOT_ADMIN, refusal } from '../support/refusals.js';
import type { Json } from '../support/wire-shape.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';

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
  called(
    'AgentService.InitAgent',
    'registers evaluators',
    {
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
    { reply: { created: true } },
  ),
  ...steps('AgentService.ListAgentEvaluators', [
    [
      'pages in the order of registration',
      { agent_name: AGENT, limit: 2 },
      {
        reply: {
          evaluators: [
            { name: 'tone', description: 'how it sounds', config_schema: TONE_SCHEMA },
            { name: 'a:b/c', description: null, config_schema: {} },
          ],
          pagination: { limit: 2, total: 3, next_cursor: 'a:b/c', has_more: true },
        },
      },
      READER_KEY,
    ],
    [
      'shows what follows the cursor',
      { agent_name: AGENT, cursor: 'a:b/c' },
      {
        reply: { evaluators: [{ name: 'last' }], pagination: { next_cursor: null, has_more: false } },
      },
    ],
    ['does not find an unknown agent', { agent_name: 'nobody-at-all' }, NO_AGENT],
  ]),
  ...steps('AgentService.GetAgentEvaluator', [
    [
      'reads one evaluator',
      { agent_name: AGENT, evaluator_name: 'tone' },
      { reply: { name: 'tone', description: 'how it sounds', config_schema: TONE_SCHEMA } },
      READER_KEY,
    ],
    [
      'does not find an unknown evaluator',
      { agent_name: AGENT, evaluator_name: 'Tone' },
      refusal('EVALUATOR_NOT_FOUND', 404, 'NotFound', []),
    ],
  ]),
  called(
    'ControlService.CreateControl',
    'refuses an evaluator that its agent does not have',
    { name: 'polite-answers', data: toneControl(`${AGENT}:tune`, {}) },
    refusal('EVALUATOR_NOT_FOUND', 422, 'InvalidArgument', [
      'data.condition.not.evaluator.name evaluator_not_found',
    ]),
  ),
  ...steps('ControlService.ValidateControl', [
    [
      'refuses a configuration that the schema of the agent refuses',
      { data: toneControl(`${AGENT}:tone`, { level: 0 }) },
      refusal('INVALID_CONFIG', 422, 'InvalidArgument', [
        'data.condition.not.evaluator.config schema_validation_error',
      ]),
      READER_KEY,
    ],
    ['refuses an evaluator of an unknown agent', { data: toneControl('nobody-at-all:tone', {}) }, NO_AGENT],
    [
      'does not warn of an evaluator that its agent has',
      { data: toneControl(`${AGENT}:tone`, { level: 3 }) },
      { reply: { success: true, warnings: [] } },
    ],
  ]),
  ...steps('AgentService.UpdateAgent', [
    ['demands an admin key', { agent_name: AGENT }, NOT_ADMIN, READER_KEY],
    [
      'names what is wrong',
      { agent_name: AGENT, remove_steps: [{ type: '', name: 'x' }] },
      'remove_steps[0].type string_too_short',
    ],
    [
      'sets how steps are compared with their schemas, and warns of what is weaker than the service',
      { agent_name: AGENT, step_schemas: 'off' },
      { reply: { steps_removed: [], warnings: [{ code: 'weaker_than_service' }] } },
    ],
    [
      'removes steps and evaluators, and lists which there were',
      {
        agent_name: AGENT,
        remove_steps: [
          { type: 'tool', name: 'lookup' },
          { type: 'llm', name: 'refund' },
        ],
        remove_evaluators: ['last', 'never-there'],
      },
      {
        reply: { steps_removed: [{ type: 'tool', name: 'lookup' }], evaluators_removed: ['last'] },
      },
    ],
  ]),
  called(
    'AgentService.GetAgent',
    'shows what an update left',
    { agent_name: AGENT },
    {
      reply: { steps: [{ name: 'refund' }], evaluators: [{ name: 'tone' }, { name: 'a:b/c' }] },
    },
  ),
  ...steps('ControlService.GetControlSchema', [
    [
      'returns the schema of a definition',
      {},
      {
        reply: { schema: { type: 'object', required: ['condition', 'execution', 'action'] } },
      },
      null,
    ],
  ]),
];
