import { NO_KEY, NOT_ADMIN } from '../support/refusals.js';
import type { Json } from '../support/wire-shape.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';

const AGENT = 'observed-bot-1';
const event = (id: string, more: object = {}): { [member: string]: Json } => ({
  control_execution_id: id,
  trace_id: 'trace',
  span_id: 'span',
  agent_name: AGENT,
  control_id: 12,
  control_name: 'observed',
  check_stage: 'post',
  applies_to: 'tool_call',
  action: 'steer',
  matched: true,
  confidence: 0.75,
  ...more,
});
const OLD = event('old', {
  timestamp: '2001-02-03T04:05:06.000007Z',
  execution_duration_ms: 1.5,
  evaluator_name: 'regex',
  selector_path: 'input',
  error_message: 'broken',
  metadata: { list: [1, 'a', null, { deep: true }] },
});
const STEP = {
  step_type: 'tool',
  step_name: 'send_email',
  session_id: 'session-1',
  step_id: 'step-1',
  revision: 7,
  decision_id: 'decision-1',
};
// Far ahead, so that its place before the one that is stored under the present time is certain.
const AHEAD = event('ahead', { matched: false, timestamp: '2999-01-01T00:00:00Z' });
const COUNTS = { execution_count: 2, match_count: 1, non_match_count: 1, error_count: 0 };
const EMPTY_BUCKET = {
  execution_count: 0,
  match_count: 0,
  non_match_count: 0,
  error_count: 0,
  action_counts: {},
  avg_confidence: null,
  avg_duration_ms: null,
};

/** A range around the event that is far ahead. */
const AHEAD_RANGE = { start_time: '2998-12-31T23:00:30Z', end_time: '2999-01-01T00:00:01Z' };
const AHEAD_COUNTS = { execution_count: 1, match_count: 0, non_match_count: 1, error_count: 0 };
const NO_EVALUATIONS = {
  evaluated: 0,
  allowed: 0,
  denied: 0,
  steered: 0,
  denied_by_error: 0,
  observed: 0,
  failed: 0,
};

