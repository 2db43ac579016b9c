import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, stringifyJson } from '../../../../../packages/exact-json/src/index.js';
import { namespaceNamed } from '../../../../../src/contract/call/namespace.js';
import { binaryCloudEvent, cloudEvent } from '../../../../../src/observe/events/sinks/formats/cloud-event.js';
import { ocsfEvent } from '../../../../../src/observe/events/sinks/formats/ocsf-event.js';
import { opaDecision } from '../../../../../src/observe/events/sinks/formats/opa-decision.js';
import type { ControlEvent } from '../../../../../src/observe/events/store/event.js';
import { keyedEvent } from '../../../../../src/observe/events/store/event-keys.js';
import { readTime, utcTime } from '../../../../../src/observe/events/store/event-time.js';
import { eventArbitrary, storedEvent } from '../../events.support.js';
import { SCHEMAS } from './format-schemas.js';

const SOURCE = { instance: '5e7f0c1a-8a53-4b0e-9d0b-0b6a3f6b2f11', version: '7.10.0' };
const MAPS = { cloudevents: cloudEvent, ocsf: ocsfEvent, opa: opaDecision };
type Format = keyof typeof MAPS;
const FORMATS = Object.keys(MAPS) as Format[];

/** The one that docs/event-sinks.md shows. */
const SHOWN = storedEvent({
  control_execution_id: '0b3c6c1e-3f0a-4d57-9a53-5f2b0a4f7e10',
  trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  span_id: '00f067aa0ba902b7',
  agent_name: 'billing-bot-01',
  control_name: 'no-card-numbers',
  applies_to: 'tool_call',
  timestamp: utcTime(1_767_614_400_250_000n),
  evaluator_name: 'pii',
  selector_path: 'input.text',
  step_type: 'tool',
  step_name: 'send_email',
  session_id: 'session-1',
  step_id: 'call-1',
  revision: 42,
  decision_id: '6f1f1f0e-58c2-4a3c-9a0a-3d0c2b6a9c55',
});

const mapped = (format: Format, event: ControlEvent, position = 7n): JsonObject =>
  JSON.parse(stringifyJson(MAPS[format]({ position, event }, SOURCE)));
