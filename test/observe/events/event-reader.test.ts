import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { inputItems } from '../../../src/contract/input/parse-input.js';
import { readWellFormedEvent } from '../../../src/observe/events/event-reader.js';
import { eventSchema } from '../../../src/observe/events/event-schemas.js';

const now = () => 1_700_000_000_000;
const schema = eventSchema(now);
const bySchema = (event: JsonValue) => inputItems(schema, event);

const odd: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  '',
  ' ',
  '7',
  'PRE',
  'allow',
  'yes',
  [],
  {},
  { a: [{ b: null }] },
  '2026-01-02',
  '2026-13-02T00:00:00Z',
);
const rarelyOdd = (usual: fc.Arbitrary<JsonValue>) =>
  fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: odd });
const member = {
  control_execution_id: rarelyOdd(fc.string()),
  trace_id: rarelyOdd(fc.string({ minLength: 1 })),
  span_id: rarelyOdd(fc.string({ minLength: 1 })),
  agent_name: rarelyOdd(fc.constantFrom('read-bot-01', ' Read-Bot-01', 'x'.repeat(300), 'short')),
  control_id: rarelyOdd(fc.integer()),
  control_name: rarelyOdd(fc.string()),
  check_stage: rarelyOdd(fc.constantFrom('pre', 'post')),
  applies_to: rarelyOdd(fc.constantFrom('llm_call', 'tool_call')),
  action: rarelyOdd(fc.constantFrom('deny', 'steer', 'observe')),
  matched: rarelyOdd(fc.boolean()),
  confidence: rarelyOdd(fc.double({ min: 0, max: 1, noNaN: true })),
  timestamp: rarelyOdd(fc.date({ min: new Date(0), noInvalidDate: true }).map((date) => date.toJSON())),
  execution_duration_ms: rarelyOdd(fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }))),
  evaluator_name: rarelyOdd(fc.option(fc.string())),
  selector_path: rarelyOdd(fc.option(fc.string())),
  error_message: rarelyOdd(fc.option(fc.string())),
  metadata: rarelyOdd(fc.constantFrom({}, { a: 1 })),
  step_type: rarelyOdd(fc.option(fc.string({ maxLength: 257 }))),
  step_name: rarelyOdd(fc.option(fc.constantFrom('send', 'n'.repeat(1_024), 'n'.repeat(1_025)))),
  session_id: rarelyOdd(fc.option(fc.string())),
  step_id: rarelyOdd(fc.option(fc.string())),
  revision: rarelyOdd(
    fc.option(
      fc.oneof(fc.nat(), fc.constantFrom<JsonValue>(7n, 2n ** 60n, Number.MAX_SAFE_INTEGER, 2 ** 53)),
    ),
  ),
  decision_id: rarelyOdd(fc.option(fc.string())),
  unknown: odd,
};
const REQUIRED = ['trace_id', 'span_id', 'agent_name', 'control_id', 'control_name'] as const;

it('an event that is well formed is read as the schema reads it', () => {
  let fast = 0;
  fc.assert(
    fc.property(fc.record(member, { requiredKeys: [...REQUIRED] }), (event) => {
      const read = readWellFormedEvent(event as JsonValue, now);
      if (read === undefined) return;
      fast += 1;
      const { value, items } = bySchema(event as JsonValue);
      expect(items).toEqual([]);
      const made = event.control_execution_id === undefined;
      expect(made ? { ...read, control_execution_id: '' } : read).toEqual(
        made ? { ...(value as object), control_execution_id: '' } : value,
      );
    }),
    { numRuns: 5_000 },
  );
  expect(fast).toBeGreaterThan(20);
});

it('an event that a client of today sends needs no schema', () => {
  const event = {
    control_execution_id: 'a',
    trace_id: 't',
    span_id: 's',
    agent_name: 'read-bot-01',
    control_id: 7,
    control_name: 'n',
    check_stage: 'pre',
    applies_to: 'llm_call',
    action: 'deny',
    matched: true,
    confidence: 0.5,
    timestamp: '2026-01-02T03:04:05.678901+00:00',
    execution_duration_ms: 1.25,
    evaluator_name: 'regex',
    selector_path: null,
    error_message: null,
    metadata: {},
    step_type: 'tool',
    step_name: 'send',
    session_id: 'session',
    step_id: 'step',
    revision: 7n,
    decision_id: 'decision',
  };
  expect(readWellFormedEvent(event, now)).toEqual(bySchema(event).value);
  for (const name of [...REQUIRED, 'check_stage', 'applies_to', 'action', 'matched', 'confidence'] as const) {
    const { [name]: _, ...without } = event;
    expect(readWellFormedEvent(without, now)).toBeUndefined();
  }
});
