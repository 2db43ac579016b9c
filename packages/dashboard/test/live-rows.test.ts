import { create } from '@bufbuild/protobuf';
import { ControlExecutionEventSchema } from '@gen/enforcement/v1/observability_service_pb.js';
import { describe, expect, it } from 'vitest';
import { marksWithin, placeOfMark } from '../src/activity/chart-marks.js';
import { placeOf, type TailRow, withRows, withStored } from '../src/live/tail-memory.js';

const events = (...ids: readonly string[]) =>
  ids.map((controlExecutionId) => create(ControlExecutionEventSchema, { controlExecutionId }));
const shown = (rows: readonly TailRow[]) => rows.map((row) => ('skipped' in row ? row.skipped : row.key));

describe('the rows of live events', () => {
  it('have the latest first, and no event twice, whether it was stored before or received', () => {
    const received = withRows([], events('3', '4'), 0);
    const loaded = withStored(received, events('3', '2', '1'));
    expect(shown(loaded)).toEqual(['4', '3', '2', '1']);
    expect(shown(withRows(loaded, events('2', '5'), 0))).toEqual(['5', '4', '3', '2', '1']);
  });

  it('count those that were not drawn where they are missing', () => {
    const rows = withRows(withRows([], events('1'), 0), events('9'), 7);
    expect(shown(rows)).toEqual(['9', 7, '1']);
  });

  it('are no more than a table draws at once', () => {
    const many = Array.from({ length: 300 }, (_, index) => String(index));
    expect(withStored([], events(...many))).toHaveLength(200);
    expect(withRows([], events(...many), 0)[0]?.key).toBe('299');
  });

  it('are kept for who returns soon, and begin anew later', () => {
    const place = placeOf('agent', 0);
    place.rows = withRows([], events('1'), 0);
    place.leftAtMs = 1_000;
    expect(placeOf('agent', 60_000)).toBe(place);
    expect(placeOf('agent', 200_000).rows).toEqual([]);
    for (const name of ['b', 'c', 'd', 'e']) placeOf(name, 0);
    expect(placeOf('agent', 200_000)).not.toBe(place);
  });
});

describe('the marks of a chart', () => {
  const intervals = [0, 10, 20].map((fromMs) => ({ fromMs, toMs: fromMs + 10, counts: {} }));
  const mark = (atMs: number) => ({ atMs, text: `at ${atMs}`, href: `/${atMs}` });

  it('are those within it, the latest first, each at its place', () => {
    const marks = marksWithin([mark(5), mark(29), mark(30), mark(-1)], intervals);
    expect(marks.map(({ atMs }) => atMs)).toEqual([29, 5]);
    expect([5, 10, 29].map((atMs) => placeOfMark(mark(atMs), intervals))).toEqual([0.5, 1, 2.9]);
    expect(marksWithin([mark(5)], [])).toEqual([]);
  });
});
