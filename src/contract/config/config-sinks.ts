import { resolve } from 'node:path';
import type { S3Options } from '../../../packages/s3-files/src/index.js';
import {
  BOOLEAN,
  converted,
  inMs,
  integerIn,
  listWhere,
  MIB,
  secret,
  TEXT,
  textLike,
  textWhere,
  wordOf,
} from './config-readers.js';
import type { EVENTS } from './event-settings.js';
import { setting, type ValuesOf } from './setting.js';
import { HEADERS, type TELEMETRY } from './telemetry-settings.js';

const HOST_AND_PORT = /^(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}$/;
const SASL_NAMES = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
} as const;

const KAFKA = {
  brokers: setting(
    'SERVICE_EVENT_KAFKA_BROKERS',
    '',
    listWhere((entry) => HOST_AND_PORT.test(entry), 'hosts with ports, separated by commas', 'kafka-1:9092'),
  ).help('Kafka brokers that every stored event is sent to: hosts with ports, separated by commas.', 'none'),
  topic: setting(
    'SERVICE_EVENT_KAFKA_TOPIC',
    'control-events',
    textLike(/^[A-Za-z0-9._-]{1,249}$/, 'a name of letters, digits, ., _ and -'),
  ).help('Topic for events. It must exist.'),
  clientId: setting(
    'SERVICE_EVENT_KAFKA_CLIENT_ID',
    'control-enforcement-service',
    textLike(/^\S+$/, 'a text without spaces'),
  ).help('Name of the service in the logs and quotas of brokers.'),
  tls: setting('SERVICE_EVENT_KAFKA_TLS', false, BOOLEAN).help('Use TLS to the brokers.'),
  caFile: setting('SERVICE_EVENT_KAFKA_CA_FILE', null, TEXT).help(
    'PEM file with the certificate authorities of the brokers.',
    'those of Node.js',
  ),
  sasl: {
    mechanism: setting(
      'SERVICE_EVENT_KAFKA_SASL_MECHANISM',
      null,
      converted(wordOf('plain', 'scram-sha-256', 'scram-sha-512'), (word) => SASL_NAMES[word]),
    ).help('How to authenticate to the brokers: plain, scram-sha-256 or scram-sha-512.', 'none'),
    username: setting('SERVICE_EVENT_KAFKA_USERNAME', null, TEXT).help('Name to authenticate with.'),
    password: setting('SERVICE_EVENT_KAFKA_PASSWORD', null, secret(TEXT)).help(
      'Password to authenticate with.',
    ),
  },
  format: setting('SERVICE_EVENT_KAFKA_FORMAT', 'json', wordOf('json', 'cloudevents', 'ocsf')).help(
    'What the value of a message is: the event as JSON, as a CloudEvent, or in the schema of OCSF.',
  ),
  from: setting('SERVICE_EVENT_KAFKA_FROM', 'oldest', wordOf('oldest', 'now')).help(
    'Where the first delivery begins: with the oldest stored event, or with those stored from now on.',
  ),
};

