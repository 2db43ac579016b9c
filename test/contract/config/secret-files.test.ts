import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configurationTable, helpText } from '../../../src/app/wiring/cli.js';
import { type Config, readConfig } from '../../../src/contract/config/config.js';
import { fileVariableOf, secretNames } from '../../../src/contract/config/secret-files.js';
import { problemsOf } from './environments.support.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'secrets-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(content: string | Buffer, name = 'secret'): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** Each secret variable: where its value is found, and a text with its value. */
const SECRETS: Record<string, readonly [(config: Config) => unknown, string, unknown]> = {
  SERVICE_API_KEYS: [(config) => config.auth.keys, 'one, two', ['one', 'two']],
  SERVICE_ADMIN_API_KEYS: [(config) => config.auth.adminKeys, 'root', ['root']],
  SERVICE_OPERATOR_API_KEYS: [(config) => config.auth.operatorKeys, 'boss', ['boss']],
  SERVICE_SESSION_SECRET: [(config) => config.auth.sessionSecret, 'signs', 'signs'],
  SERVICE_OIDC_CLIENT_SECRET: [(config) => config.auth.oidc?.login?.clientSecret, 'client', 'client'],
  SERVICE_RUNTIME_TOKEN_SECRETS: [
    (config) => config.auth.runtime.secrets,
    `${'n'.repeat(32)},${'o'.repeat(32)}`,
    ['n'.repeat(32), 'o'.repeat(32)],
  ],
  SERVICE_AUTH_UPSTREAM_TOKEN: [(config) => config.auth.upstream?.token, 'of-the-service', 'of-the-service'],
  VENDOR_API_KEY: [(config) => config.evaluators.vendorApiKey, 'v-key', 'v-key'],
  SERVICE_MEMORY_STORE: [(c) => c.memory.store, 'redis://u:p%40s@h:6379/0', 'redis://u:p%40s@h:6379/0'],
  SERVICE_SMTP_PASSWORD: [(config) => config.notifications.smtp?.login?.pass, 'mails', 'mails'],
  SERVICE_APPROVALS_KEY: [
    (config) => config.approvals.key,
    'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
    'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
  ],
  SERVICE_SAMPLE_KEY: [
    (config) => config.samples.key,
    'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
    'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
  ],
  SERVICE_EVENT_STORE: [(c) => c.observability.store?.password, 'clickhouse://u:p%40s@h/d', 'p@s'],
  SERVICE_EVENT_KAFKA_PASSWORD: [(config) => config.eventSinks.kafka?.sasl?.password, 'k-pass', 'k-pass'],
  SERVICE_EVENT_HTTP_TOKEN: [
    (config) => config.eventSinks.http?.headers.authorization,
    'h-token',
    'Bearer h-token',
  ],
  SERVICE_EVENT_HTTP_HEADERS: [
    (config) => config.eventSinks.http?.headers,
    'x-key=a%20key',
    { 'x-key': 'a key' },
  ],
  SERVICE_EVENT_S3_SECRET_ACCESS_KEY: [(config) => s3Of(config)?.secretAccessKey, 's3-key', 's3-key'],
  SERVICE_EVENT_S3_SESSION_TOKEN: [(config) => s3Of(config)?.sessionToken, 's3-token', 's3-token'],
  SERVICE_OTLP_HEADERS: [
    (config) => config.telemetry.headers,
    'authorization=Bearer%20t',
    { authorization: 'Bearer t' },
  ],
  SERVICE_MIGRATE_DB_URL: [(config) => config.migration.url, 'postgresql://o:p@h/a', 'postgresql://o:p@h/a'],
  SERVICE_DB_URL: [(config) => config.databaseUrl, 'postgresql://u:p@h/a', 'postgresql://u:p@h/a'],
  DATABASE_URL: [(config) => config.databaseUrl, 'postgresql://u:p@h/b', 'postgresql://u:p@h/b'],
  DB_URL: [(config) => config.databaseUrl, 'file:./c.db', 'file:./c.db'],
  SERVICE_DB_PASSWORD: [(config) => config.databaseUrl, 'p@s', 'postgresql://postgres:p%40s@h:5432/postgres'],
  DB_PASSWORD: [(config) => config.databaseUrl, 'p:s', 'postgresql://postgres:p%3As@h:5432/postgres'],
};
const KAFKA = {
  SERVICE_EVENT_KAFKA_BROKERS: 'kafka-1:9092',
  SERVICE_EVENT_KAFKA_SASL_MECHANISM: 'plain',
  SERVICE_EVENT_KAFKA_USERNAME: 'writer',
};
const HTTP = { SERVICE_EVENT_HTTP_URL: 'https://collector.example/logs' };
const S3 = { SERVICE_EVENT_PARQUET: 's3://audit-bucket', SERVICE_EVENT_S3_ACCESS_KEY_ID: 'id' };
/** Settings that a secret needs beside it. */
const OTHERS: Record<string, Record<string, string>> = {
  SERVICE_API_KEYS: { SERVICE_API_KEY_ENABLED: 'false' },
  SERVICE_ADMIN_API_KEYS: { SERVICE_API_KEY_ENABLED: 'false' },
  SERVICE_OPERATOR_API_KEYS: { SERVICE_API_KEY_ENABLED: 'false' },
  SERVICE_OIDC_CLIENT_SECRET: {
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_OIDC_ISSUER: 'https://login.example',
    SERVICE_OIDC_AUDIENCE: 'controls',
    SERVICE_OIDC_REGULAR_ROLES: '*',
    SERVICE_OIDC_CLIENT_ID: 'dashboard',
  },
  SERVICE_RUNTIME_TOKEN_SECRETS: { SERVICE_API_KEY_ENABLED: 'true', SERVICE_KEYS_FILE: 'keys.json' },
  SERVICE_AUTH_UPSTREAM_TOKEN: {
    SERVICE_AUTH_MODE: 'http_upstream',
    SERVICE_AUTH_UPSTREAM_URL: 'https://auth.example/authorize',
  },
  SERVICE_DB_PASSWORD: { SERVICE_DB_HOST: 'h' },
  SERVICE_SMTP_PASSWORD: {
    SERVICE_SMTP_HOST: 'h',
    SERVICE_SMTP_USERNAME: 'u',
    SERVICE_SMTP_FROM: 'a@b.example',
  },
  DB_PASSWORD: { SERVICE_DB_HOST: 'h' },
  SERVICE_MIGRATE_DB_URL: { DATABASE_URL: 'postgresql://u:p@h/a' },
  SERVICE_EVENT_KAFKA_PASSWORD: KAFKA,
  SERVICE_EVENT_HTTP_TOKEN: HTTP,
  SERVICE_EVENT_HTTP_HEADERS: HTTP,
  SERVICE_EVENT_S3_SECRET_ACCESS_KEY: S3,
  SERVICE_EVENT_S3_SESSION_TOKEN: { ...S3, SERVICE_EVENT_S3_SECRET_ACCESS_KEY: 'key' },
};

