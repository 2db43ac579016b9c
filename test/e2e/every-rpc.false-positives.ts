import { expect } from 'vitest';
import { NO_CONTROL, NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { READER_KEY, type Step, steps } from './every-rpc.support.js';

const NO_EVENT = refusal('EVENT_NOT_FOUND', 404, 'NotFound', []);
/** An event of the steps about events. */
const MATCH = { control_execution_id: 'now', control_id: 12 };
const MARK = {
  ...MATCH,
  agent_name: 'observed-bot-1',
  matched_at: expect.any(String),
  note: 'an order',
  marked_by: expect.any(String),
  marked_at: expect.any(String),
};

/** The part of the script that is about false positives. */
export const FALSE_POSITIVE_STEPS: readonly Step[] = [
  ...steps('ObservabilityService.MarkFalsePositive', [
    ['marks a match', { ...MATCH, note: ' an order ' }, { reply: { false_positive: MARK } }],
    ['keeps one mark with its note', MATCH, { reply: { false_positive: MARK } }],
    ['does not find an unknown event', { ...MATCH, control_execution_id: 'none' }, NO_EVENT],
    ['demands the control of the event', { ...MATCH, control_id: 13 }, 'control_id value_error'],
    ['demands a match', { ...MATCH, control_execution_id: 'ahead' }, 'control_execution_id value_error'],
    [
      'demands a check that did not fail',
      { ...MATCH, control_execution_id: 'old' },
      'control_execution_id value_error',
    ],
    ['takes no halts', { ...MATCH, control_id: 0 }, 'control_id greater_than_equal'],
    [
      'takes no long id',
      { ...MATCH, control_execution_id: 'x'.repeat(37) },
      'control_execution_id string_too_long',
    ],
    ['takes no long note', { ...MATCH, note: 'x'.repeat(1_001) }, 'note value_error'],
    ['takes no blank note', { ...MATCH, note: ' ' }, 'note value_error'],
    ['is for those who may change controls', MATCH, NOT_ADMIN, READER_KEY],
    ['requires a key', MATCH, NO_KEY, null],
  ]),
  ...steps('ObservabilityService.ListFalsePositives', [
    [
      'lists and counts marks',
      { control_id: 12, control_execution_ids: ['now', 'old'], days: 30, limit: 1 },
      { reply: { false_positives: [MARK], pagination: { limit: 1, total: 1, has_more: false } } },
      READER_KEY,
    ],
    ['lists those after a cursor', { cursor: '1' }, { reply: { pagination: { total: 1 } } }],
    ['lists none of others', { control_id: 13 }, { reply: { pagination: { total: 0 } } }],
    ['demands days', { days: 0 }, 'days greater_than_equal'],
    ['demands a page size', { limit: 1_001 }, 'limit less_than_equal'],
    ['requires a key', {}, NO_KEY, null],
  ]),
  ...steps('ObservabilityService.UnmarkFalsePositive', [
    ['is for those who may change controls', MATCH, NOT_ADMIN, READER_KEY],
    ['takes a mark away', MATCH, { reply: { was_marked: true } }],
    ['does not find one of an unknown control', MATCH, NO_CONTROL],
    ['demands a control', { ...MATCH, control_id: 0 }, 'control_id greater_than_equal'],
    ['requires a key', MATCH, NO_KEY, null],
  ]),
];
