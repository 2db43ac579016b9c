import type { Json } from '../support/wire-shape.js';
import { invalid, NO_KEY, READER_KEY, type Step } from './every-rpc.support.js';

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

/** Events: written, found, counted. */
export const OBSERVABILITY_STEPS: readonly Step[] = [
  {
    rpc: 'ObservabilityService.CreateEvents',
    what: 'stores events, and one that is known already only once',
    key: READER_KEY,
    input: { events: [OLD, event('now'), AHEAD, event('now')] },
    expected: { reply: { received: 4, enqueued: 4, dropped: 0, status: 'queued' } },
  },
  {
    rpc: 'ObservabilityService.CreateEvents',
    what: 'reports that an event cannot be stored',
    key: READER_KEY,
    input: { events: [event('x'.repeat(37))] },
    expected: { reply: { received: 1, enqueued: 0, dropped: 1, status: 'failed' } },
  },
  {
    rpc: 'ObservabilityService.CreateEvents',
    what: 'names every member that is wrong or missing',
    key: READER_KEY,
    input: { events: [event('fine'), { trace_id: ' ', span_id: 's', agent_name: 'x', confidence: 2 }] },
    expected: invalid(
      'events[1].trace_id value_error',
      'events[1].agent_name value_error',
      'events[1].control_id missing',
      'events[1].control_name missing',
      'events[1].check_stage missing',
      'events[1].applies_to missing',
      'events[1].action missing',
      'events[1].matched missing',
      'events[1].confidence less_than_equal',
    ),
  },
  {
    rpc: 'ObservabilityService.QueryEvents',
    what: 'finds an event with every member',
    key: READER_KEY,
    input: {
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
    },
    expected: { reply: { events: [OLD], total: 1, limit: 5, offset: 0 } },
  },
  {
    rpc: 'ObservabilityService.QueryEvents',
    what: 'does without any filter',
    key: READER_KEY,
    input: {},
    expected: { reply: { total: 3, limit: 100, offset: 0 } },
  },
  {
    rpc: 'ObservabilityService.QueryEvents',
    what: 'refuses a page that is too large',
    key: READER_KEY,
    input: { limit: 1_001, start_time: 'soon' },
    expected: invalid('start_time datetime_from_date_parsing', 'limit less_than_equal'),
  },
  {
    rpc: 'ObservabilityService.GetStats',
    what: 'counts the events of five minutes',
    key: READER_KEY,
    input: { agent_name: AGENT },
    expected: {
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
  },
  {
    rpc: 'ObservabilityService.GetStats',
    what: 'counts by interval',
    key: READER_KEY,
    input: { agent_name: 'unknown-bot-1', time_range: '1m', include_timeseries: true },
    expected: { reply: { totals: { timeseries: Array(6).fill(EMPTY_BUCKET) }, controls: [] } },
  },
  {
    rpc: 'ObservabilityService.GetStats',
    what: 'needs the name of an agent',
    key: READER_KEY,
    input: { time_range: '2h' },
    expected: invalid('agent_name missing', 'time_range literal_error'),
  },
  {
    rpc: 'ObservabilityService.GetControlStats',
    what: 'counts the events of one control',
    key: READER_KEY,
    input: { control_id: 12, agent_name: AGENT, time_range: '365d' },
    expected: {
      reply: {
        agent_name: AGENT,
        time_range: '365d',
        control_id: 12,
        control_name: 'observed',
        stats: { ...COUNTS, action_counts: { steer: 1 } },
      },
    },
  },
  {
    rpc: 'ObservabilityService.GetControlStats',
    what: 'refuses what is no name of an agent',
    key: READER_KEY,
    input: { control_id: 12, agent_name: 'short' },
    expected: invalid('agent_name invalid_format'),
  },
  {
    rpc: 'ObservabilityService.GetStatsOverview',
    what: 'counts the events of all agents',
    key: READER_KEY,
    input: { time_range: '1h', limit: 1 },
    expected: {
      reply: {
        time_range: '1h',
        totals: { ...COUNTS, action_counts: { steer: 1 }, timeseries: [] },
        agents: [{ agent_name: AGENT, ...COUNTS, action_counts: { steer: 1 } }],
        controls: [{ agent_name: AGENT, stats: { control_id: 12, control_name: 'observed', ...COUNTS } }],
      },
    },
  },
  {
    rpc: 'ObservabilityService.GetStatsOverview',
    what: 'refuses a list that is too long',
    key: READER_KEY,
    input: { time_range: '1y', limit: 101 },
    expected: invalid('time_range literal_error', 'limit less_than_equal'),
  },
  {
    rpc: 'ObservabilityService.GetObservabilityStatus',
    what: 'reports that events are stored',
    key: READER_KEY,
    input: {},
    expected: { reply: { status: 'ok', ingestor_initialized: true, store_initialized: true } },
  },
  {
    rpc: 'ObservabilityService.GetObservabilityStatus',
    what: 'requires a key',
    key: null,
    input: {},
    expected: NO_KEY,
  },
];