const member = (value: JsonObject, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((found, name) => (found as JsonObject)[name], value);

/** What clients may choose freely, any code units included. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((units) => String.fromCharCode(...units)),
);
const anyEvent = fc
  .record({
    base: eventArbitrary(1_760_000_000_000, ['client', 'service']),
    namespace: fc.constantFrom('default', 'team-a'),
    time: fc.constantFrom(
      '2026-01-05',
      '2026-01-05T12:00:00',
      '2026-01-05T12:00:00.5+02:00',
      '0001-01-01T00:00:00Z',
    ),
    id: anyText,
    texts: fc.record({
      control_name: anyText,
      trace_id: fc.oneof(anyText, fc.constant('4bf92f3577b34da6a3ce929d0e0e4736')),
      span_id: fc.oneof(anyText, fc.constant('00f067aa0ba902b7')),
      error_message: fc.option(anyText),
      step_name: fc.option(anyText.filter((text) => text !== '')),
      session_id: fc.option(anyText),
    }),
  })
  .map(({ base, namespace, time, id, texts }) =>
    keyedEvent(
      { ...base, ...texts, control_execution_id: id, timestamp: readTime(time) ?? base.timestamp },
      namespaceNamed(namespace),
    ),
  );

describe.each(FORMATS)('events in the format %s', (format) => {
  it('are valid, whatever clients sent', () => {
    fc.assert(
      fc.property(anyEvent, fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (event, position) => {
        const value = mapped(format, event, position);
        const isValid = SCHEMAS[format](value);
        expect(isValid, JSON.stringify(SCHEMAS[format].errors)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('are as the page shows them', () => {
    const page = readFileSync(path.join(import.meta.dirname, '../../../../../docs/event-sinks.md'), 'utf8');
    const [, json = 'missing'] =
      new RegExp(`<!-- ${format} -->\n\`\`\`json\n(.+?)\n\`\`\``, 's').exec(page) ?? [];
    expect(JSON.parse(json)).toEqual(mapped(format, SHOWN));
  });

  it('name the namespace beside plain names, and no key', () => {
    const event = keyedEvent(storedEvent({ control_execution_id: 'check-1' }), namespaceNamed('team-a'));
    const text = JSON.stringify(mapped(format, event));
    expect(text).not.toMatch(/team-a\/(?:stored-bot|check)/);
    expect(text).toContain('team-a');
    expect(text).toContain('"stored-bot-01"');
  });
});

describe('a CloudEvent', () => {
  it('has the id of the check, or the digest of one that cannot be an id', () => {
    const idOf = (id: string) => mapped('cloudevents', storedEvent({ control_execution_id: id })).id;
    expect(idOf('check-1 ü%')).toBe('check-1 ü%');
    const odd = ['', 'a\u0000b', 'a\ud800', 'x'.repeat(257), `${'x'.repeat(257)}y`].map(idOf);
    for (const id of odd) expect(id).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(new Set(odd).size).toBe(odd.length);
  });

  it('in binary mode has its attributes in headers that give them back, and the same data', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const tail = { position: 7n, event };
        const { data, datacontenttype, ...attributes } = cloudEvent(tail, SOURCE);
        const { headers, body } = binaryCloudEvent(tail, SOURCE);
        const { 'content-type': contentType, ...own } = headers;
        expect(contentType).toBe(datacontenttype);
        expect(body).toEqual(data);
        for (const text of Object.values(own)) expect(text).toMatch(/^[\x21-\x7e]*$/);
        const read = Object.entries(own).map(([name, text]) => [name.slice(3), decodeURIComponent(text)]);
        const texts = Object.entries(attributes).map(([name, value]) => [name, String(value)]);
        expect(Object.fromEntries(read)).toEqual(Object.fromEntries(texts));
        // Servers refuse headers of more than 8 to 16 KiB.
        expect(Object.values(own).join('').length).toBeLessThan(7_000);
      }),
      { numRuns: 200 },
    );
  });
});

/** A match that denies a step, of which this came. */
const LIFTED = (outcome: string, state?: string): Partial<ControlEvent> => ({
  origin: 'service',
  metadata: { verdict: { outcome, ...(state === undefined ? {} : { approval: { id: 7, state } }) } },
});

it.each([
  [{}, 'deny'],
  [{ action: 'steer' }, 'steer'],
  [{ action: 'observe' }, 'observe'],
  [{ matched: false }, 'allow'],
  [{ matched: false, error_message: 'e' }, 'deny'],
  [{ action: 'steer', matched: false, error_message: 'e' }, 'error'],
  [LIFTED('ask', 'pending'), 'ask'],
  [LIFTED('deny', 'pending'), 'ask'],
  [LIFTED('deny', 'denied'), 'reject'],
  [LIFTED('deny', 'expired'), 'deny'],
  [LIFTED('allow', 'used'), 'approve'],
  [LIFTED('modify'), 'modify'],
  [LIFTED('modify', 'used'), 'modify'],
  // What a client says of its own check is no approval.
  [{ ...LIFTED('allow', 'used'), origin: 'client' }, 'deny'],
  [{ ...LIFTED('allow', 'used'), action: 'steer' }, 'steer'],
] as const)('%j is exported with the outcome %s', (more, outcome) => {
  const event = storedEvent(more);
  expect(mapped('cloudevents', event).outcome).toBe(outcome);
  expect(member(mapped('opa', event), 'result', 'outcome')).toBe(outcome);
  expect(member(mapped('ocsf', event), 'unmapped', 'outcome')).toBe(outcome);
  for (const format of FORMATS) expect(SCHEMAS[format](mapped(format, event))).toBe(true);
});

describe('an event of OCSF', () => {
  it.each([
    [LIFTED('ask', 'pending'), 2004, [2, 'Denied'], [14, 'Delayed'], true],
    [LIFTED('deny', 'denied'), 2004, [2, 'Denied'], [25, 'Rejected'], true],
    [LIFTED('allow', 'used'), 2004, [1, 'Allowed'], [8, 'Approved'], false],
    [LIFTED('modify'), 2004, [4, 'Modified'], [11, 'Corrected'], true],
    [{ action: 'deny' }, 2004, [2, 'Denied'], [2, 'Blocked'], true],
    [{ action: 'steer' }, 2004, [4, 'Modified'], [11, 'Corrected'], true],
    [{ action: 'observe' }, 2004, [3, 'Observed'], [17, 'Logged'], false],
    [{ action: 'deny', matched: false }, 6003, [1, 'Allowed'], [1, 'Allowed'], false],
    // A control that denies fails closed; another one decides nothing when it fails.
    [{ action: 'deny', matched: false, error_message: 'e' }, 6003, [2, 'Denied'], [2, 'Blocked'], true],
    [{ action: 'observe', matched: false, error_message: 'e' }, 6003, [0, 'Unknown'], [27, 'Error'], false],
  ] as const)('of %j has the class %s and the action %j', (more, classUid, action, disposition, isAlert) => {
    const value = mapped('ocsf', storedEvent(more));
    expect(value).toMatchObject({ class_uid: classUid, type_uid: classUid === 2004 ? 200_401 : 600_399 });
    expect([value.action_id, value.action]).toEqual(action);
    expect([value.disposition_id, value.disposition]).toEqual(disposition);
    expect(value.is_alert).toBe(isAlert);
    expect(value.status_detail).toBe('error_message' in more ? 'e' : undefined);
  });

  it.each([
    [0, 1, 0],
    [0.5, 2, 50],
    [0.795, 2, 80],
    [1, 3, 100],
  ])('of the confidence %s has the level %s and the score %s', (confidence, level, score) => {
    const value = mapped('ocsf', storedEvent({ confidence }));
    expect([value.confidence_id, value.confidence_score]).toEqual([level, score]);
  });
});

describe('an entry of a decision log', () => {
  it('says what is not in it, and leaves out what is not known', () => {
    const bare = mapped('opa', storedEvent({ check_stage: 'post' }));
    expect(bare.erased).toEqual(['/input/step/input', '/input/step/output']);
    for (const name of ['trace_id', 'span_id', 'bundles', 'metrics', 'error', 'batch_decision_id']) {
      expect(bare).not.toHaveProperty(name);
    }
    const full = mapped('opa', { ...SHOWN, execution_duration_ms: 1.5, error_message: 'broken' });
    expect(member(full, 'metrics', 'timer_rego_query_eval_ns')).toBe(1_500_000);
    expect(full.error).toEqual({ message: 'broken' });
  });
});
