import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ControlEvent } from '../../src/events/event.js';
import { mergeEvents } from '../../src/events/event-writer.js';
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
