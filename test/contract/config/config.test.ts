import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { helpText } from '../../../src/app/wiring/cli.js';
import { ConfigError, loadEnvironment, readConfig } from '../../../src/contract/config/config.js';
import { SETTINGS } from '../../../src/contract/config/settings.js';
import {
  HTTP,
  KAFKA,
  KEY,
  KEYS_ON,
  OIDC,
  OIDC_LOGIN,
  PARQUET,
  problemsOf,
  S3,
  SMTP,
  SWITCH,
  TOKEN_SECRET,
  UPSTREAM,
} from './environments.support.js';

describe('the configuration as a whole', () => {
  it('is frozen down to its lists', () => {
    const config = readConfig({ SERVICE_API_KEYS: 'one', ...SWITCH });
    const parts = [
      config,
      config.auth,
      config.auth.keys,
      config.limits,
      config.cors,
      config.unknownVariables,
    ];
    for (const part of parts) expect(Object.isFrozen(part)).toBe(true);
  });
  it('reports every problem at once', () => {
    expect(problemsOf({ SERVICE_PORT: 'x', SERVICE_DEBUG: 'x', DATABASE_URL: 'mysql://h/d' })).toHaveLength(
      3,
    );
  });
  it('needs both TLS files or none', () => {
    expect(problemsOf({ SERVICE_TLS_CERT_FILE: 'c.pem' })).toEqual([
      expect.stringContaining('SERVICE_TLS_KEY_FILE:'),
    ]);
    expect(problemsOf({ SERVICE_TLS_KEY_FILE: 'k.pem' })).toEqual([
      expect.stringContaining('SERVICE_TLS_CERT_FILE:'),
    ]);
    expect(readConfig({ SERVICE_TLS_CERT_FILE: 'c.pem', SERVICE_TLS_KEY_FILE: 'k.pem' }).tls).toEqual({
      certFile: 'c.pem',
      keyFile: 'k.pem',
      clients: null,
    });
  });
  it('needs TLS for client certificates, and authorities to require them', () => {
    expect(problemsOf({ SERVICE_TLS_CLIENT_CA_FILE: 'c.pem' })).toEqual([
      expect.stringContaining('SERVICE_TLS_CLIENT_CA_FILE:'),
    ]);
    expect(problemsOf({ SERVICE_TLS_CLIENT_CERTIFICATES: 'required' })).toEqual([
      expect.stringContaining('SERVICE_TLS_CLIENT_CERTIFICATES:'),
    ]);
  });
  it.each([
    ['[1]', 'entry 1: must be an object'],
    ['[{"audience":"x","regular_roles":"*"}]', 'entry 1: issuer must be'],
    ['[{"issuer":"http://a.example","audience":"x","regular_roles":"*"}]', 'entry 1: issuer must be'],
    ['[{"issuer":"https://a.example","regular_roles":"*"}]', 'entry 1: audience must be'],
    ['[{"issuer":"https://a.example","audience":"x"}]', 'entry 1: no token has a role'],
    ['[{"issuer":"https://a.example","audience":"x","role_map":{"t":"boss"}}]', 'entry 1: role_map must be'],
    [
      '[{"issuer":"https://a.example","audience":"x","regular_roles":"*","other":1}]',
      'unknown member "other"',
    ],
    ['[{"issuer":"https://a.example","audience":"x","regular_roles":7}]', 'entry 1: regular_roles must be'],
    ['[{"issuer":"https://login.example","audience":"x","regular_roles":"*"}]', 'is given twice'],
  ])('tells which of the further issuers is wrong: %s', (text, problem) => {
    const problems = problemsOf({ ...OIDC, SERVICE_OIDC_ISSUERS: text });
    expect(problems).toEqual([expect.stringContaining('SERVICE_OIDC_ISSUERS: ')]);
    expect(problems[0]).toContain(problem);
  });
  it('needs keys or an issuer, and for tokens all that decides about them', () => {
    expect(problemsOf(OIDC_LOGIN)).toEqual([]);
    expect(readConfig(OIDC_LOGIN).auth.oidc).toEqual({
      issuer: 'https://login.example',
      audience: 'controls',
      rights: {
        rolesClaim: 'roles',
        adminRoles: ['chief'],
        regularRoles: [],
        roleMap: [],
        namespaceClaim: null,
        agentsClaim: null,
        nameClaim: 'sub',
      },
      clockToleranceMs: 30_000,
      login: {
        clientId: 'dashboard',
        clientSecret: null,
        scopes: ['openid', 'profile'],
        name: 'login.example',
        redirectUrl: null,
      },
    });
    for (const name of Object.keys(OIDC).filter((one) => one !== 'SERVICE_API_KEY_ENABLED')) {
      expect(problemsOf({ ...OIDC, [name]: '' })).toEqual([expect.stringContaining(`${name}:`)]);
    }
    expect(problemsOf({ ...OIDC, SERVICE_API_KEY_ENABLED: 'false' })).toEqual([
      expect.stringContaining('SERVICE_OIDC_ISSUER:'),
    ]);
    expect(problemsOf({ ...OIDC, SERVICE_OIDC_CLIENT_SECRET: 's' })).toEqual([
      expect.stringContaining('SERVICE_OIDC_CLIENT_ID:'),
    ]);
  });
  it.each([
    [{ ...KEY, SERVICE_AUTH_MODE: 'none', SERVICE_API_KEY_ENABLED: 'true' }, /SERVICE_AUTH_MODE: it is none/],
    [{ ...KEYS_ON, SERVICE_API_KEY_ENABLED: 'false' }, /SERVICE_AUTH_MODE: it is api_key/],
    [{ ...UPSTREAM, SERVICE_API_KEY_ENABLED: 'false' }, /SERVICE_AUTH_MODE: it is http_upstream/],
    [{ ...UPSTREAM, SERVICE_AUTH_UPSTREAM_URL: '' }, /SERVICE_AUTH_UPSTREAM_URL: it is missing/],
    [{ ...UPSTREAM, SERVICE_AUTH_MODE: 'none' }, /SERVICE_AUTH_UPSTREAM_URL: it has no effect/],
    [{ ...OIDC, ...UPSTREAM }, /SERVICE_OIDC_ISSUER: it has no effect/],
    [{ ...UPSTREAM, SERVICE_RUNTIME_AUTH_MODE: 'api_key' }, /SERVICE_RUNTIME_AUTH_MODE: keys are not known/],
    [
      { ...KEYS_ON, SERVICE_RUNTIME_AUTH_MODE: 'jwt' },
      /SERVICE_RUNTIME_AUTH_MODE: jwt needs SERVICE_RUNTIME_/,
    ],
    [
      { ...KEYS_ON, SERVICE_RUNTIME_AUTH_MODE: 'both' },
      /SERVICE_RUNTIME_AUTH_MODE: both needs SERVICE_RUNTIME_/,
    ],
    [{ SERVICE_RUNTIME_AUTH_MODE: 'api_key' }, /SERVICE_RUNTIME_AUTH_MODE: api_key needs authentication/],
    [
      { SERVICE_RUNTIME_TOKEN_SECRETS: TOKEN_SECRET },
      /SERVICE_RUNTIME_TOKEN_SECRETS: it needs authentication/,
    ],
    [{ ...KEYS_ON, SERVICE_RUNTIME_TOKEN_SECRETS: TOKEN_SECRET.slice(1) }, /must have at least 32 bytes/],
    [{ ...KEYS_ON, SERVICE_RUNTIME_TOKEN_SECRETS: `${TOKEN_SECRET},short` }, /must have at least 32 bytes/],
    [{ ...KEYS_ON, SERVICE_RUNTIME_TOKEN_SECRETS: Array(3).fill(TOKEN_SECRET).join() }, /it has 3 secrets/],
    [{ SERVICE_AUTH_MODE: 'api_key' }, /SERVICE_API_KEY_ENABLED: it is on but no key is configured/],
  ])('refuses modes of authentication that contradict each other: %j', (environment, problem) => {
    expect(problemsOf(environment)).toEqual([expect.stringMatching(problem)]);
  });
  it('never repeats a secret of tokens', () => {
    const secrets = `${TOKEN_SECRET},short-one,third`;
    expect(problemsOf({ ...KEYS_ON, SERVICE_RUNTIME_TOKEN_SECRETS: secrets }).join()).not.toMatch(
      /short-one|sss/,
    );
  });
  it('takes the mode of authentication in place of the switch', () => {
    expect(readConfig(KEYS_ON).auth).toMatchObject({ enabled: true, mode: 'api_key' });
    expect(readConfig({ ...KEY, SERVICE_AUTH_MODE: 'none' }).auth).toMatchObject({
      enabled: false,
      mode: 'none',
    });
    expect(readConfig({ ...KEY, SERVICE_API_KEY_ENABLED: 'true' }).auth).toMatchObject({
      enabled: true,
      mode: 'api_key',
    });
    expect(readConfig(UPSTREAM).auth).toMatchObject({ enabled: true, mode: 'http_upstream' });
  });
  it('takes only tokens for evaluations once there is a secret, unless another mode is set', () => {
    const modeOf = (more: Record<string, string>) => readConfig({ ...KEYS_ON, ...more }).auth.runtime.mode;
    expect(modeOf({})).toBe('auth');
    expect(modeOf({ SERVICE_RUNTIME_TOKEN_SECRETS: TOKEN_SECRET })).toBe('jwt');
    expect(
      modeOf({ SERVICE_RUNTIME_TOKEN_SECRETS: TOKEN_SECRET, SERVICE_RUNTIME_AUTH_MODE: 'api_key' }),
    ).toBe('auth');
  });
  it('takes a keys file for keys', () => {
    expect(problemsOf({ SERVICE_API_KEY_ENABLED: 'true', SERVICE_KEYS_FILE: 'keys.json' })).toEqual([]);
  });
  it.each([{}, { SERVICE_API_KEYS: ' , ' }, { SERVICE_ADMIN_API_KEYS: ',' }])(
    'refuses authentication without a usable key: %j',
    (keys) => {
      const problems = problemsOf({ SERVICE_API_KEY_ENABLED: 'true', ...keys });
      expect(problems).toEqual([expect.stringMatching(/SERVICE_API_KEY_ENABLED: .+SERVICE_ADMIN_API_KEYS=/)]);
    },
  );
  it('refuses an address for migrations beside a SQLite file, without repeating it', () => {
    const read = () => readConfig({ SERVICE_MIGRATE_DB_URL: 'postgresql://owner:secret@db/service' });
    expect(read).toThrow(/SERVICE_MIGRATE_DB_URL: it needs the address of the same PostgreSQL database/);
    expect(read).not.toThrow(/secret/);
  });

  it('has no event sinks unless they are configured, which then have defaults', () => {
    expect(readConfig({}).eventSinks).toEqual({ kafka: null, http: null, parquet: null, otlp: null });
    const otlp = { SERVICE_OTLP_ENDPOINT: 'http://collector:4318/', SERVICE_OTLP_SIGNALS: 'events' };
    expect(readConfig({ ...KAFKA, ...HTTP, ...S3, ...otlp }).eventSinks).toEqual({
      kafka: {
        brokers: ['kafka:9092'],
        topic: 'control-events',
        clientId: 'control-enforcement-service',
        tls: null,
        sasl: null,
        format: 'json',
        from: 'oldest',
      },
      http: {
        url: 'https://collector.example/logs',
        format: 'cloudevents',
        mode: 'batch',
        batch: 100,
        headers: {},
        gzip: false,
        caFile: null,
        from: 'oldest',
      },
      parquet: {
        place: {
          kind: 's3',
          bucket: 'audit-bucket',
          prefix: '',
          endpoint: 'https://s3.us-east-1.amazonaws.com',
          region: 'us-east-1',
          pathStyle: false,
          accessKeyId: 'id',
          secretAccessKey: 'secret',
          sessionToken: null,
        },
        from: 'oldest',
        intervalMs: 3_600_000,
        maxRows: 1_000_000,
        maxBytes: 67_108_864,
      },
      otlp: {
        endpoint: 'http://collector:4318',
        headers: {},
        serviceName: 'control-enforcement',
        resource: {},
      },
    });
  });
  it.each([
    [{ ...KAFKA, SERVICE_EVENT_KAFKA_SASL_MECHANISM: 'plain' }, 'SERVICE_EVENT_KAFKA_USERNAME'],
    [
      { ...KAFKA, SERVICE_EVENT_KAFKA_SASL_MECHANISM: 'plain', SERVICE_EVENT_KAFKA_USERNAME: 'writer' },
      'SERVICE_EVENT_KAFKA_PASSWORD',
    ],
    [{ ...KAFKA, SERVICE_EVENT_KAFKA_CA_FILE: '/tls/ca.pem' }, 'SERVICE_EVENT_KAFKA_TLS'],
    [
      { ...HTTP, SERVICE_EVENT_HTTP_TOKEN: 'a', SERVICE_EVENT_HTTP_HEADERS: 'Authorization=b' },
      'SERVICE_EVENT_HTTP_TOKEN',
    ],
    [
      { SERVICE_EVENT_HTTP_URL: 'http://collector', SERVICE_EVENT_HTTP_CA_FILE: '/tls/ca.pem' },
      'SERVICE_EVENT_HTTP_URL',
    ],
    [
      { ...HTTP, SERVICE_EVENT_HTTP_FORMAT: 'ocsf', SERVICE_EVENT_HTTP_MODE: 'binary' },
      'SERVICE_EVENT_HTTP_MODE',
    ],
    [{ ...HTTP, SERVICE_OBSERVABILITY_ENABLED: 'false' }, 'SERVICE_OBSERVABILITY_ENABLED'],
    [{ SERVICE_SMTP_HOST: 'mail.example' }, 'SERVICE_SMTP_FROM'],
    [{ ...SMTP, SERVICE_SMTP_USERNAME: 'writer' }, 'SERVICE_SMTP_PASSWORD'],
    [{ SERVICE_EVENT_PARQUET: 's3://audit-bucket' }, 'SERVICE_EVENT_S3_ACCESS_KEY_ID'],
    [
      { SERVICE_EVENT_PARQUET: 's3://audit-bucket', SERVICE_EVENT_S3_ACCESS_KEY_ID: 'id' },
      'SERVICE_EVENT_S3_SECRET_ACCESS_KEY',
    ],
    [{ ...PARQUET, SERVICE_OBSERVABILITY_ENABLED: 'false' }, 'SERVICE_OBSERVABILITY_ENABLED'],
    [
      {
        SERVICE_OTLP_ENDPOINT: 'http://collector:4318',
        SERVICE_OTLP_SIGNALS: 'events',
        SERVICE_OBSERVABILITY_ENABLED: 'false',
      },
      'SERVICE_OBSERVABILITY_ENABLED',
    ],
  ])('refuses sinks that cannot work: %j', (environment, missing) => {
    expect(problemsOf(environment)).toEqual([
      expect.stringMatching(`${missing}: .+; for example ${missing}=`),
    ]);
  });
  it('compresses decision logs of OPA, and others if it is told', () => {
    const gzip = (more: Record<string, string>) => readConfig({ ...HTTP, ...more }).eventSinks.http?.gzip;
    expect(gzip({ SERVICE_EVENT_HTTP_FORMAT: 'opa' })).toBe(true);
    expect(gzip({ SERVICE_EVENT_HTTP_FORMAT: 'opa', SERVICE_EVENT_HTTP_GZIP: 'false' })).toBe(false);
    expect(gzip({ SERVICE_EVENT_HTTP_FORMAT: 'ocsf', SERVICE_EVENT_HTTP_GZIP: 'true' })).toBe(true);
  });
  it('refuses a folder for another UI, which it does not serve', () => {
    expect(problemsOf({ SERVICE_UI_DIST_DIR: '/ui' })).toEqual([
      expect.stringContaining('SERVICE_UI_DIST_DIR:'),
    ]);
    expect(problemsOf({ SERVICE_UI_DIST_DIR: ' ' })).toEqual([]);
  });
  it('finds variables with its prefix that it does not know', () => {
    const environment = {
      SERVICE_QUOTA: '1',
      SERVICE_DB_REPLICA: 'x',
      SERVICE_PORT: '1',
      SERVICE_DB_HOST: 'x',
      SERVICE_DB_URL: 'file:x',
      MY_SERVICE_X: '1',
      PATH: '/bin',
    };
    expect(readConfig(environment).unknownVariables).toEqual(['SERVICE_DB_REPLICA', 'SERVICE_QUOTA']);
  });
  it('has as many workers as processors if it is told auto', () => {
    expect(readConfig({ SERVICE_WORKERS: 'Auto' }).workers).toBe(availableParallelism());
  });
  it('takes a folder for events as one below the working directory', () => {
    expect(readConfig({ SERVICE_EVENT_PARQUET: 'events' }).eventSinks.parquet?.place).toEqual({
      kind: 'folder',
      path: path.resolve('events'),
    });
  });
  it('logs more in debug mode, unless a level is set', () => {
    expect(readConfig({ SERVICE_DEBUG: 'true' }).log.level).toBe('debug');
    expect(readConfig({ SERVICE_DEBUG: 'true', SERVICE_LOG_LEVEL: 'error' }).log.level).toBe('error');
  });
  it('never repeats a value, which may be a secret', () => {
    const secret = 'planted-s3cret';
    for (const { names } of SETTINGS) {
      for (const name of names)
        expect(problemsOf({ [name]: `${secret} \u0000{}` }).join()).not.toContain(secret);
    }
  });
});