function s3Of({ eventSinks: { parquet } }: Config) {
  return parquet?.place.kind === 's3' ? parquet.place : undefined;
}

it('every secret has a variable for a file', () => {
  expect(secretNames().sort()).toEqual(Object.keys(SECRETS).sort());
});

describe.each(Object.entries(SECRETS))('the file of %s', (name, [value, text, read]) => {
  const variable = fileVariableOf(name);
  const others = OTHERS[name] ?? {};

  it.each(['', '\n', '\r\n', '\n\n'])('is read without the line breaks at its end: %j', (end) => {
    const config = readConfig({ ...others, [variable]: fileWith(`${text}${end}`) });
    expect(value(config)).toEqual(read);
    expect(config.unknownVariables).toEqual([]);
    expect(config.evaluators.environment).toEqual({});
  });
  it('must not be named when the variable is set, too, unless that is blank', () => {
    const environment = { ...others, [variable]: fileWith(text) };
    expect(problemsOf({ ...environment, [name]: text })).toEqual([
      expect.stringContaining(`${variable}: ${name} is set too`),
    ]);
    expect(value(readConfig({ ...environment, [name]: ' ' }))).toEqual(read);
  });
  it('appears in the help and, for variables of the table, there', () => {
    expect(helpText()).toContain(variable);
    if (!name.includes('DB') && name !== 'DATABASE_URL') expect(configurationTable()).toContain(variable);
  });
});

describe('the file of a secret', () => {
  const variable = 'SERVICE_API_KEYS_FILE';
  const off = { SERVICE_API_KEY_ENABLED: 'false' };
  const problemWith = (file: string) => problemsOf({ ...off, [variable]: file }).join('\n');

  it('may be a link to a link, as mounted secrets are', () => {
    mkdirSync(path.join(folder, '..2026'));
    writeFileSync(path.join(folder, '..2026', 'key'), 'mounted\n');
    symlinkSync('..2026', path.join(folder, '..data'));
    symlinkSync('..data/key', path.join(folder, 'mounted'));
    expect(readConfig({ ...off, [variable]: path.join(folder, 'mounted') }).auth.keys).toEqual(['mounted']);
  });
  it('stops the start if it cannot be read', () => {
    expect(problemWith(path.join(folder, 'none'))).toMatch(
      /SERVICE_API_KEYS_FILE: the file .*none cannot be/,
    );
    expect(problemWith(folder)).toContain('is not a regular file');
  });
  it('is not waited for if it is a pipe', () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(problemWith(pipe)).toContain('is not a regular file');
  });
  it.each([
    ['', 'is empty'],
    [' \n', 'is empty'],
    ['planted-s3cret\nplanted-s3cret', 'has more than one line'],
    ['planted-s3cret\0', 'has more than one line'],
    [Buffer.from([0xff, 0xfe, 0x41]), 'is not text in UTF-8'],
    [Buffer.alloc(1024 * 1024 + 1, 'planted-s3cret'), 'has more than'],
  ])('is refused with its name, never its content: %#', (content, problem) => {
    const message = problemWith(fileWith(content));
    expect(message).toContain(problem);
    expect(message).toContain(variable);
    expect(message).not.toContain('planted-s3cret');
  });
});
