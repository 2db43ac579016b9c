import { z } from 'zod';
import type { Reader } from './config-readers.js';

/** What is sent to a receiver of OpenTelemetry unless the setting says otherwise. */
export const TELEMETRY_SIGNALS = ['traces', 'metrics'] as const;
export type TelemetrySignal = (typeof TELEMETRY_SIGNALS)[number];

/** What can be sent; stored events are sent as log records. */
const OTLP_SIGNALS = [...TELEMETRY_SIGNALS, 'events'] as const;
export type OtlpSignal = (typeof OTLP_SIGNALS)[number];

/** Names and values, as the headers and the resource of OpenTelemetry are configured. */
export type NamedValues = Readonly<Record<string, string>>;

/** An address without a name and password, which would be in log lines: they belong into the headers. */
export const OTLP_ENDPOINT = /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/;

/** The characters of a header name and of a header value (RFC 9110, section 5). */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** `name=value` separated by commas; values are %-encoded, as in W3C Baggage. Undefined if they are not. */
function namedValues(text: string): NamedValues | undefined {
  const values: [name: string, value: string][] = [];
  for (const pair of text.split(',').map((one) => one.trim())) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).trim();
    if (name === '') return undefined;
    try {
      values.push([name, decodeURIComponent(pair.slice(at + 1).trim())]);
    } catch {
      return undefined;
    }
  }
  return Object.fromEntries(values);
}

function namedValuesIf(isUsable: (name: string, value: string) => boolean, example: string) {
  return {
    schema: z.string().transform((text, context): NamedValues => {
      const values = namedValues(text);
      if (values !== undefined && Object.entries(values).every(([name, value]) => isUsable(name, value))) {
        return values;
      }
      context.addIssue('no names with values');
      return z.NEVER;
    }),
    expected: 'must be name=value, several separated by commas, with %-encoded values',
    example,
  } satisfies Reader<NamedValues>;
}

/** Attributes of the service. */
export const RESOURCE_ATTRIBUTES = namedValuesIf(() => true, 'deployment.environment.name=production');

/** Headers of requests. */
export const OTLP_HEADERS = namedValuesIf(
  (name, value) => HEADER_NAME.test(name) && HEADER_VALUE.test(value),
  'authorization=Bearer%20secret',
);

/** Some of the signals. */
export const SIGNALS: Reader<readonly OtlpSignal[]> = {
  schema: z
    .string()
    .transform((text) => text.split(',').map((word) => word.trim().toLowerCase()))
    .pipe(z.array(z.enum(OTLP_SIGNALS)).min(1)),
  expected: `must be some of ${OTLP_SIGNALS.join(', ')}, separated by commas`,
  example: OTLP_SIGNALS.join(','),
};
