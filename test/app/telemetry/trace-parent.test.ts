import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTraceNotes } from '../../../src/app/telemetry/trace-notes.js';
import { parentOf } from '../../../src/app/telemetry/trace-parent.js';

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((digits) => digits.join(''));
const id = (length: number) => hex(length).filter((text) => /[^0]/.test(text));

describe('the parent of a span', () => {
  it('is what a valid traceparent names, and is sampled if the last bit of its flags is set', () => {
    fc.assert(
      fc.property(id(32), id(16), hex(2), (traceId, spanId, flags) => {
        expect(parentOf(`00-${traceId}-${spanId}-${flags}`)).toEqual({
          traceId,
          spanId,
          traceFlags: Number.parseInt(flags, 16) % 2,
          isRemote: true,
        });
      }),
    );
  });

  it('is the same in a later version, which may have more parts', () => {
    const ids = '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    expect(parentOf(`cc-${ids}-what-the-future-will-be`)).toEqual(parentOf(`00-${ids}`));
  });

  it('is none for every other text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.constant(`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`),
          fc.constant(`00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`),
          fc.constant('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more'),
          fc.tuple(hex(31), hex(16)).map(([trace, span]) => `00-${trace}-${span}-01`),
        ),
        (text) => {
          expect(parentOf(text)).toBeUndefined();
        },
      ),
    );
  });

  it('has the tracestate beside it, without members that are invalid', () => {
    const ids = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    expect(parentOf(ids, 'one=1, =bad,two=2')?.traceState?.serialize()).toBe('one=1,two=2');
  });
});

describe('the trace that a log line names', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-00` };

  it('is that of the caller, sampled or not; none without a valid one', () => {
    const { facts } = createTraceNotes();
    expect(facts(headers)).toEqual({ trace_id: traceId, span_id: '00f067aa0ba902b7' });
    expect(facts(headers, new Error('of no evaluation'))).toEqual(facts(headers));
    expect(facts({})).toEqual({});
    expect(facts({ traceparent: `${headers.traceparent}, ${headers.traceparent}` })).toEqual({});
  });

  it('is that of the first evaluation that failed with its error', () => {
    const notes = createTraceNotes();
    const error = new Error('of evaluations');
    notes.failed(error, { traceId: 'a', spanId: 'b' });
    notes.failed(error, { traceId: 'c', spanId: 'd' });
    notes.failed('a text', { traceId: 'e', spanId: 'f' });
    expect(notes.facts(headers, error)).toEqual({ trace_id: 'a', span_id: 'b' });
    expect(notes.facts(headers, 'a text')).toEqual(notes.facts(headers));
  });
});
