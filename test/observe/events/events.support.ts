import fc from 'fast-check';
import { createEventSearch } from '../../../src/observe/events/sql/event-search.js';
import type { ControlEvent, EventOrigin } from '../../../src/observe/events/store/event.js';
import { utcTime, utcTimeOfMs } from '../../../src/observe/events/store/event-time.js';
import type { Database } from '../../../src/storage/database/database.js';

/** An event with every member, except as given. */
export function storedEvent(more: Partial<ControlEvent> = {}): ControlEvent {
  return {
    origin: 'client',
    control_execution_id: 'id',
    trace_id: 'trace',
    span_id: 'span',
    agent_name: 'stored-bot-01',
    control_id: 1,
    control_name: 'one',
    check_stage: 'pre',
    applies_to: 'llm_call',
    action: 'deny',
    matched: true,
    confidence: 1,
    timestamp: utcTimeOfMs(1_700_000_000_000),
    execution_duration_ms: null,
    evaluator_name: null,
    selector_path: null,
    error_message: null,
    metadata: {},
    step_type: null,
    step_name: null,
    session_id: null,
    step_id: null,
    revision: null,
    decision_id: null,
    ...more,
  };
}

/** Without those so small that SQLite may store them with another last bit. */
const upTo = (max: number) =>
  fc.double({ min: 0, max, noNaN: true }).map((value) => (value < 1e-20 ? 0 : value));

const LONG = 'a name that is longer than what is its own key in the rollups, '.repeat(3);

/** What is needed of time: far past, far future and every length of a rollup around now. */
const ageMs = fc.oneof(
  fc.integer({ min: -5_000, max: 90_000 }),
  fc.integer({ min: 0, max: 3 * 3_600_000 }),
  fc.integer({ min: -3_600_000, max: 40 * 86_400_000 }),
  fc.integer({ min: -400 * 86_400_000, max: 500 * 86_400_000 }),
);

/** Events of few checks, agents, controls and names, so that many meet. `nowMs` is when they are stored. */
export function eventArbitrary(nowMs: number, origins: readonly EventOrigin[]): fc.Arbitrary<ControlEvent> {
  return fc
    .record({
      origin: fc.constantFrom(...origins),
      control_execution_id: fc.integer({ min: 0, max: 40 }).map((id) => `check-${id}`),
      trace_id: fc.constantFrom('trace-1', 'trace-2'),
      span_id: fc.constantFrom('span-1', 'span-2'),
      agent_name: fc.constantFrom('rolled-bot-1', 'rolled-bot-2'),
      control_id: fc.constantFrom(1, 2, -3),
      control_name: fc.constantFrom('one', 'two', '', 'ö', LONG, `${LONG}!`),
      check_stage: fc.constantFrom('pre', 'post'),
      applies_to: fc.constantFrom('llm_call', 'tool_call'),
      action: fc.constantFrom('deny', 'steer', 'observe'),
      matched: fc.boolean(),
      confidence: upTo(1),
      timestamp: fc.tuple(ageMs, fc.integer({ min: 0, max: 999 })),
      execution_duration_ms: fc.option(
        fc.oneof(upTo(1e6), fc.constantFrom(0, 5e-324, 65_536, Number.MAX_SAFE_INTEGER)),
      ),
      evaluator_name: fc.option(fc.constantFrom('regex', 'list')),
      selector_path: fc.option(fc.constantFrom('input', '*')),
      error_message: fc.option(fc.constantFrom('', 'broken'), { freq: 3 }),
      metadata: fc.constantFrom({}, { a: 1 }),
      step_type: fc.option(fc.constantFrom('tool', 'llm')),
      step_name: fc.option(fc.constantFrom('send', 'ö'.repeat(1_024))),
      session_id: fc.option(fc.constantFrom('session-1', 'session-2')),
      step_id: fc.option(fc.constantFrom('step-1', 'step-2')),
      revision: fc.option(fc.constantFrom(0, 7, Number.MAX_SAFE_INTEGER)),
      decision_id: fc.option(fc.constantFrom('decision-1', 'decision-2')),
    })
    .map(({ timestamp: [age, us], ...event }) => ({
      ...event,
      timestamp: utcTime(BigInt(nowMs - age) * 1_000n + BigInt(us)),
      // What the service records itself has neither.
      ...(event.origin === 'client' ? {} : { execution_duration_ms: null, metadata: {} }),
    })) as fc.Arbitrary<ControlEvent>;
}

/** All that is stored. */
export async function allEvents(database: Pick<Database, 'bulk'>): Promise<ControlEvent[]> {
  const found: ControlEvent[] = [];
  for await (const page of createEventSearch(database.bulk).walk({})) found.push(...page);
  return found;
}
