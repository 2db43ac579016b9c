import { renderToStaticMarkup } from 'react-dom/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Router } from 'wouter';
import {
  addressWithRange,
  listRange,
  rangeOfAddress,
  rangeProblem,
  refreshMs,
  statisticsRange,
  timesAt,
  widened,
} from '../src/ui/range/range.js';
import { RangePicker } from '../src/ui/range/range-picker.js';
import { rangeText } from '../src/ui/range/range-text.js';
import { readTypedTime, typedTime } from '../src/ui/range/typed-time.js';

const NOW = Date.parse('2026-01-05T12:00:30.500Z');
const [FROM, TO] = ['2026-01-01T10:00:00.000Z', '2026-01-01T11:30:00.000Z'];
const FIXED = `${FROM}/${TO}`;
const ofAddress = (address: string) => rangeOfAddress(new URLSearchParams(address));
const problemOf = (address: string) => rangeProblem(new URLSearchParams(address));

describe('the range of an address', () => {
  it('ends now, or has two times, of which one can be missing', () => {
    expect(ofAddress('range=7d')).toBe('7d');
    expect(ofAddress(`from=${FROM}&to=${TO}`)).toBe(FIXED);
    expect(ofAddress(`from=${FROM}`)).toBe(`${FROM}/`);
    expect(ofAddress(`to=${Date.parse(TO) / 1000}`)).toBe(`/${TO}`);
    expect(ofAddress('tab=x')).toBeUndefined();
  });

  it('is none in the address of a comparison of versions', () => {
    expect(ofAddress('tab=versions&from=3&to=5')).toBeUndefined();
    expect(problemOf('tab=versions&from=3&to=5')).toBeUndefined();
  });

  it('can be one of an earlier version', () => {
    expect(ofAddress('since=60')).toBe('60m');
    expect(ofAddress(`range=custom&from=${FROM}&to=${TO}`)).toBe(FIXED);
  });

  it('is refused if it cannot be read', () => {
    for (const address of ['', 'range=24h', 'range=custom', `from=${FROM}&to=${TO}`]) {
      expect([address, problemOf(address)]).toEqual([address, undefined]);
    }
    expect(problemOf('range=5y')).toContain('“5y” as range, which is none. Possible are: 5m, 15m, 1h');
    expect(problemOf('from=yesterday')).toContain('“yesterday” as from, which is no time');
    expect(problemOf(`from=${TO}&to=${FROM}`)).toBe('The range ends before it begins.');
  });

  it('is written instead of the one before, and not at all if it is the usual one', () => {
    const before = new URLSearchParams(`tab=x&range=custom&from=${FROM}&to=${TO}`);
    expect(addressWithRange(before, '7d', '24h').toString()).toBe('tab=x&range=7d');
    expect(addressWithRange(before, '24h', '24h').toString()).toBe('tab=x');
    expect(addressWithRange(before, '', '').toString()).toBe('tab=x');
    const parameters = addressWithRange(new URLSearchParams('range=7d'), FIXED, '24h');
    expect(Object.fromEntries(parameters)).toEqual({ from: FROM, to: TO });
  });
});