describe('the database address', () => {
  const urlOf = (environment: Record<string, string>) => readConfig(environment).databaseUrl;
  const SECRET = 'p@ss:w/rd#1';

  it('is a SQLite file unless something else is set', () => {
    expect(urlOf({})).toBe('file:./data/service.db');
    expect(urlOf({ SERVICE_DB_PORT: '5433', SERVICE_DB_DRIVER: 'psycopg' })).toBe('file:./data/service.db');
    expect(urlOf({ DATABASE_URL: ' ' })).toBe('file:./data/service.db');
  });
  it('prefers SERVICE_DB_URL to DATABASE_URL to DB_URL, and a URL to its parts', () => {
    const parts = { SERVICE_DB_HOST: 'host', DB_URL: 'file:c' };
    expect(urlOf(parts)).toBe('file:c');
    expect(urlOf({ ...parts, DATABASE_URL: 'file:b' })).toBe('file:b');
    expect(urlOf({ ...parts, DATABASE_URL: 'file:b', SERVICE_DB_URL: 'file:a' })).toBe('file:a');
  });
  it('is put together from parts, with what they contain escaped', () => {
    const prefixed = {
      SERVICE_DB_HOST: 'db.internal',
      SERVICE_DB_PORT: '5433',
      SERVICE_DB_USER: 'us er',
      SERVICE_DB_PASSWORD: SECRET,
      SERVICE_DB_DATABASE: 'controls',
    };
    const expected = 'postgresql://us%20er:p%40ss%3Aw%2Frd%231@db.internal:5433/controls';
    expect(urlOf(prefixed)).toBe(expected);
    const plain = Object.fromEntries(
      Object.entries(prefixed).map(([name, value]) => [name.replace('SERVICE_', ''), value]),
    );
    expect(urlOf(plain)).toBe(expected);
    expect(urlOf({ ...plain, DB_HOST: 'other', SERVICE_DB_HOST: 'db.internal' })).toBe(expected);
    expect(urlOf({ SERVICE_DB_HOST: 'h' })).toBe('postgresql://postgres@h:5432/postgres');
    expect(urlOf({ SERVICE_DB_DATABASE: 'd' })).toBe('postgresql://postgres@localhost:5432/d');
  });
  it.each(['SERVICE_DB_PORT', 'DB_PORT'])('names the part that is wrong: %s', (name) => {
    for (const port of ['http', '65536', '-1']) {
      expect(problemsOf({ SERVICE_DB_HOST: 'h', [name]: port })).toEqual([
        `  - ${name}: must be a port number; for example ${name}=5432`,
      ]);
    }
  });
  it.each(['mysql://user:PASSWORD@h/d', 'http://user:PASSWORD@h', 'mongodb+srv://u:PASSWORD@h'])(
    'refuses %s without repeating the password',
    (url) => {
      for (const name of ['SERVICE_DB_URL', 'DATABASE_URL', 'DB_URL']) {
        const problems = problemsOf({ [name]: url.replace('PASSWORD', SECRET) });
        expect(problems).toEqual([
          expect.stringContaining(`${name}: only PostgreSQL and SQLite are supported`),
        ]);
        expect(problems.join()).not.toContain(SECRET);
      }
    },
  );
  it('has every variable in the help', () => {
    for (const name of [
      'SERVICE_DB_URL',
      'DATABASE_URL',
      'DB_URL',
      'SERVICE_DB_PASSWORD',
      'SERVICE_DB_DRIVER',
    ]) {
      expect(helpText()).toContain(name);
    }
  });
});

