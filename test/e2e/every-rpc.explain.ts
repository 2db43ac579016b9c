import { NO_AGENT, NO_CONTROL, NO_KEY, NOT_ADMIN } from '../support/refusals.js';
import type { Json } from '../support/wire-shape.js';
import { READER_KEY, type Step, steps } from './every-rpc.support.js';

/** What the script before this leaves behind: two controls of an agent, the second one with everything. */
const AGENT = { agent_name: 'billing-bot-01' };
const refund = (input: Json, more: Record<string, Json> = {}) => ({
  stage: 'pre',
  step: { type: 'tool', name: 'refund', input, ...more },
});
const data = {
  execution: 'server',
  condition: { selector: { path: 'input' }, evaluator: { name: 'list', config: { values: ['x'] } } },
  action: { decision: 'observe' },
};

/** The part of the script that is about explanations. It changes nothing. */
export const EXPLAIN_STEPS: readonly Step[] = [
  ...steps('EvaluationService.Explain', [
    [
      'explains why controls match, with a regular key',
      {
        ...AGENT,
        ...refund(
          { size: 'huge', card: '4111111111111111' },
          { context: { role: 'clerk' }, output: [1, null] },
        ),
      },
      {
        reply: {
          verdict: { is_safe: false, matches: [{ control_id: 2 }, { control_id: 1 }], errors: [] },
          controls: [
            {
              control_id: 2,
              control_name: 'large-refunds',
              decision: 'steer',
              applies: true,
              reason: 'applies',
              condition: {
                type: 'and',
                evaluated: true,
                matched: true,
                children: [
                  {
                    type: 'or',
                    short_circuit_reason: 'or_matched',
                    children: [
                      { type: 'leaf', matched: false, selector_path: 'input.size', evaluator_name: 'regex' },
                      {
                        type: 'leaf',
                        matched: true,
                        confidence: 1,
                        error: null,
                        selected: { type: 'string', size: 4, text: 'huge', shortened: false },
                      },
                    ],
                  },
                  { type: 'not', matched: true },
                ],
              },
            },
            {
              control_id: 1,
              decision: 'deny',
              condition: { selected: { type: 'object', size: 2, text: '{"size":"huge","card":"***"}' } },
            },
          ],
          omitted_controls: 0,
        },
      },
      READER_KEY,
    ],
    [
      'explains why a control does not apply',
      { ...AGENT, stage: 'pre', step: { type: 'llm', name: 'answer', input: null }, control_ids: [2] },
      {
        reply: {
          verdict: { is_safe: true, reason: null, non_matches: [] },
          controls: [{ control_id: 2, applies: false, reason: 'step_name', condition: null }],
        },
      },
    ],
    [
      'tries a definition that is not stored',
      { ...refund({}), data },
      {
        reply: {
          verdict: {
            is_safe: true,
            non_matches: [{ control_id: 0, control_name: 'data', action: 'observe' }],
          },
          controls: [{ control_id: 0, control_name: 'data', applies: true, condition: { matched: false } }],
        },
      },
    ],
    ['tries definitions for admins only', { ...refund({}), data }, NOT_ADMIN, READER_KEY],
    [
      'names what is wrong with a definition as on creation',
      {
        ...refund({}),
        data: { ...data, condition: { ...data.condition, selector: { path: 'nowhere' } } },
      },
      'data.condition.selector.path value_error',
    ],
    ['demands an agent or a definition', refund({}), 'agent_name missing'],
    [
      'does not take ids beside a definition',
      { ...refund({}), control_ids: [1], data },
      'control_ids value_error',
    ],
    ['names every missing member', {}, ['stage missing', 'step missing']],
    ['does not find an unknown agent', { agent_name: 'nobody-at-all', ...refund({}) }, NO_AGENT],
    [
      'does not find an unknown agent beside a definition',
      { agent_name: 'nobody-at-all', ...refund({}), data },
      NO_AGENT,
    ],
    [
      'does not find a control that the agent does not have',
      { ...AGENT, ...refund({}), control_ids: [1, 99] },
      NO_CONTROL,
    ],
    ['requires a key', { ...AGENT, ...refund({}) }, NO_KEY, null],
  ]),
];
