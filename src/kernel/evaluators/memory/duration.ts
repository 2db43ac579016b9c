import type { z } from 'zod';
import { field, refuse, refuseTyped } from '../../../contract/input/fields.js';

const UNITS_US = { ms: 1_000, s: 1_000_000, m: 60_000_000, h: 3_600_000_000, d: 86_400_000_000 } as const;
type Unit = keyof typeof UNITS_US;

const DURATION = /^([1-9][0-9]{0,11})(ms|s|m|h|d)$/;

/** Longest time that a setting may allow (366 days), in microseconds. */
export const LONGEST_US = 366 * UNITS_US.d;

/** A length of time as it is written, such as "90m", in microseconds; null for any other text. */
export function microsecondsOf(text: string): number | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  return unit === undefined ? null : Number(count) * UNITS_US[unit as Unit];
}

/** A length of time in the largest unit that needs no fraction, such as "90m". */
export function durationText(us: number): string {
  const units = Object.entries(UNITS_US).reverse();
  const [unit, size] = units.find(([, length]) => us >= length && us % length === 0) ?? ['ms', 1_000];
  return `${Math.ceil(us / size)}${unit}`;
}

/**
 * A member with a length of time, read as microseconds. `maxUs`: the longest one; `because` says where it comes from, such as
 * the name of a setting.
 */
export function duration(maxUs: number, because = ''): z.ZodType<number> {
  return field(
    (value, sink) => {
      if (typeof value !== 'string')
        return refuse(sink, 'string_type', 'must be a string such as "1h"', value);
      const us = microsecondsOf(value);
      const form = 'must be a whole number above 0 and one of the units ms, s, m, h and d, such as "90m"';
      if (us === null) return refuseTyped(sink, 'value_error', form, value);
      if (us <= maxUs) return us;
      return refuseTyped(sink, 'value_error', `must be at most ${durationText(maxUs)}${because}`, value);
    },
    { type: 'string', pattern: DURATION.source },
  );
}

/** A member with a window, which is as long as the service keeps what controls with memory know, or shorter. */
export function windowLength(maxWindowUs: number): z.ZodType<number> {
  return duration(maxWindowUs, ', the longest window of this service (SERVICE_MEMORY_WINDOW_HOURS)');
}
