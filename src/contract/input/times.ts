import type { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { field, orElse, refuse, refuseTyped } from './fields.js';
import { integer } from './numbers.js';

/** Bounds of a duration in milliseconds. */
export interface DurationLimits {
  /** Exclusive. */
  readonly above: number;
  /** Inclusive. */
  readonly max: number;
}

/** Whole seconds and up to nine digits behind the point, as in the JSON form of google.protobuf.Duration. */
const DURATION = /^(-?[0-9]{1,12})(\.[0-9]{1,9})?s$/;

/** A duration such as "1.5s", in milliseconds; fractions of a millisecond are kept. */
export function duration({ above, max }: DurationLimits): z.ZodType<number> {
  const rule = `must be a duration of more than ${above / 1000} and at most ${max / 1000} seconds, such as "0.5s"`;
  return field(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'string_type', rule, value);
      const ms = millisecondsOf(value);
      return ms !== undefined && ms > above && ms <= max ? ms : refuse(sink, 'value_error', rule, value);
    },
    { type: 'string', pattern: DURATION.source },
  );
}

/** The milliseconds of a duration text; undefined if it is none. */
export function millisecondsOf(text: string): number | undefined {
  return DURATION.test(text) ? Number(text.slice(0, -1)) * 1000 : undefined;
}

/** How long both secrets are valid after a rotation, in whole seconds: a day if that is not told. */
export function overlapSeconds(): z.ZodType<number> {
  return orElse(integer(LIMITS.RotateKeyRequest.overlap_seconds), 24 * 60 * 60);
}

/** A date with a time and a zone, RFC 3339. */
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const TIME_RULE = 'must be a time with a zone, for example 2026-12-31T00:00:00Z';
const DAY_MS = 24 * 3_600_000;

/** Milliseconds since 1970. `problemOf` has the code and the message for a time that is refused. */
export function timeWithZone(
  problemOf: (ms: number) => readonly [code: string, message: string] | null = () => null,
): z.ZodType<number> {
  return field<number>(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'datetime_type', TIME_RULE, value);
      const ms = TIME.test(value) ? Date.parse(value) : Number.NaN;
      if (Number.isNaN(ms)) return refuseTyped(sink, 'datetime_parsing', TIME_RULE, value);
      const problem = problemOf(ms);
      return problem === null ? ms : refuseTyped(sink, ...problem, value);
    },
    { type: 'string', format: 'date-time' },
  );
}

/** The same, after `now`, and at most `maxDays` after it. */
export function futureTime(
  now: () => number,
  { maxDays = Number.POSITIVE_INFINITY }: { readonly maxDays?: number } = {},
): z.ZodType<number> {
  return timeWithZone((ms) => {
    const nowMs = now();
    if (ms <= nowMs) return ['datetime_future', 'must be in the future'];
    if (ms <= nowMs + maxDays * DAY_MS) return null;
    return ['value_error', `must be at most ${maxDays} days from now`];
  });
}
