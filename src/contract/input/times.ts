import type { z } from 'zod';
import { field, refuse } from './fields.js';

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