/** An address without a name and password, which would be in log lines: they belong into the headers. */
const HTTP_URL = /^https?:\/\/[^\s/?#@]+(?:[/?][^\s#]*)?$/;

const HTTP = {
  url: setting(
    'SERVICE_EVENT_HTTP_URL',
    null,
    textWhere(
      (text) => HTTP_URL.test(text) && URL.canParse(text),
      'an http or https URL without a name, password and fragment',
      'https://collector.example/logs',
    ),
  ).help('Receiver that every stored event is sent to by POST, with its whole path.', 'none'),
  format: setting('SERVICE_EVENT_HTTP_FORMAT', 'cloudevents', wordOf('cloudevents', 'ocsf', 'opa')).help(
    'How events are sent to it: as CloudEvents, in the schema of OCSF, or as a decision log of OPA.',
  ),
  mode: setting('SERVICE_EVENT_HTTP_MODE', 'batch', wordOf('batch', 'structured', 'binary')).help(
    'Content mode of CloudEvents. With structured and binary each request has one event.',
  ),
  batch: setting('SERVICE_EVENT_HTTP_BATCH', 100, integerIn(1, 500)).help('Most events of a request.'),
  headers: setting('SERVICE_EVENT_HTTP_HEADERS', '', secret(HEADERS)).help(
    'Headers for that receiver: `name=value`, separated by commas, with %-encoded values.',
  ),
  token: setting(
    'SERVICE_EVENT_HTTP_TOKEN',
    null,
    secret(textLike(/^[\x21-\x7e]+$/, 'printable ASCII without spaces', 'text')),
  ).help('Token for that receiver, in the header `authorization` as a bearer token.'),
  gzip: setting('SERVICE_EVENT_HTTP_GZIP', null, BOOLEAN).help(
    'Compress the bodies of requests.',
    'true for opa, else false',
  ),
  caFile: setting('SERVICE_EVENT_HTTP_CA_FILE', null, TEXT).help(
    'PEM file with the certificate authorities of that receiver.',
    'those of Node.js',
  ),
  from: setting('SERVICE_EVENT_HTTP_FROM', 'oldest', wordOf('oldest', 'now')).help(
    'Where the first delivery begins: with the oldest stored event, or with those stored from now on.',
  ),
};

const PARQUET = {
  place: setting(
    'SERVICE_EVENT_PARQUET',
    null,
    textLike(
      /^(?!s3:)|^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[^?#]*)?$/,
      'a folder, or s3://BUCKET/PREFIX',
      's3://audit/events',
    ),
  ).help('Folder, or s3://BUCKET/PREFIX, that every stored event is written to as Parquet files.', 'none'),
  from: setting('SERVICE_EVENT_PARQUET_FROM', 'oldest', wordOf('oldest', 'now')).help(
    'Where an empty folder begins: with the oldest stored event, or with those stored from now on.',
  ),
  intervalMs: setting('SERVICE_EVENT_PARQUET_INTERVAL_SECONDS', 3600, inMs(integerIn(1, 3600))).help(
    'Longest time that a file collects events before it is written; at the end of each hour it is written in any case.',
  ),
  maxRows: setting('SERVICE_EVENT_PARQUET_MAX_ROWS', 1_000_000, integerIn(1, 10_000_000)).help(
    'Events after which a file is written earlier.',
  ),
  maxBytes: setting('SERVICE_EVENT_PARQUET_MAX_BYTES', 64 * MIB, integerIn(65_536, 1024 * MIB)).help(
    'Bytes after which a file is written earlier. They are kept in memory until then.',
  ),
  s3: {
    endpoint: setting(
      'SERVICE_EVENT_S3_ENDPOINT',
      null,
      textLike(/^https?:\/\/[^\s/?#]+\/?$/, 'an http or https URL without a path', 'http://minio:9000'),
    ).help('Address of an S3-compatible store.', 'that of AWS in the region'),
    region: setting(
      'SERVICE_EVENT_S3_REGION',
      'us-east-1',
      textLike(/^[a-z0-9-]+$/, 'the name of a region', 'eu-central-1'),
    ).help('Region of the bucket.'),
    pathStyle: setting('SERVICE_EVENT_S3_PATH_STYLE', false, BOOLEAN).help(
      'Name the bucket in the path of requests instead of the host, as many S3-compatible stores need it.',
    ),
    accessKeyId: setting('SERVICE_EVENT_S3_ACCESS_KEY_ID', null, TEXT).help('Id of the key for the bucket.'),
    secretAccessKey: setting('SERVICE_EVENT_S3_SECRET_ACCESS_KEY', null, secret(TEXT)).help(
      'The key for the bucket.',
    ),
    sessionToken: setting('SERVICE_EVENT_S3_SESSION_TOKEN', null, secret(TEXT)).help(
      'Token of a temporary key.',
    ),
  },
};

/** Destinations outside of the database that every stored event is copied to. */
export const SINKS = { eventSinks: { kafka: KAFKA, http: HTTP, parquet: PARQUET } };

export type KafkaConfig = NonNullable<ReturnType<typeof kafkaConfig>>;
export type HttpSinkConfig = NonNullable<ReturnType<typeof httpConfig>>;
export type ParquetConfig = NonNullable<ReturnType<typeof parquetConfig>>;
export type OtlpSinkConfig = NonNullable<ReturnType<typeof otlpConfig>>;

type SinkValues = ValuesOf<typeof SINKS> & ValuesOf<typeof EVENTS> & ValuesOf<typeof TELEMETRY>;

/** The sinks as configured; null for none. Adds to `problems` what makes them unusable. */
export function sinksConfig({ eventSinks, observability, telemetry }: SinkValues, problems: string[]) {
  const sinks = {
    kafka: kafkaConfig(eventSinks.kafka, problems),
    http: httpConfig(eventSinks.http, problems),
    parquet: parquetConfig(eventSinks.parquet, problems),
    otlp: otlpConfig(telemetry),
  };
  if (!observability.enabled && Object.values(sinks).some((sink) => sink !== null)) {
    problems.push(
      'SERVICE_OBSERVABILITY_ENABLED: SERVICE_EVENT_KAFKA_BROKERS, SERVICE_EVENT_HTTP_URL, SERVICE_EVENT_PARQUET and events over OTLP need the event store; for example SERVICE_OBSERVABILITY_ENABLED=true',
    );
  }
  return sinks;
}

/** A receiver of OpenTelemetry, which gets events as log records. */
function otlpConfig({
  endpoint,
  signals,
  headers,
  serviceName,
  resource,
}: ValuesOf<typeof TELEMETRY>['telemetry']) {
  if (endpoint === null || !signals.includes('events')) return null;
  return { endpoint, headers, serviceName, resource };
}

function kafkaConfig({ tls, caFile, sasl, ...kafka }: ValuesOf<typeof KAFKA>, problems: string[]) {
  if (kafka.brokers.length === 0) return null;
  const { mechanism, username, password } = sasl;
  if (mechanism !== null && (username === null || password === null)) {
    const missing = username === null ? 'SERVICE_EVENT_KAFKA_USERNAME' : 'SERVICE_EVENT_KAFKA_PASSWORD';
    problems.push(
      `${missing}: SERVICE_EVENT_KAFKA_SASL_MECHANISM needs a name and a password; for example ${missing}=text`,
    );
  }
  if (caFile !== null && !tls) {
    problems.push(
      'SERVICE_EVENT_KAFKA_TLS: SERVICE_EVENT_KAFKA_CA_FILE is of no use without it; for example SERVICE_EVENT_KAFKA_TLS=true',
    );
  }
  return {
    ...kafka,
    tls: tls ? { caFile } : null,
    sasl:
      mechanism === null || username === null || password === null ? null : { mechanism, username, password },
  };
}

function httpConfig({ url, token, gzip, headers, ...http }: ValuesOf<typeof HTTP>, problems: string[]) {
  if (url === null) return null;
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (token !== null && names.includes('authorization')) {
    problems.push(
      'SERVICE_EVENT_HTTP_TOKEN: SERVICE_EVENT_HTTP_HEADERS has the header authorization too; for example SERVICE_EVENT_HTTP_TOKEN=',
    );
  }
  if (http.mode !== 'batch' && http.format !== 'cloudevents') {
    problems.push(
      'SERVICE_EVENT_HTTP_MODE: only CloudEvents have modes; for example SERVICE_EVENT_HTTP_MODE=batch',
    );
  }
  if (http.caFile !== null && !url.startsWith('https:')) {
    problems.push(
      'SERVICE_EVENT_HTTP_URL: SERVICE_EVENT_HTTP_CA_FILE is of no use without TLS; for example SERVICE_EVENT_HTTP_URL=https://collector.example/logs',
    );
  }
  return {
    ...http,
    url,
    // What decision logs of OPA are, so that their receivers expect it.
    gzip: gzip ?? http.format === 'opa',
    headers: { ...headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
  };
}

function parquetConfig({ place, s3, ...files }: ValuesOf<typeof PARQUET>, problems: string[]) {
  if (place === null) return null;
  return {
    ...files,
    place: place.startsWith('s3://')
      ? { kind: 's3' as const, ...s3Config(place, s3, problems) }
      : { kind: 'folder' as const, path: resolve(place) },
  };
}

function s3Config(address: string, s3: ValuesOf<typeof PARQUET>['s3'], problems: string[]): S3Options {
  const { accessKeyId, secretAccessKey, region } = s3;
  if (accessKeyId === null || secretAccessKey === null) {
    const missing =
      accessKeyId === null ? 'SERVICE_EVENT_S3_ACCESS_KEY_ID' : 'SERVICE_EVENT_S3_SECRET_ACCESS_KEY';
    problems.push(`${missing}: a bucket in SERVICE_EVENT_PARQUET needs it; for example ${missing}=text`);
  }
  const [bucket = '', ...rest] = address.slice('s3://'.length).split('/');
  const prefix = rest.filter((part) => part !== '').join('/');
  return {
    ...s3,
    bucket,
    /** Beginning of all keys: empty, or with a slash at its end. */
    prefix: prefix === '' ? '' : `${prefix}/`,
    /** Without a slash at its end. */
    endpoint: (s3.endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/$/, ''),
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
  };
}
