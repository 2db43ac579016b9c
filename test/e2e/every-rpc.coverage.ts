import { expect } from 'vitest';
import { NO_AGENT, NO_KEY, NOT_ADMIN } from '../support/refusals.js';
import { called, evaluation, READER_KEY, type Step, steps } from './every-rpc.support.js';

const AGENT = 'covered-bot-01';
const EXPECTED = [{ interval_seconds: 3_600 }, { point: 'hooks', interval_seconds: 900 }];
const STORED = [
  { point: null, interval_seconds: 3_600, overdue_since: null },
  { point: 'hooks', interval_seconds: 900, overdue_since: null },
];
/** A process writes what it has seen at most once a second: whether the step is among it is another test's matter. */
const COVERAGE = {
  agent_name: AGENT,
  evaluated: expect.any(Number),
  registered_steps: 2,
  unchecked_step_count: 2,
  unchecked_steps: [
    expect.objectContaining({ name: 'answer' }),
    { type: 'tool', name: 'send', stages: ['pre', 'post'] },
  ],
  expectations: STORED,
};
const expecting = (expectation: { [member: string]: string | number }) => ({
  agent_name: AGENT,
  expectations: [expectation],
});

/** The part of the script about coverage. */
export const COVERAGE_STEPS: readonly Step[] = [
  called(
    'AgentService.InitAgent',
    'registers an agent with steps',
    {
      agent: { agent_name: AGENT },
      steps: [
        { type: 'llm', name: 'answer' },
        { type: 'tool', name: 'send' },
      ],
    },
    { reply: { created: true } },
  ),
  called('EvaluationService.Evaluate', 'evaluates one of them', evaluation(AGENT, 'x'), {
    reply: { is_safe: true },
  }),
  ...steps('CoverageService.SetExpectations', [
    [
      'sets what is expected',
      { agent_name: AGENT, expectations: EXPECTED },
      { reply: { expectations: STORED } },
    ],
    [
      'changes nothing again',
      { agent_name: AGENT, expectations: EXPECTED },
      { reply: { expectations: STORED } },
    ],
    ['expects nothing any more', { agent_name: AGENT, expectations: [] }, { reply: { expectations: [] } }],
    ['expects it again', { agent_name: AGENT, expectations: EXPECTED }, { reply: { expectations: STORED } }],
    [
      'demands another point for each',
      { agent_name: AGENT, expectations: [{ interval_seconds: 60 }, { interval_seconds: 90 }] },
      'expectations[1].point value_error',
    ],
    [
      'demands a time',
      expecting({ interval_seconds: 59 }),
      'expectations[0].interval_seconds greater_than_equal',
    ],
    ['demands some time', expecting({ point: 'hooks' }), 'expectations[0].interval_seconds missing'],
    [
      'demands a name of a point',
      expecting({ point: 'a b', interval_seconds: 60 }),
      'expectations[0].point string_pattern_mismatch',
    ],
    [
      'takes some expectations',
      { agent_name: AGENT, expectations: Array(21).fill({ interval_seconds: 60 }) },
      'expectations too_long',
    ],
    [
      'does not find an unknown agent',
      { agent_name: 'nobody-at-all', expectations: [{ interval_seconds: 60 }] },
      NO_AGENT,
    ],
    ['is for those who may change agents', { agent_name: AGENT, expectations: [] }, NOT_ADMIN, READER_KEY],
    ['requires a key', { agent_name: AGENT, expectations: [] }, NO_KEY, null],
  ]),
  ...steps('CoverageService.GetCoverage', [
    [
      'tells what was evaluated of an agent',
      { agent_name: AGENT },
      { reply: { coverage: COVERAGE } },
      READER_KEY,
    ],
    ['does not find an unknown agent', { agent_name: 'nobody-at-all' }, NO_AGENT],
    ['requires a key', { agent_name: AGENT }, NO_KEY, null],
  ]),
  ...steps('CoverageService.ListCoverage', [
    [
      'tells it of agents',
      { name: 'COVERED', limit: 1 },
      {
        reply: {
          agents: [COVERAGE],
          pagination: { limit: 1, total: 1, next_cursor: null, has_more: false },
          summary: { overdue: 0 },
        },
      },
      READER_KEY,
    ],
    ['lists those after a cursor', { name: 'covered', cursor: AGENT }, { reply: { agents: [] } }],
    ['lists overdue agents', { state: 'overdue' }, { reply: { agents: [], pagination: { total: 0 } } }],
    ['demands a page size', { limit: 51 }, 'limit less_than_equal'],
    ['refuses a cursor that can be no agent', { cursor: 'short' }, 'cursor invalid_format'],
    ['requires a key', {}, NO_KEY, null],
  ]),
];
