import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CODEC } from '../../../packages/events-clickhouse/src/index.js';
import { packEvents, readEvents, unpackEvents } from '../../../src/observe/events/read-events.js';
import { decodeRow, encodeEvent } from '../../../src/observe/events/sql/event-row.js';
import { ORIGINS } from '../../../src/observe/events/store/event.js';
import { eventArbitrary } from './events.support.js';

const NOW_MS = Date.UTC(2026, 0, 5);

describe.each([
  ['SQL', { encode: encodeEvent, decode: decodeRow }],
  ['ClickHouse', CODEC],
])('events on their way between threads, for %s', (_kind, codec) => {
  const anyEvents = fc.array(eventArbitrary(NOW_MS, ORIGINS), { minLength: 1, maxLength: 20 });

  it('are the same afterwards', () => {
    fc.assert(
      fc.property(anyEvents, fc.double({ min: 0, max: 1, noNaN: true }), (events, confidence) => {
        const sent = events.map((event, index) => ({
          ...event,
          // Rows are separated by line breaks.
          error_message: index % 2 === 0 ? 'one line\nanother\r\n\u2028' : event.error_message,
          confidence: index === 0 ? confidence : event.confidence,
        }));
        const here = readEvents(sent, codec.encode);
        const there = unpackEvents(structuredClone(packEvents(here)), codec.decode);
        expect(there.areStorable).toBe(here.areStorable);
        expect(there.encoded.map(({ id, row, traits }) => ({ id, row, traits }))).toEqual(
          here.encoded.map(({ id, row, traits }) => ({ id, row, traits })),
        );
        expect(there.encoded.map(({ event }) => event)).toEqual(sent);
      }),
    );
  });
});
