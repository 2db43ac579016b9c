import { expect } from 'vitest';
import { NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { evaluation, OPERATOR_KEY, READER_KEY, type Step, steps } from './every-rpc.support.js';

const NO_HALT = refusal('HALT_NOT_FOUND', 404, 'NotFound', []);
const MADE = { created_at: expect.any(String), created_by: expect.any(String) };
const OF_AGENT = { scope: 'agent', agent_name: 'halted-bot-01', reason: 'wrong customers' };
const HALT = { id: 1, ...OF_AGENT, state: 'active', ...MADE };
const ONCE = {
  scope: 'step_name',
  step_name: 'drop_table',
  reason: 'not now',
  // Never whole seconds: REST prints their fraction, JSON of protobuf does not.
  expires_at: new Date(Math.floor(Date.now() / 1000) * 1000 + 86_400_123).toISOString(),
  idempotency_key: 'halt-one',
};
const OF_STEP = { id: 2, scope: 'step_name', step_name: 'drop_table', state: 'active', ...MADE };
const LIFTED = { id: 1, state: 'lifted', lift_reason: 'mended', lifted_by: expect.any(String) };

/** The part of the script that is about halts. */
export const HALT_STEPS: readonly Step[] = [
  ...steps('HaltService.CreateHalt', [
    ['halts an agent', { ...OF_AGENT, agent_name: ' Halted-Bot-01 ' }, { reply: { halt: HALT } }],
    ['halts a step name for a time', ONCE, { reply: { halt: OF_STEP } }],
    ['halts it once', ONCE, { reply: { halt: OF_STEP } }],
    [
      'refuses the idempotency key of another request',
      { ...ONCE, reason: 'never' },
      refusal('IDEMPOTENCY_CONFLICT', 409, 'FailedPrecondition', ['idempotency_key idempotency_conflict']),
    ],
    ['demands a reason', { ...OF_AGENT, reason: ' ' }, 'reason string_too_short'],
    ['takes no long reason', { ...OF_AGENT, reason: 'x'.repeat(501) }, 'reason value_error'],
    ['takes no line breaks', { ...OF_AGENT, reason: 'a\nb' }, 'reason value_error'],
    ['demands the agent', { scope: 'agent', reason: 'x' }, 'agent_name missing'],
    [
      'demands the session',
      { scope: 'session', agent_name: 'halted-bot-01', reason: 'x' },
      'session_id missing',
    ],
    ['demands the step name', { scope: 'step_name', reason: 'x' }, 'step_name missing'],
    [
      'takes no member without a meaning',
      { scope: 'namespace', step_name: 'x', reason: 'x' },
      'step_name value_error',
    ],
    [
      'refuses a time in the past',
      { ...OF_AGENT, expires_at: '2001-01-01T00:00:00Z' },
      'expires_at datetime_future',
    ],
    ['refuses a far time', { ...OF_AGENT, expires_at: '2101-01-01T00:00:00Z' }, 'expires_at value_error'],
    ['halts no other namespaces', { scope: 'installation', reason: 'x' }, NOT_ADMIN],
    ['is for administrators', OF_AGENT, NOT_ADMIN, READER_KEY],
    ['requires a key', OF_AGENT, NO_KEY, null],
  ]),
  ...steps('EvaluationService.Evaluate', [
    [
      'denies a step of a halted agent, registered or not',
      { ...evaluation('halted-bot-01', 'x'), accepts: ['steer'] },
      {
        reply: {
          is_safe: false,
          confidence: 1,
          reason: 'halt 1 of agent "halted-bot-01": wrong customers',
          matches: [],
          errors: [],
          outcome: 'deny',
          halt: { halt_id: 1, reason: 'wrong customers' },
        },
      },
    ],
  ]),
  ...steps('HaltService.GetHalt', [
    ['returns a halt', { halt_id: 1 }, { reply: { halt: HALT } }, READER_KEY],
    ['does not find an unknown halt', { halt_id: 99 }, NO_HALT],
  ]),
  ...steps('HaltService.ListHalts', [
    ['lists halts, newest first', {}, { reply: { halts: [OF_STEP, HALT], pagination: { total: 2 } } }],
    [
      'lists them page by page',
      { limit: 1, cursor: '2' },
      { reply: { halts: [HALT], pagination: { total: 2, has_more: false } } },
    ],
    ['refuses a page without rows', { limit: 0 }, 'limit greater_than_equal'],
  ]),
  ...steps('HaltService.LiftHalt', [
    ['lifts a halt', { halt_id: 1, reason: 'mended' }, { reply: { halt: LIFTED } }],
    ['lifts it once', { halt_id: 1, reason: 'again' }, { reply: { halt: LIFTED } }],
    ['does not find an unknown halt', { halt_id: 99 }, NO_HALT],
    ['is for administrators', { halt_id: 2 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('HaltService.CreateHalt', [
    [
      'halts the installation',
      { scope: 'installation', reason: 'all' },
      { reply: { halt: { id: 3, scope: 'installation' } } },
      OPERATOR_KEY,
    ],
  ]),
  ...steps('HaltService.LiftHalt', [
    ['leaves a halt of the installation to operators', { halt_id: 3 }, NOT_ADMIN],
    ['lifts one of the installation', { halt_id: 3 }, { reply: { halt: { state: 'lifted' } } }, OPERATOR_KEY],
  ]),
  ...steps('HaltService.ListHalts', [
    ['lists those of a state', { state: 'active' }, { reply: { halts: [OF_STEP] } }, READER_KEY],
    ['lists those that were lifted', { state: 'lifted' }, { reply: { halts: [{ id: 3 }, LIFTED] } }],
  ]),
];
