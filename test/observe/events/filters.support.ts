import fc from 'fast-check';
import type { EventFilter } from '../../../src/observe/events/store/event-filter.js';

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const some = <T>(...values: T[]) => fc.subarray(values);
/** Filters of the events of `eventArbitrary`, with times around `nowMs`. */
export function filterArbitrary(nowMs: number): fc.Arbitrary<EventFilter> {
  const moment = fc
    .integer({ min: -100 * 86_400_000, max: 100 * 86_400_000 })
    .map((age) => ({ us: BigInt(nowMs - age) * 1_000n }));
  return fc.record({
    trace_id: optional(fc.constantFrom('', 'trace-1', 'trace-3', 'trace-1\\0')),
    span_id: optional(fc.constantFrom('', 'span-1', 'span-3')),
    control_execution_id: fc.option(fc.constantFrom('check-1', 'check-99'), { nil: undefined, freq: 4 }),
    agent_name: optional(fc.constantFrom('', 'rolled-bot-1', 'Rolled-Bot-1')),
    control_ids: some(1, 2, -3, 2 ** 40),
    actions: some('deny', 'steer', 'observe'),
    matched: optional(fc.boolean()),
    check_stages: some('pre', 'post'),
    applies_to: some('llm_call', 'tool_call'),
    start_time: optional(moment),
    end_time: optional(moment),
    step_type: optional(fc.constantFrom('', 'tool', 'other')),
    step_name: optional(fc.constantFrom('', 'send', 'ö'.repeat(1_024), 'send\\0')),
    session_id: optional(fc.constantFrom('', 'session-1', 'session-3')),
    step_id: fc.option(fc.constantFrom('step-1', 'step-3'), { nil: undefined, freq: 4 }),
    decision_id: fc.option(fc.constantFrom('decision-1', 'decision-3'), { nil: undefined, freq: 4 }),
    min_revision: fc.option(fc.constantFrom(0, 1, 7, Number.MAX_SAFE_INTEGER), { nil: undefined, freq: 4 }),
    has_error: optional(fc.boolean()),
    max_revision: fc.option(fc.constantFrom(0, 7, 8, Number.MAX_SAFE_INTEGER), { nil: undefined, freq: 4 }),
  });
}
