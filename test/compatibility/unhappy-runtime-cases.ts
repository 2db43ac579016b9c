import { invalid, MISSING_AGENT, query, type UnhappyCase } from './unhappy-case.js';

const step = { type: 'llm', name: 'answer', input: 'x' };
const event = {
  trace_id: 't',
  span_id: 's',
  agent_name: 'unhappy-agent-01',
  control_id: 1,
  control_name: 'c',
  check_stage: 'pre',
  applies_to: 'llm_call',
  action: 'deny',
  matched: true,
  confidence: 1,
};

/** What is refused about evaluation and events. */
export const RUNTIME_CASES: readonly UnhappyCase[] = [
  {
    route: 'evaluate',
    what: 'an agent that is not there',
    input: { body: { agent_name: MISSING_AGENT, stage: 'pre', step } },
    status: 404,
    error: 'AGENT_NOT_FOUND',
    details: { kind: 'Agent', name: MISSING_AGENT },
  },
  invalid(
    'evaluate',
    'members that are wrong',
    { body: { agent_name: 'short', stage: 'mid', step: { type: '', name: 5, input: 'x' } } },
    'Request agent_name value_error',
    'Request step.type string_too_short',
    'Request step.name string_type',
    'Request stage literal_error',
  ),
  invalid('ingestEvents', 'no events', { body: { events: [] } }, 'Request events too_short'),
  invalid(
    'ingestEvents',
    'too many events',
    { body: { events: Array.from({ length: 1001 }, () => event) } },
    'Request events too_long',
  ),
  invalid(
    'ingestEvents',
    'one bad event among good ones',
    {
      body: {
        events: [event, { ...event, trace_id: ' ', agent_name: 'short', action: 'stop', confidence: 1.5 }],
      },
    },
    'Request events[1].trace_id value_error',
    'Request events[1].agent_name value_error',
    'Request events[1].action literal_error',
    'Request events[1].confidence less_than_equal',
  ),
  invalid(
    'queryEvents',
    'filters that are wrong',
    { body: { actions: ['allow'], check_stages: ['mid'], limit: 1001, offset: -1 } },
    'Request actions value_error',
    'Request check_stages[0] literal_error',
    'Request limit less_than_equal',
    'Request offset greater_than_equal',
  ),
  ...(['stats', 'controlStats'] as const).flatMap((route) => [
    invalid(route, 'no agent', {}, 'Request query.agent_name missing'),
    {
      ...invalid(
        route,
        'a name that is too short',
        query({ agent_name: 'short' }),
        'Agent agent_name invalid_format',
      ),
      details: { kind: 'Agent' },
    },
    invalid(
      route,
      'an unknown range of time',
      query({ agent_name: 'unhappy-agent-01', time_range: '2h', include_timeseries: 'perhaps' }),
      'Request query.time_range literal_error',
      'Request query.include_timeseries bool_parsing',
    ),
  ]),
  invalid(
    'controlStats',
    'an id that is none',
    { path: { control: 'x' }, query: { agent_name: 'unhappy-agent-01' } },
    'Request path.control_id int_parsing',
  ),
];
