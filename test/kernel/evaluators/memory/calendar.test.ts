import { describe, expect, it } from 'vitest';
import {
  createCalendar,
  isTimeZone,
  LONGEST_WINDOW_US,
} from '../../../../src/kernel/evaluators/memory/calendar.js';

const at = (text: string): number => Date.parse(text) * 1_000;
const windowOf = (unit: Parameters<typeof createCalendar>[0], zone: string, time: string): string[] => {
  const { fromUs, toUs } = createCalendar(unit, zone)(at(time));
  return [fromUs, toUs].map((us) => new Date(us / 1_000).toISOString());
};

describe('a calendar window', () => {
  it.each([
    ['minute', 'UTC', '2026-11-26T10:20:30Z', '2026-11-26T10:20:00.000Z', '2026-11-26T10:21:00.000Z'],
    ['hour', 'Asia/Kolkata', '2026-11-26T10:20:30Z', '2026-11-26T09:30:00.000Z', '2026-11-26T10:30:00.000Z'],
    ['day', 'Europe/Berlin', '2026-11-26T10:20:30Z', '2026-11-25T23:00:00.000Z', '2026-11-26T23:00:00.000Z'],
    // Clocks are set forward: 23 hours. Set back: 25 hours.
    ['day', 'Europe/Berlin', '2026-03-29T10:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['day', 'Europe/Berlin', '2026-10-25T10:00:00Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    // Clocks were set forward at midnight: the day began at one o'clock.
    [
      'day',
      'America/Sao_Paulo',
      '2018-11-04T12:00:00Z',
      '2018-11-04T03:00:00.000Z',
      '2018-11-05T02:00:00.000Z',
    ],
    ['week', 'UTC', '2026-11-29T23:59:59Z', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
    [
      'month',
      'America/New_York',
      '2026-11-30T23:00:00Z',
      '2026-11-01T04:00:00.000Z',
      '2026-12-01T05:00:00.000Z',
    ],
    ['month', 'UTC', '2024-02-29T00:00:00Z', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
  ] as const)('of a %s in %s has the time in it: %s', (unit, zone, time, from, to) => {
    expect(windowOf(unit, zone, time)).toEqual([from, to]);
  });

  it('begins where the one before ends, over two years of days', () => {
    for (const zone of ['Europe/Berlin', 'America/Sao_Paulo', 'Africa/Cairo', 'Pacific/Apia']) {
      const windowAt = createCalendar('day', zone);
      let window = windowAt(at('2010-06-01T00:00:00Z'));
      for (let day = 0; day < 731; day += 1) {
        const next = windowAt(window.toUs);
        expect(next.fromUs).toBe(window.toUs);
        expect(windowAt(window.toUs - 1)).toEqual(window);
        expect(window.toUs - window.fromUs).toBeLessThanOrEqual(LONGEST_WINDOW_US.day);
        window = next;
      }
    }
  });

  it('has a time zone of the IANA database', () => {
    expect(['UTC', 'Europe/Berlin', 'Mars/Olympus', ''].map(isTimeZone)).toEqual([true, true, false, false]);
  });
});