/** Events: written, found, counted. */
export const OBSERVABILITY_STEPS: readonly Step[] = [
  ...steps('ObservabilityService.CreateEvents', [
    [
      'stores events, and one that is known already only once',
      { events: [{ ...OLD, ...STEP }, event('now'), AHEAD, event('now')] },
      { reply: { received: 4, enqueued: 4, dropped: 0, status: 'queued' } },
      READER_KEY,
    ],
    [
      'reports that an event cannot be stored',
      { events: [event('x'.repeat(37))] },
      { reply: { received: 1, enqueued: 0, dropped: 1, status: 'failed' } },
      READER_KEY,
    ],
    [
      'names every member that is wrong or missing',
      { events: [event('fine'), { trace_id: ' ', span_id: 's', agent_name: 'x', confidence: 2 }] },
      [
        'events[1].trace_id value_error',
        'events[1].agent_name value_error',
        'events[1].control_id missing',
        'events[1].control_name missing',
        'events[1].check_stage missing',
        'events[1].applies_to missing',
        'events[1].action missing',
        'events[1].matched missing',
        'events[1].confidence less_than_equal',
      ],
      READER_KEY,
    ],
  ]),
  ...steps('ObservabilityService.QueryEvents', [
    [
      'finds an event with every member',
      {
        trace_id: 'trace',
        span_id: 'span',
        control_execution_id: 'old',
        agent_name: ' Observed-Bot-1',
        control_ids: [12, 13],
        actions: ['steer'],
        matched: true,
        check_stages: ['post'],
        applies_to: ['tool_call'],
        start_time: '2001-01-01',
        end_time: '2002-01-01',
        limit: 5,
        offset: 0,
        include_step: true,
      },
      { reply: { events: [OLD], total: 1, limit: 5, offset: 0 } },
      READER_KEY,
    ],
    [
      'finds an event by its step, and returns the members of the step if they are requested',
      {
        step_type: 'tool',
        step_name: 'send_email',
        session_id: 'session-1',
        step_id: 'step-1',
        decision_id: 'decision-1',
        min_revision: 7,
        max_revision: 7,
        include_step: true,
      },
      { reply: { events: [{ ...OLD, ...STEP }], total: 1 } },
      READER_KEY,
    ],
    [
      'finds no event without a revision by a range of revisions',
      { min_revision: 0, max_revision: 6 },
      { reply: { events: [], total: 0 } },
      READER_KEY,
    ],
    [
      'finds the events with an error',
      { has_error: true, include_step: true },
      { reply: { events: [{ control_execution_id: 'old' }], total: 1 } },
      READER_KEY,
    ],
    [
      'finds the events without an error',
      { has_error: false, matched: false, include_step: true },
      { reply: { events: [{ control_execution_id: 'ahead' }], total: 1 } },
      READER_KEY,
    ],
  ]),
  called(
    'ObservabilityService.CreateEvents',
    'refuses invalid members of a step',
    {
      events: [
        event('a', {
          step_type: '',
          step_name: 'n'.repeat(1_025),
          session_id: 's'.repeat(256),
          step_id: '',
          revision: -1,
          decision_id: 'd'.repeat(256),
        }),
      ],
    },
    [
      'events[0].step_type string_too_short',
      'events[0].step_name string_too_long',
      'events[0].session_id string_too_long',
      'events[0].step_id string_too_short',
      'events[0].revision greater_than_equal',
      'events[0].decision_id string_too_long',
    ],
    READER_KEY,
  ),
  ...steps('ObservabilityService.QueryEvents', [
    [
      'does without any filter',
      { include_step: true },
      { reply: { total: 3, limit: 100, offset: 0 } },
      READER_KEY,
    ],
    [
      'estimates the number of events, exactly if there are few of them',
      { control_ids: [12], total: 'estimate', include_step: true },
      { reply: { total: 3, total_kind: 'exact' } },
      READER_KEY,
    ],
    [
      'counts the events when it is asked to',
      { control_ids: [12], total: 'exact', include_step: true },
      { reply: { total: 3, total_kind: 'exact' } },
      READER_KEY,
    ],
    [
      'does not count the events when it is asked not to',
      { control_ids: [12], limit: 1, total: 'none', include_step: true },
      { reply: { events: [{ control_execution_id: 'ahead' }], total: 0, total_kind: 'none' } },
      READER_KEY,
    ],
    [
      'refuses a page that is too large',
      { limit: 1_001, start_time: 'soon' },
      ['start_time datetime_from_date_parsing', 'limit less_than_equal'],
      READER_KEY,
    ],
  ]),
  ...steps('ObservabilityService.GetStats', [
    [
      'counts the events of five minutes',
      { agent_name: AGENT },
      {
        reply: {
          agent_name: AGENT,
          time_range: '5m',
          totals: { ...COUNTS, action_counts: { steer: 1 }, timeseries: [] },
          controls: [
            {
              control_id: 12,
              control_name: 'observed',
              ...COUNTS,
              deny_count: 0,
              steer_count: 1,
              observe_count: 0,
              avg_confidence: 0.75,
              avg_duration_ms: null,
            },
          ],
        },
      },
      READER_KEY,
    ],
    [
      'counts by interval',
      { agent_name: 'unknown-bot-1', time_range: '1m', include_timeseries: true },
      { reply: { totals: { timeseries: Array(6).fill(EMPTY_BUCKET) }, controls: [] } },
      READER_KEY,
    ],
    [
      'counts from one time to another, in whole minutes',
      { agent_name: AGENT, ...AHEAD_RANGE, include_timeseries: true },
      {
        reply: {
          time_range: 'custom',
          totals: {
            ...AHEAD_COUNTS,
            timeseries: [
              { ...EMPTY_BUCKET, timestamp: '2998-12-31T23:00:00Z' },
              ...Array(29).fill(EMPTY_BUCKET),
              { ...AHEAD_COUNTS, timestamp: '2999-01-01T00:00:00Z' },
            ],
          },
        },
      },
      READER_KEY,
    ],
    [
      'refuses a range that ends before it starts',
      { agent_name: AGENT, start_time: '2026-01-02', end_time: '2026-01-02' },
      'end_time value_error',
      READER_KEY,
    ],
    [
      'needs the name of an agent',
      { time_range: '2h' },
      ['agent_name missing', 'time_range literal_error'],
      READER_KEY,
    ],
  ]),
  ...steps('ObservabilityService.GetControlStats', [
    [
      'counts the events of one control',
      { control_id: 12, agent_name: AGENT, time_range: '365d' },
      {
        reply: {
          agent_name: AGENT,
          time_range: '365d',
          control_id: 12,
          control_name: 'observed',
          stats: { ...COUNTS, action_counts: { steer: 1 } },
        },
      },
      READER_KEY,
    ],
    [
      'counts from one time to another',
      { control_id: 12, agent_name: AGENT, ...AHEAD_RANGE },
      { reply: { time_range: 'custom', stats: AHEAD_COUNTS } },
      READER_KEY,
    ],
    [
      'refuses a range without an end',
      { control_id: 12, agent_name: AGENT, start_time: '2026-01-02T00:00:00Z' },
      'end_time missing',
      READER_KEY,
    ],
    [
      'refuses what is no name of an agent',
      { control_id: 12, agent_name: 'short' },
      'agent_name invalid_format',
      READER_KEY,
    ],
  ]),
  ...steps('ObservabilityService.GetStatsOverview', [
    [
      'counts the events of all agents',
      { time_range: '1h', limit: 1 },
      {
        reply: {
          time_range: '1h',
          totals: { ...COUNTS, action_counts: { steer: 1 }, timeseries: [] },
          agents: [{ agent_name: AGENT, ...COUNTS, action_counts: { steer: 1 } }],
          controls: [{ agent_name: AGENT, stats: { control_id: 12, control_name: 'observed', ...COUNTS } }],
        },
      },
      READER_KEY,
    ],
    [
      'counts the events of one control over all agents',
      { time_range: '1h', control_id: 12 },
      {
        reply: {
          totals: { ...COUNTS, action_counts: { steer: 1 } },
          agents: [{ agent_name: AGENT, ...COUNTS }],
        },
      },
      READER_KEY,
    ],
    [
      'counts nothing for a control without events',
      { time_range: '1h', control_id: -12 },
      { reply: { totals: { execution_count: 0 }, agents: [], controls: [] } },
      READER_KEY,
    ],
    [
      'counts from one time to another',
      AHEAD_RANGE,
      { reply: { time_range: 'custom', totals: AHEAD_COUNTS, agents: [{ agent_name: AGENT }] } },
      READER_KEY,
    ],
    [
      'refuses a range of two kinds, and one that is too long',
      { time_range: '1h', start_time: '2024-01-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' },
      ['time_range value_error', 'end_time value_error'],
      READER_KEY,
    ],
    [
      'refuses a list that is too long',
      { time_range: '1y', limit: 101 },
      ['time_range literal_error', 'limit less_than_equal'],
      READER_KEY,
    ],
  ]),
  ...steps('ObservabilityService.GetEvaluationStats', [
    [
      'counts the evaluations of one agent by interval',
      { agent_name: 'unknown-bot-1', time_range: '5m', include_timeseries: true },
      {
        reply: {
          time_range: '5m',
          counts: NO_EVALUATIONS,
          timeseries: Array(5).fill({ counts: NO_EVALUATIONS }),
          bucket_seconds: 60,
          agents: [],
        },
      },
      READER_KEY,
    ],
    [
      'counts those of all agents from one time to another',
      { start_time: '2026-01-01T00:30:00Z', end_time: '2026-01-03T00:30:00Z', limit: 100 },
      {
        reply: {
          time_range: 'custom',
          start_time: '2026-01-01T00:00:00Z',
          end_time: '2026-01-03T01:00:00Z',
          counts: NO_EVALUATIONS,
          bucket_seconds: 0,
        },
      },
      READER_KEY,
    ],
    [
      'refuses a range without a start',
      { end_time: '2026-01-02T00:00:00Z', limit: 100 },
      'start_time missing',
      READER_KEY,
    ],
    [
      'refuses what is no name of an agent, and a list that is too long',
      { agent_name: 'short', limit: 101 },
      ['agent_name value_error', 'limit less_than_equal'],
      READER_KEY,
    ],
    ['requires a key', {}, NO_KEY, null],
  ]),
  ...steps('ObservabilityService.GetObservabilityStatus', [
    [
      'reports that events are stored',
      {},
      { reply: { status: 'ok', ingestor_initialized: true, store_initialized: true } },
      READER_KEY,
    ],
    ['requires a key', {}, NO_KEY, null],
  ]),
  ...steps('ObservabilityService.FlushEvents', [
    ['stores what the process has recorded', {}, { reply: {} }],
    ['requires an admin key', {}, NOT_ADMIN, READER_KEY],
  ]),
  called(
    'ObservabilityService.QueryEvents',
    'finds what was recorded just before',
    { session_id: 'session-1', include_step: true, include_buffered: true },
    { reply: { total: 1 } },
    READER_KEY,
  ),
];