describe('a .env file', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'dotenv-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
  const file = () => path.join(directory, '.env');

  it('adds to the environment and loses against it', async () => {
    await writeFile(file(), '# comment\nSERVICE_PORT=1111\nSERVICE_HOST="10.0.0.1"\n');
    const config = readConfig(loadEnvironment({ SERVICE_PORT: '2222' }, file()));
    expect([config.port, config.host]).toEqual([2222, '10.0.0.1']);
  });
  it('is used where the environment has a blank value', async () => {
    await writeFile(file(), 'SERVICE_PORT=1111\n');
    expect(readConfig(loadEnvironment({ SERVICE_PORT: ' ' }, file())).port).toBe(1111);
  });
  it('loses against a blank value that means something, and can have one itself', async () => {
    await writeFile(file(), 'SERVICE_LAST_KNOWN_GOOD=/from/file\n');
    const from = (environment: Record<string, string>) =>
      readConfig(loadEnvironment(environment, file())).lastKnownGood;
    expect(from({})).toBe('/from/file');
    expect(from({ SERVICE_LAST_KNOWN_GOOD: '' })).toBe('off');
    await writeFile(file(), 'SERVICE_LAST_KNOWN_GOOD=\n');
    expect(from({})).toBe('off');
  });
  it('need not exist', () => {
    expect(loadEnvironment({ SERVICE_PORT: '1' }, file())).toEqual({ SERVICE_PORT: '1' });
  });
  it('stops the start when it exists but cannot be read, because keys could be missing', async () => {
    await mkdir(file());
    expect(() => loadEnvironment({}, file())).toThrow(ConfigError);
  });
});
