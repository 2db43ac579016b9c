import {
  converted,
  entriesOf,
  inMs,
  numberIn,
  type Reader,
  secret,
  TEXT,
  textLike,
  wordOf,
} from './config-readers.js';
import { setting } from './setting.js';

/** What is sent to a receiver of OpenTelemetry unless the setting says otherwise. */
export const TELEMETRY_SIGNALS = ['traces', 'metrics'] as const;
export type TelemetrySignal = (typeof TELEMETRY_SIGNALS)[number];

/** What can be sent; stored events are sent as log records. */
const OTLP_SIGNALS = [...TELEMETRY_SIGNALS, 'events'] as const;
type OtlpSignal = (typeof OTLP_SIGNALS)[number];

/** Names and values, as the headers and the resource of OpenTelemetry are configured. */
type NamedValues = Readonly<Record<string, string>>;

/** An address without a name and password, which would be in log lines: they belong into the headers. */
const ENDPOINT = /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/;

/** The characters of a header name and of a header value (RFC 9110, section 5). */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** `name=value` separated by commas; values are %-encoded, as in W3C Baggage. Undefined if they are not. */
function namedValues(text: string): NamedValues | undefined {
  const values: [name: string, value: string][] = [];
  for (const pair of entriesOf(text)) {
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
  const read = (text: string) => {
    const values = namedValues(text);
    const isEvery = Object.entries(values ?? {}).every(([name, value]) => isUsable(name, value));
    return isEvery ? values : undefined;
  };
  const expected = 'name=value, several separated by commas, with %-encoded values';
  return { read, expected, example } satisfies Reader<NamedValues>;
}

/** Attributes of the service. */
const RESOURCE_ATTRIBUTES = namedValuesIf(() => true, 'deployment.environment.name=production');

/** Headers of requests. */
export const HEADERS = namedValuesIf(
  (name, value) => HEADER_NAME.test(name) && HEADER_VALUE.test(value),
  'authorization=Bearer%20secret',
);

const isSignal = (word: string): word is OtlpSignal => OTLP_SIGNALS.some((signal) => signal === word);

/** Some of the signals. */
const SIGNALS: Reader<readonly OtlpSignal[]> = {
  read: (text) => {
    const words = entriesOf(text.toLowerCase());
    return words.every(isSignal) ? words : undefined;
  },
  expected: `some of ${OTLP_SIGNALS.join(', ')}, separated by commas`,
  example: OTLP_SIGNALS.join(','),
};

/** What is sent to a receiver of OpenTelemetry. */
export const TELEMETRY = {
  telemetry: {
    /** Without a slash at its end, as paths follow it. */
    endpoint: setting(
      'SERVICE_OTLP_ENDPOINT',
      null,
      converted(
        textLike(
          ENDPOINT,
          'an http or https URL without a name, password and query',
          'http://localhost:4318',
        ),
        (url) => url.replace(/\/+$/, ''),
      ),
    ).help(
      'Receiver of OpenTelemetry (OTLP over HTTP), without `/v1/…`. Without it, nothing is traced or sent.',
    ),
    headers: setting('SERVICE_OTLP_HEADERS', '', secret(HEADERS)).help(
      'Headers for that receiver: `name=value`, separated by commas, with %-encoded values.',
    ),
    signals: setting('SERVICE_OTLP_SIGNALS', TELEMETRY_SIGNALS.join(','), SIGNALS).help(
      'What is sent to it: some of `traces,metrics,events`. Stored events are sent as log records.',
    ),
    sampleRatio: setting('SERVICE_OTLP_SAMPLE_RATIO', 1, numberIn(0, 1, '0.01')).help(
      'Part of the evaluations without a `traceparent` that have a span, 0 to 1; with one, its flag decides.',
    ),
    genAi: setting('SERVICE_OTLP_GEN_AI', 'guardrail', wordOf('none', 'guardrail', 'all')).help(
      'Attributes of `gen_ai` on spans: none, those of a guardrail, or also those of the agent and the tool call in the semantic conventions of OpenTelemetry. They are in development there, and change with them.',
    ),
    metricIntervalMs: setting('SERVICE_OTLP_METRIC_SECONDS', 60, inMs(numberIn(1, 3600, '15'))).help(
      'Seconds between two sets of metrics that are sent.',
    ),
    serviceName: setting('SERVICE_OTLP_SERVICE_NAME', 'control-enforcement', TEXT).help(
      'Name of the service in traces and metrics.',
    ),
    resource: setting('SERVICE_OTLP_RESOURCE_ATTRIBUTES', '', RESOURCE_ATTRIBUTES).help(
      'Further attributes of the service in traces and metrics: `name=value`, separated by commas, with %-encoded values.',
    ),
  },
};
