import { resolve } from 'node:path';
import type { KafkaOptions } from '../../packages/kafka-producer/src/index.js';
import type { FileLimits } from '../../packages/parquet-log/src/index.js';
import type { S3Options } from '../../packages/s3-files/src/index.js';
import type { SettingValues } from './config-variables.js';
import type { NamedValues } from './telemetry-settings.js';

/** Destinations outside of the database that every stored event is copied to; null for none. */
export interface SinksConfig {
  readonly kafka: KafkaConfig | null;
  readonly parquet: ParquetConfig | null;
  readonly otlp: OtlpSinkConfig | null;
}

/** A receiver of OpenTelemetry, which gets events as log records. */
export interface OtlpSinkConfig {
  /** Without a slash at the end. */
  readonly endpoint: string;
  /** May contain secrets. */
  readonly headers: NamedValues;
  readonly serviceName: string;
  readonly resource: NamedValues;
}

export interface KafkaConfig extends KafkaOptions {
  readonly from: 'oldest' | 'now';
}

export interface ParquetConfig extends FileLimits {
  readonly place: { readonly kind: 'folder'; readonly path: string } | ({ readonly kind: 's3' } & S3Options);
  readonly from: 'oldest' | 'now';
}

/** The sinks as configured. Adds to `problems` what makes them unusable. */
export function sinksConfig(values: SettingValues, problems: string[]): SinksConfig {
  const sinks = {
    kafka: kafkaConfig(values, problems),
    parquet: parquetConfig(values, problems),
    otlp: otlpConfig(values),
  };
  if (!values.observabilityEnabled && Object.values(sinks).some((sink) => sink !== null)) {
    problems.push(
      'SERVICE_OBSERVABILITY_ENABLED: SERVICE_EVENT_KAFKA_BROKERS, SERVICE_EVENT_PARQUET and events over OTLP need the event store; for example SERVICE_OBSERVABILITY_ENABLED=true',
    );
  }
  return sinks;
}

/** The address without a slash at its end, as paths follow it. */
export function otlpEndpoint({ otlpEndpoint: given }: Pick<SettingValues, 'otlpEndpoint'>): string | null {
  return given?.replace(/\/+$/, '') ?? null;
}

function otlpConfig(values: SettingValues): OtlpSinkConfig | null {
  const endpoint = otlpEndpoint(values);
  if (endpoint === null || !values.otlpSignals.includes('events')) return null;
  const { otlpHeaders: headers, otlpServiceName: serviceName, otlpResource: resource } = values;
  return { endpoint, headers, serviceName, resource };
}

function kafkaConfig(values: SettingValues, problems: string[]): KafkaConfig | null {
  if (values.kafkaBrokers.length === 0) return null;
  const { kafkaSaslMechanism: mechanism, kafkaUsername: username, kafkaPassword: password } = values;
  if (mechanism !== null && (username === null || password === null)) {
    const missing = username === null ? 'SERVICE_EVENT_KAFKA_USERNAME' : 'SERVICE_EVENT_KAFKA_PASSWORD';
    problems.push(
      `${missing}: SERVICE_EVENT_KAFKA_SASL_MECHANISM needs a name and a password; for example ${missing}=text`,
    );
  }
  if (values.kafkaCaFile !== null && !values.kafkaTls) {
    problems.push(
      'SERVICE_EVENT_KAFKA_TLS: SERVICE_EVENT_KAFKA_CA_FILE is of no use without it; for example SERVICE_EVENT_KAFKA_TLS=true',
    );
  }
  return {
    brokers: values.kafkaBrokers,
    topic: values.kafkaTopic,
    clientId: values.kafkaClientId,
    tls: values.kafkaTls ? { caFile: values.kafkaCaFile } : null,
    sasl:
      mechanism === null || username === null || password === null
        ? null
        : { mechanism: SASL_NAMES[mechanism], username, password },
    from: values.kafkaFrom,
  };
}

const SASL_NAMES = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
} as const;

function parquetConfig(values: SettingValues, problems: string[]): ParquetConfig | null {
  if (values.parquet === null) return null;
  return {
    place: values.parquet.startsWith('s3://')
      ? { kind: 's3', ...s3Config(values, values.parquet, problems) }
      : { kind: 'folder', path: resolve(values.parquet) },
    from: values.parquetFrom,
    intervalMs: values.parquetIntervalSeconds * 1000,
    maxRows: values.parquetMaxRows,
    maxBytes: values.parquetMaxBytes,
  };
}

function s3Config(values: SettingValues, address: string, problems: string[]): S3Options {
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey, s3Region: region } = values;
  if (accessKeyId === null || secretAccessKey === null) {
    const missing =
      accessKeyId === null ? 'SERVICE_EVENT_S3_ACCESS_KEY_ID' : 'SERVICE_EVENT_S3_SECRET_ACCESS_KEY';
    problems.push(`${missing}: a bucket in SERVICE_EVENT_PARQUET needs it; for example ${missing}=text`);
  }
  const [bucket = '', ...rest] = address.slice('s3://'.length).split('/');
  const prefix = rest.filter((part) => part !== '').join('/');
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint: (values.s3Endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/$/, ''),
    region,
    pathStyle: values.s3PathStyle,
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
    sessionToken: values.s3SessionToken,
  };
}
