import { expect } from 'vitest';
import { NO_CONTROL, NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { called, evaluation, READER_KEY, type Step, steps } from './every-rpc.support.js';

const AGENT = 'limited-bot-01';
const NO_MEMORY = refusal('MEMORY_KEY_NOT_FOUND', 404, 'NotFound', []);
/** What the script before this leaves behind. */
const CONTROL = 9;
const KEY = { control_id: CONTROL, agent_name: AGENT };
const LIMIT = {
  control_id: CONTROL,
  control_name: 'two-answers-a-day',
  evaluator_name: 'rate',
  limit: 2,
  remaining: 1,
  resets_after: expect.stringMatching(/^\d+(?:\.\d+)?s$/),
  retry_after: null,
  window: '86400s',
  degraded: '',
  key: AGENT,
  counts_since: null,
};
const DATA = {
  execution: 'server',
  scope: { stages: ['pre'] },
  condition: {
    selector: { path: '*' },
    evaluator: { name: 'rate', config: { limit: 2, period: '24h', key: ['agent'] } },
  },
  action: { decision: 'deny' },
};
const STATE = { evaluator_name: 'rate', status: LIMIT, kept: { used: 1 }, key: AGENT, is_damaged: false };

/** The part of the script about what controls with memory keep. */
export const MEMORY_STEPS: readonly Step[] = [
  called(
    'AgentService.InitAgent',
    'registers the agent of a limit',
    { agent: { agent_name: AGENT } },
    { reply: {} },
  ),
  called(
    'ControlService.CreateControl',
    'makes a control with a limit',
    { name: LIMIT.control_name, data: DATA },
    { reply: { control_id: CONTROL } },
  ),
  called(
    'AgentService.AddAgentControl',
    'links the control with a limit',
    { agent_name: AGENT, control_id: CONTROL },
    { reply: {} },
  ),
  called(
    'MemoryService.GetMemoryKey',
    'finds nothing before a step was counted',
    { key: KEY },
    NO_MEMORY,
    READER_KEY,
  ),
  called(
    'EvaluationService.Evaluate',
    'counts a step',
    { ...evaluation(AGENT, 'hello'), accepts: ['deny'] },
    { reply: { is_safe: true, limits: [{ ...LIMIT, counts_since: expect.any(String) }] } },
    READER_KEY,
  ),
  ...steps('MemoryService.ListLimits', [
    [
      // A rate that was half used has a little more room with every moment.
      'lists the limits that are nearly half used',
      { min_used: 0.4 },
      { reply: { limits: [{ status: LIMIT }], has_more: false } },
      READER_KEY,
    ],
    ['lists those of a control', { min_used: 0.6, control_id: CONTROL }, { reply: { limits: [] } }],
    ['demands a share', { min_used: 0 }, 'min_used greater_than'],
    ['requires a key', {}, NO_KEY, null],
  ]),
  ...steps('MemoryService.GetMemoryKey', [
    ['returns what is kept for an agent', { key: KEY }, { reply: { states: [STATE] } }, READER_KEY],
    [
      'names the missing part of a key',
      { key: { control_id: CONTROL } },
      'key.agent_name missing',
      READER_KEY,
    ],
    ['refuses the key of no control', { key: { ...KEY, control_id: 99 } }, NO_CONTROL, READER_KEY],
    ['refuses a control without memory', { key: { ...KEY, control_id: 3 } }, NO_MEMORY, READER_KEY],
    ['requires a key', { key: KEY }, NO_KEY, null],
  ]),
  ...steps('MemoryService.ResetMemoryKey', [
    ['forgets what is kept', { key: KEY, reason: 'a mistake' }, { reply: { was_kept: true } }],
    ['tells that nothing is kept', { key: KEY }, { reply: { was_kept: false } }],
    ['needs an admin', { key: KEY }, NOT_ADMIN, READER_KEY],
    ['requires a key', { key: KEY }, NO_KEY, null],
  ]),
  ...steps('MemoryService.GetMemoryStatus', [
    [
      'tells what the namespace keeps',
      {},
      {
        reply: {
          is_used: true,
          is_available: true,
          problem: null,
          max_keys: 1_000_000,
          max_bytes: 1_073_741_824,
          evicted_keys: 0,
        },
      },
      READER_KEY,
    ],
    ['requires a key', {}, NO_KEY, null],
  ]),
];