describe('a range in requests', () => {
  it('is that of statistics, or two times in whole minutes', () => {
    expect(statisticsRange('24h', NOW)).toEqual({ timeRange: '24h' });
    expect(statisticsRange(FIXED, NOW)).toEqual({ startTime: FROM, endTime: TO });
    expect(statisticsRange(`${FROM}/`, NOW)).toEqual({
      startTime: FROM,
      endTime: '2026-01-05T12:01:00.000Z',
    });
    expect(statisticsRange(`/${TO}`, NOW)).toEqual({ startTime: '2025-12-31T11:30:00.000Z', endTime: TO });
  });

  it('has a beginning in whole minutes in lists, so that the same request is made when a page is drawn again', () => {
    expect(listRange('24h', NOW)).toEqual({ startTime: '2026-01-04T12:00:00.000Z' });
    expect(listRange(FIXED, NOW)).toEqual({ startTime: FROM, endTime: TO });
    expect(listRange('', NOW)).toEqual({});
  });

  it('is asked for again while it can change', () => {
    expect(refreshMs('5m', NOW)).toBe(5_000);
    expect(refreshMs('24h', NOW)).toBe(15_000);
    expect(refreshMs(FIXED, NOW)).toBe(false);
    expect(refreshMs(`${FROM}/`, NOW)).toBe(15_000);
  });

  it('becomes twice as long, ends now at the latest, and does not become longer than statistics can be', () => {
    expect(widened(FIXED, NOW)).toBe('2026-01-01T09:15:00.000Z/2026-01-01T12:15:00.000Z');
    const { fromMs, toMs } = timesAt(widened('24h', NOW), NOW);
    expect(toMs).toBe(Date.parse('2026-01-05T12:01:00Z'));
    expect(toMs - fromMs).toBe(48 * 3_600_000);
    const longest = timesAt(widened('365d', NOW), NOW);
    expect(longest.toMs - longest.fromMs).toBe(366 * 86_400_000);
  });
});

describe('a typed time', () => {
  const read = (text: string) => {
    const time = readTypedTime(text, NOW);
    return 'problem' in time ? 'problem' : time.ms === undefined ? '' : new Date(time.ms).toISOString();
  };

  it('has hours from 0 to 23, and can be without seconds, without a clock or without a day', () => {
    expect(read('2026-01-31 22:42:07Z')).toBe('2026-01-31T22:42:07.000Z');
    expect(read('2026-01-31T22:42:07.123Z')).toBe('2026-01-31T22:42:07.000Z');
    expect(read('2026-01-31 9:42Z')).toBe('2026-01-31T09:42:00.000Z');
    expect(read('2026-1-3 Z')).toBe('2026-01-03T00:00:00.000Z');
    expect(read('10:42Z')).toBe('2026-01-05T10:42:00.000Z');
    expect(read('now')).toBe('2026-01-05T12:00:30.000Z');
    expect(read(' ')).toBe('');
  });

  it('is refused if there is no such time', () => {
    for (const text of ['24:00', '2026-02-30', '2026-13-01', '10:60', '10:42 PM', 'yesterday', '10']) {
      expect([text, read(text)]).toEqual([text, 'problem']);
    }
    expect(readTypedTime('soon')).toEqual({
      problem: '“soon” is not a time such as 2026-01-31 10:42, 10:42 for today, or now.',
    });
  });

  it('is read as it is printed', () => {
    const ms = Date.parse('2026-06-30T21:05:09Z');
    expect(readTypedTime(typedTime(ms))).toEqual({ ms });
    expect(typedTime(undefined)).toBe('');
  });
});

describe('the picker', () => {
  beforeAll(() => vi.stubEnv('TZ', 'UTC'));
  afterAll(() => vi.unstubAllEnvs());
  const buttonOf = (search: string, fallback?: string) =>
    / aria-label="([^"]*)"/.exec(
      renderToStaticMarkup(
        <Router ssrPath="/things" ssrSearch={search}>
          <RangePicker {...(fallback === undefined ? {} : { fallback })} />
        </Router>,
      ),
    )?.[1];

  it('says which range the page has', () => {
    expect(buttonOf('')).toBe('Range: Last 24 hours');
    expect(buttonOf('', '')).toBe('Range: Any time');
    expect(buttonOf('range=365d')).toBe('Range: Last 1 year');
    expect(buttonOf('from=2020-01-01T10:00:00Z&to=2020-01-01T11:30:00Z')).toBe(
      'Range: 1 Jan 2020 10:00 – 11:30',
    );
  });

  it('has words for open ranges, and for those of several days', () => {
    expect(rangeText('2020-01-01T10:00:00.000Z/')).toBe('Since 1 Jan 2020 10:00');
    expect(rangeText('/2020-01-01T10:00:07.000Z')).toBe('Until 1 Jan 2020 10:00:07');
    expect(rangeText('2020-01-01T10:00:00.000Z/2020-01-03T00:00:00.000Z')).toBe(
      '1 Jan 2020 10:00 – 3 Jan 2020 00:00',
    );
  });
});
