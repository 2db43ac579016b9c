import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import { mergeEvents } from '../../../src/observe/events/store/event-merge.js';
import { eventArbitrary, storedEvent } from './events.support.js';

const own = storedEvent({
  origin: 'service',
  action: 'deny',
  matched: true,
  trace_id: 'sent',
  span_id: 'sent',
});
const client = storedEvent({
  action: 'observe',
  matched: false,
  trace_id: 'other',
  span_id: 'other',
  error_message: 'told',
  execution_duration_ms: 2,
  evaluator_name: 'regex',
  selector_path: 'input',
  metadata: { a: 1 },
});
const ofClient = {
  execution_duration_ms: 2,
  evaluator_name: 'regex',
  selector_path: 'input',
  metadata: { a: 1 },
};

const STEP = {
  step_type: 'tool',
  step_name: 'send',
  session_id: 'session',
  step_id: 'step',
  revision: 7,
  decision_id: 'decision',
} as const;
const NO_STEP = {
  step_type: null,
  step_name: null,
  session_id: null,
  step_id: null,
  revision: null,
  decision_id: null,
} as const;

describe('what a client and the service report of one check', () => {
  it('is what the service saw, with what only the client has', () => {
    const expected = { ...own, ...ofClient, origin: 'merged' };
    expect(mergeEvents(own, client)).toEqual(expected);
    expect(mergeEvents(client, own)).toEqual(expected);
  });

  it('has the trace of the client when the evaluation came without', () => {
    const untraced: ControlEvent = { ...own, origin: 'untraced_service' };
    const expected = { ...own, ...ofClient, origin: 'merged', trace_id: 'other', span_id: 'other' };
    expect(mergeEvents(untraced, client)).toEqual(expected);
    expect(mergeEvents(client, untraced)).toEqual(expected);
  });

  it('has the metadata of both, and what came of the step from the service alone', () => {
    const verdict = { outcome: 'allow', approval: { id: 7, state: 'used' } };
    const forged = { ...client, metadata: { a: 1, verdict } };
    expect(mergeEvents(own, forged).metadata).toEqual({ a: 1 });
    const lifted: ControlEvent = { ...own, metadata: { verdict } };
    expect(mergeEvents(lifted, client).metadata).toEqual({ a: 1, verdict });
    expect(mergeEvents({ ...forged, metadata: { verdict: 1 } }, lifted).metadata).toEqual({ verdict });
  });

  it('has the evaluator and the selector of the client, else those of the service', () => {
    const explained: ControlEvent = { ...own, evaluator_name: 'list', selector_path: 'output' };
    expect(mergeEvents(explained, client)).toMatchObject({ evaluator_name: 'regex', selector_path: 'input' });
    const unexplained = { ...client, evaluator_name: null, selector_path: null };
    expect(mergeEvents(unexplained, explained)).toMatchObject({
      evaluator_name: 'list',
      selector_path: 'output',
    });
  });

  it('has the step that the service saw, and of the step what only the client knows', () => {
    const other = {
      step_type: 'llm',
      step_name: 'x',
      session_id: 'x',
      step_id: 'x',
      revision: 1,
      decision_id: 'x',
    };
    expect(mergeEvents({ ...own, ...STEP }, { ...client, ...other })).toMatchObject(STEP);
    expect(mergeEvents({ ...client, ...STEP }, { ...own, ...NO_STEP })).toMatchObject(STEP);
    const withoutSession = { ...own, ...STEP, session_id: null, step_id: null };
    expect(mergeEvents(withoutSession, { ...client, ...other })).toMatchObject({
      ...STEP,
      session_id: 'x',
      step_id: 'x',
    });
  });

  it('is the same wherever the event of the service comes, and however often', () => {
    const now = 1_700_000_000_000;
    fc.assert(
      fc.property(
        fc.array(eventArbitrary(now, ['client']), { maxLength: 4 }),
        eventArbitrary(now, ['service', 'untraced_service']),
        fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 3 }),
        (clients, service, places) => {
          const inOrder: ControlEvent[] = [...clients];
          for (const place of places) inOrder.splice(place, 0, service);
          const merged = inOrder.reduce(mergeEvents);
          expect(merged).toEqual([service, ...clients].reduce(mergeEvents));
        },
      ),
    );
  });

  it('is the first one, untouched, when both are of the same', () => {
    expect(mergeEvents(client, { ...client, control_name: 'later' })).toBe(client);
    expect(mergeEvents(own, { ...own, control_name: 'later' })).toBe(own);
    const merged = mergeEvents(own, client);
    expect(mergeEvents(merged, { ...client, evaluator_name: 'later' })).toBe(merged);
    expect(mergeEvents(merged, own)).toBe(merged);
  });
});
