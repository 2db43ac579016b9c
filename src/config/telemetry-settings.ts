import { z } from 'zod';
import type { Reader } from './config-readers.js';

/** What is sent to a receiver of OpenTelemetry. */
export const TELEMETRY_SIGNALS = ['traces', 'metrics'] as const;
export type TelemetrySignal = (typeof TELEMETRY_SIGNALS)[number];

/** Names and values, as the headers and the resource of OpenTelemetry are configured. */
export type NamedValues = Readonly<Record<string, string>>;

/** `name=value` separated by commas; values are %-encoded, as in W3C Baggage. */
export const NAMED_VALUES: Reader<NamedValues> = {
  schema: z.string().transform((text, context): NamedValues => {
    try {
      const pairs = text.split(',').filter((pair) => pair.trim() !== '');
      return Object.fromEntries(
        pairs.map((pair) => {
          const at = pair.indexOf('=');
          if (at < 1) throw new TypeError('no name');
          return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
        }),
      );
    } catch {
      context.addIssue('no names with values');
      return z.NEVER;
    }
  }),
  expected: 'must be name=value, several separated by commas, with %-encoded values',
  example: 'authorization=Bearer%20secret',
};

/** Some of the signals. */
export const SIGNALS: Reader<readonly TelemetrySignal[]> = {
  schema: z
    .string()
    .transform((text) => text.split(',').map((word) => word.trim().toLowerCase()))
    .pipe(z.array(z.enum(TELEMETRY_SIGNALS)).min(1)),
  expected: `must be some of ${TELEMETRY_SIGNALS.join(', ')}, separated by commas`,
  example: TELEMETRY_SIGNALS.join(','),
};
