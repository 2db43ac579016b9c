import { expect } from 'vitest';
import { NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { called, evaluation, LATEST_SAMPLE, READER_KEY, type Step, steps } from './every-rpc.support.js';

const NO_RULE = refusal('SAMPLING_RULE_NOT_FOUND', 404, 'NotFound', []);
const NO_SAMPLE = refusal('SAMPLE_NOT_FOUND', 404, 'NotFound', []);
const CONFLICT = refusal('SAMPLING_RULE_CONFLICT', 409, 'AlreadyExists', []);
const NO_CONTROL = refusal('CONTROL_NOT_FOUND', 404, 'NotFound', []);
const MADE = { created_at: expect.any(String), created_by: expect.any(String) };
const ASKED = {
  agent_name: 'sampled-bot-01',
  share: 0.5,
  masked_paths: ['input.password'],
  masked_patterns: ['ACC-[0-9]{6}'],
  max_bytes: 1_000,
  retention_hours: 24,
  // Never whole seconds: REST prints their fraction, JSON of protobuf does not.
  ends_at: new Date(Math.floor(Date.now() / 1000) * 1000 + 86_400_123).toISOString(),
};
const RULE = { rule_id: 1, ...ASKED, ...MADE };
const DEFAULTS = { rule_id: 2, share: 0.01, max_bytes: 16_384, retention_hours: 168, ...MADE };

const ALL = { agent_name: 'billing-bot-01', share: 1 };

/** The part of the script that is about samples of steps. */
export const SAMPLE_STEPS: readonly Step[] = [
  ...steps('SampleService.CreateSamplingRule', [
    ['keeps steps of an agent', { ...ASKED, agent_name: ' Sampled-Bot-01 ' }, { reply: { rule: RULE } }],
    ['keeps few for some days by default', {}, { reply: { rule: DEFAULTS } }],
    ['refuses a second rule for the same steps', { agent_name: 'sampled-bot-01' }, CONFLICT],
    ['does not find an unknown control', { control_id: 9_999 }, NO_CONTROL],
    ['demands a share', { share: 0 }, 'share value_error'],
    ['takes no share beyond all', { share: 1.5 }, 'share value_error'],
    ['takes paths of selectors', { masked_paths: ['password'] }, 'masked_paths[0] value_error'],
    ['takes patterns', { masked_patterns: ['('] }, 'masked_patterns[0] value_error'],
    ['takes few masks', { masked_patterns: Array(51).fill('a') }, 'masked_patterns too_long'],
    ['bounds the size', { max_bytes: 262_145 }, 'max_bytes less_than_equal'],
    ['demands a size', { max_bytes: 0 }, 'max_bytes greater_than_equal'],
    ['bounds the time', { retention_hours: 721 }, 'retention_hours less_than_equal'],
    ['refuses a time in the past', { ends_at: '2001-01-01T00:00:00Z' }, 'ends_at datetime_future'],
    ['refuses a far time', { ends_at: '2101-01-01T00:00:00Z' }, 'ends_at value_error'],
    ['is for administrators', ASKED, NOT_ADMIN, READER_KEY],
    ['requires a key', ASKED, NO_KEY, null],
  ]),
  ...steps('SampleService.ListSamplingRules', [
    ['lists rules', {}, { reply: { rules: [RULE, DEFAULTS] } }],
    ['requires a key', {}, NO_KEY, null],
  ]),
  // It would keep one of a hundred steps, in the place of the rule for all of them.
  called('SampleService.DeleteSamplingRule', 'deletes a rule', { rule_id: 2 }, { reply: {} }),
  called('SampleService.CreateSamplingRule', 'keeps all steps of an agent', ALL, { reply: { rule: ALL } }),
  called(
    'EvaluationService.Evaluate',
    'keeps the step',
    evaluation(ALL.agent_name, 'password: hunter2hunter2'),
    {
      reply: { is_safe: true },
    },
  ),
  ...steps('SampleService.GetSample', [
    [
      'has the step without its secret',
      { decision_id: LATEST_SAMPLE },
      {
        reply: {
          sample: {
            rule_id: 3,
            agent_name: ALL.agent_name,
            step_type: 'llm',
            step_name: 'answer',
            stage: 'pre',
          },
          step_json: expect.not.stringContaining('hunter2'),
        },
      },
    ],
  ]),
  called(
    'SampleService.DeleteSamplingRule',
    'deletes the sample',
    { rule_id: 3, delete_samples: true },
    {
      reply: { deleted_samples: 1 },
    },
  ),
  ...steps('SampleService.DeleteSamplingRule', [
    ['deletes a rule and its samples', { rule_id: 1, delete_samples: true }, { reply: {} }],
    ['deletes it once', { rule_id: 1 }, NO_RULE],
    ['does not find numbers beyond ids', { rule_id: 2_147_483_647 }, NO_RULE],
    ['is for administrators', { rule_id: 1 }, NOT_ADMIN, READER_KEY],
    ['requires a key', { rule_id: 1 }, NO_KEY, null],
  ]),
  ...steps('SampleService.ListSamples', [
    ['lists samples', {}, { reply: { pagination: { limit: 20 } } }],
    [
      'lists those of an agent and a rule',
      { agent_name: 'sampled-bot-01', rule_id: 1, limit: 1 },
      { reply: { pagination: { limit: 1 } } },
    ],
    ['refuses an unknown cursor', { cursor: 'none' }, 'cursor value_error'],
    ['demands a page size', { limit: 0 }, 'limit greater_than_equal'],
    ['requires a key', {}, NO_KEY, null],
  ]),
  ...steps('SampleService.GetSample', [
    ['does not find an unknown decision', { decision_id: 'none' }, NO_SAMPLE],
    ['demands a decision of bounded length', { decision_id: 'x'.repeat(65) }, 'decision_id string_too_long'],
    ['requires a key', { decision_id: 'none' }, NO_KEY, null],
  ]),
];
