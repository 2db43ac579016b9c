import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { S3Options } from '../../packages/s3-files/src/index.js';
import { helpText } from '../../src/app/cli.js';
import { type Config, ConfigError, loadEnvironment, readConfig } from '../../src/config/config.js';
import { SETTINGS, type SettingName } from '../../src/config/settings.js';

/** What a variable does: where its value is found, its default, texts with their values, and texts it refuses. */
interface Case {
  /** Further names. */
  readonly aliases?: readonly string[];
  readonly value: (config: Config) => unknown;
  readonly fallback: unknown;
  readonly accepts: readonly (readonly [string, unknown])[];
  readonly refuses: readonly string[];
  /** What a blank text means; the default unless stated. */
  readonly blank?: unknown;
  /** What else has to be set for the value to be usable. */
  readonly with?: Record<string, string>;
}

const BOOLEAN = {
  accepts: [
    ...['true', '1', 'YES', 'on', 't', 'y'].map((word) => [word, true] as const),
    ...['false', '0', 'No', 'off', 'f', 'n'].map((word) => [word, false] as const),
  ],
  refuses: ['maybe', '2', 'truely'],
};
const KEY = { SERVICE_API_KEYS: 'a-key' };
/** Keys without the switch are refused. */
const SWITCH = { SERVICE_API_KEY_ENABLED: 'false' };

const OIDC_ROLES = {
  SERVICE_API_KEY_ENABLED: 'true',
  SERVICE_OIDC_ISSUER: 'https://login.example',
  SERVICE_OIDC_AUDIENCE: 'controls',
};
const OIDC = { ...OIDC_ROLES, SERVICE_OIDC_ADMIN_ROLES: 'chief' };
const OIDC_LOGIN = { ...OIDC, SERVICE_OIDC_CLIENT_ID: 'dashboard' };

/** Of the least length. */
const TOKEN_SECRET = 's'.repeat(32);
const KEYS_ON = { ...KEY, SERVICE_AUTH_MODE: 'api_key' };
const UPSTREAM = {
  SERVICE_AUTH_MODE: 'http_upstream',
  SERVICE_AUTH_UPSTREAM_URL: 'https://auth.example/authorize',
};

const SMTP = { SERVICE_SMTP_HOST: 'mail.example', SERVICE_SMTP_FROM: 'controls@example.com' };

const KAFKA = { SERVICE_EVENT_KAFKA_BROKERS: 'kafka:9092' };
const HTTP = { SERVICE_EVENT_HTTP_URL: 'https://collector.example/logs' };
const PARQUET = { SERVICE_EVENT_PARQUET: '/var/events' };
const S3_KEY = { SERVICE_EVENT_S3_ACCESS_KEY_ID: 'id', SERVICE_EVENT_S3_SECRET_ACCESS_KEY: 'secret' };
const S3 = { SERVICE_EVENT_PARQUET: 's3://audit-bucket', ...S3_KEY };
const S3_PLACE = {
  kind: 's3',
  bucket: 'audit-bucket',
  prefix: '',
  endpoint: 'https://s3.us-east-1.amazonaws.com',
  region: 'us-east-1',
  pathStyle: false,
  accessKeyId: 'id',
  secretAccessKey: 'secret',
  sessionToken: null,
};

function s3Of({ eventSinks: { parquet } }: Config): S3Options | undefined {
  return parquet?.place.kind === 's3' ? parquet.place : undefined;
}

const CASES: Record<SettingName, Case> = {
  SERVICE_HOST: {
    aliases: ['HOST'],
    value: (config) => config.host,
    fallback: '0.0.0.0',
    accepts: [['127.0.0.1', '127.0.0.1']],
    refuses: [],
  },
  SERVICE_PORT: {
    aliases: ['PORT'],
    value: (config) => config.port,
    fallback: 8000,
    accepts: [
      ['0', 0],
      [' 65535 ', 65_535],
    ],
    refuses: ['65536', '-1', '80.5', 'http', '0x50'],
  },
  SERVICE_DEBUG: {
    aliases: ['DEBUG'],
    value: (config) => config.debug,
    fallback: false,
    ...BOOLEAN,
  },
  SERVICE_UI_ENABLED: {
    value: (config) => config.uiEnabled,
    fallback: true,
    ...BOOLEAN,
  },
  SERVICE_TLS_CERT_FILE: {
    value: (config) => config.tls?.certFile ?? null,
    fallback: null,
    accepts: [['/tls/cert.pem', '/tls/cert.pem']],
    refuses: [],
    with: { SERVICE_TLS_KEY_FILE: '/tls/key.pem' },
  },
  SERVICE_TLS_KEY_FILE: {
    value: (config) => config.tls?.keyFile ?? null,
    fallback: null,
    accepts: [['/tls/key.pem', '/tls/key.pem']],
    refuses: [],
    with: { SERVICE_TLS_CERT_FILE: '/tls/cert.pem' },
  },
  SERVICE_TLS_CLIENT_CA_FILE: {
    value: (config) => config.tls?.clients?.caFile ?? null,
    fallback: null,
    accepts: [['/tls/clients.pem', '/tls/clients.pem']],
    refuses: [],
    with: { SERVICE_TLS_CERT_FILE: '/tls/cert.pem', SERVICE_TLS_KEY_FILE: '/tls/key.pem' },
  },
  SERVICE_TLS_CLIENT_CERTIFICATES: {
    value: (config) => config.tls?.clients?.isRequired ?? false,
    fallback: false,
    accepts: [
      ['required', true],
      ['Optional', false],
    ],
    refuses: ['true', 'always'],
    with: {
      SERVICE_TLS_CERT_FILE: '/tls/cert.pem',
      SERVICE_TLS_KEY_FILE: '/tls/key.pem',
      SERVICE_TLS_CLIENT_CA_FILE: '/tls/clients.pem',
    },
  },
  SERVICE_KEYS_FILE: {
    value: (config) => config.auth.keysFile,
    fallback: null,
    accepts: [['/run/secrets/keys.json', '/run/secrets/keys.json']],
    refuses: [],
    with: SWITCH,
  },
  SERVICE_API_PREFIX: {
    aliases: ['API_PREFIX'],
    value: (config) => config.apiBase,
    fallback: '/api/v1',
    accepts: [
      ['/control', '/control/v1'],
      ['/a/b', '/a/b/v1'],
    ],
    refuses: ['api', '/api/', '/', '/a b', '/{id}'],
  },
  SERVICE_API_VERSION: {
    aliases: ['API_VERSION'],
    value: (config) => config.apiBase,
    fallback: '/api/v1',
    accepts: [['v2', '/api/v2']],
    refuses: ['/v1', 'v/1', 'v 1'],
  },
  SERVICE_API_KEY_ENABLED: {
    value: (config) => config.auth.enabled,
    fallback: false,
    ...BOOLEAN,
    with: KEY,
  },
  SERVICE_API_KEYS: {
    value: (config) => config.auth.keys,
    fallback: [],
    accepts: [
      ['one', ['one']],
      [' one, ,two ,', ['one', 'two']],
      ['*', ['*']],
    ],
    refuses: [],
    with: SWITCH,
  },
  SERVICE_ADMIN_API_KEYS: {
    value: (config) => config.auth.adminKeys,
    fallback: [],
    accepts: [['root, other', ['root', 'other']]],
    refuses: [],
    with: SWITCH,
  },
  SERVICE_OPERATOR_API_KEYS: {
    value: (config) => config.auth.operatorKeys,
    fallback: [],
    accepts: [['root, other', ['root', 'other']]],
    refuses: [],
    with: SWITCH,
  },
  SERVICE_OIDC_ROLE_MAP: {
    value: (config) => config.auth.oidc?.rights.roleMap ?? [],
    fallback: [],
    accepts: [
      [
        'team=editor, a=b=viewer',
        [
          { from: 'team', to: 'editor' },
          { from: 'a=b', to: 'viewer' },
        ],
      ],
    ],
    refuses: ['team', 'team=boss', '=editor'],
    with: OIDC,
  },
  SERVICE_OIDC_NAMESPACE_CLAIM: {
    value: (config) => config.auth.oidc?.rights.namespaceClaim ?? null,
    fallback: null,
    accepts: [['namespaces', 'namespaces']],
    refuses: [],
    with: OIDC,
  },
  SERVICE_OIDC_ISSUERS: {
    value: (config) => config.auth.oidcIssuers.map(({ issuer }) => issuer),
    fallback: [],
    accepts: [
      ['[{"issuer":"https://a.example","audience":"x","role_map":{"t":"editor"}}]', ['https://a.example']],
      ['[{"issuer":"https://a.example","audience":"x","regular_roles":"*"}]', ['https://a.example']],
    ],
    refuses: ['https://a.example', '{}'],
    with: { SERVICE_API_KEY_ENABLED: 'true', SERVICE_API_KEYS: 'k' },
  },
  SERVICE_VALIDATION_ACCESS: {
    value: (config) => config.auth.validationAccess,
    fallback: 'key',
    accepts: [['Admin', 'admin']],
    refuses: ['none', 'regular'],
  },
  SERVICE_SESSION_SECRET: {
    value: (config) => config.auth.sessionSecret,
    fallback: null,
    accepts: [['a secret', 'a secret']],
    refuses: [],
  },
  SERVICE_SESSION_HOURS: {
    value: (config) => config.auth.sessionSeconds,
    fallback: 2_592_000,
    accepts: [
      ['1', 3_600],
      ['720', 2_592_000],
    ],
    refuses: ['0', '721', '1.5', 'a day'],
  },
  SERVICE_AUTH_MODE: {
    value: (config) => config.auth.mode,
    fallback: 'none',
    // The others need further settings, see below.
    accepts: [['None', 'none']],
    refuses: ['jwt', 'on'],
  },
  SERVICE_API_KEY_HEADERS: {
    value: (config) => config.auth.keyHeaders,
    fallback: [],
    accepts: [
      ['X-SF-Token', ['x-sf-token']],
      ['a, Vendor-API-Key ,,A', ['a', 'vendor-api-key']],
    ],
    refuses: ['a b', 'Cookie', 'content-type', 'grpc-timeout', 'key:'],
  },
  SERVICE_RUNTIME_AUTH_MODE: {
    value: (config) => config.auth.runtime.mode,
    fallback: 'auth',
    accepts: [
      ['none', 'none'],
      ['api_key', 'auth'],
      ['JWT', 'jwt'],
      ['both', 'both'],
    ],
    refuses: ['http_upstream', 'on'],
    with: { ...KEYS_ON, SERVICE_RUNTIME_TOKEN_SECRETS: TOKEN_SECRET },
  },
  SERVICE_RUNTIME_TOKEN_SECRETS: {
    value: (config) => config.auth.runtime.secrets,
    fallback: [],
    accepts: [
      [TOKEN_SECRET, [TOKEN_SECRET]],
      [`${TOKEN_SECRET}, ${TOKEN_SECRET}2`, [TOKEN_SECRET, `${TOKEN_SECRET}2`]],
      ['é'.repeat(16), ['é'.repeat(16)]],
    ],
    refuses: [],
    with: KEYS_ON,
  },
  SERVICE_RUNTIME_TOKEN_TTL_SECONDS: {
    value: (config) => config.auth.runtime.ttlSeconds,
    fallback: 300,
    accepts: [
      ['1', 1],
      ['86400', 86_400],
    ],
    refuses: ['0', '86401', '1.5', '5m'],
  },
  SERVICE_RUNTIME_TOKEN_HEADER: {
    value: (config) => config.auth.runtime.header,
    fallback: 'authorization',
    accepts: [['X-SERVICE-Runtime-Token', 'x-service-runtime-token']],
    refuses: ['two words', 'Cookie', 'te', 'a,b'],
  },
  SERVICE_AUTH_UPSTREAM_URL: {
    value: (config) => config.auth.upstream?.url,
    fallback: undefined,
    accepts: [
      ['https://auth.example/authorize?v=1', 'https://auth.example/authorize?v=1'],
      ['http://auth.internal:8080', 'http://auth.internal:8080'],
    ],
    refuses: ['auth.example', 'ftp://auth.example', 'https://a:b@auth.example', 'https://auth.example/#a'],
    with: { SERVICE_AUTH_MODE: 'http_upstream' },
  },
  SERVICE_AUTH_UPSTREAM_TOKEN: {
    value: (config) => config.auth.upstream?.token ?? null,
    fallback: null,
    accepts: [['a token', 'a token']],
    refuses: [],
    with: UPSTREAM,
  },
  SERVICE_AUTH_UPSTREAM_HEADERS: {
    value: (config) => config.auth.upstream?.headers ?? [],
    fallback: [],
    accepts: [['X-Tenant, x-user', ['x-tenant', 'x-user']]],
    refuses: ['a b', 'host'],
    with: UPSTREAM,
  },
  SERVICE_AUTH_UPSTREAM_CACHE_SECONDS: {
    value: (config) => config.auth.upstream?.cacheMs ?? 5_000,
    fallback: 5_000,
    accepts: [
      ['0', 0],
      ['60', 60_000],
    ],
    refuses: ['61', '-1', '0.5'],
    with: UPSTREAM,
  },
  SERVICE_AUTH_UPSTREAM_TIMEOUT_SECONDS: {
    value: (config) => config.auth.upstream?.timeoutMs ?? 5_000,
    fallback: 5_000,
    accepts: [
      ['0.1', 100],
      ['30', 30_000],
    ],
    refuses: ['0', '31', 'never'],
    with: UPSTREAM,
  },
  SERVICE_VERSION_HEADERS: {
    value: (config) => config.versionHeaders,
    fallback: [],
    accepts: [['X-Other-Server-Version', ['x-other-server-version']]],
    refuses: ['a:b', 'Content-Type'],
  },
  SERVICE_OIDC_ISSUER: {
    value: (config) => config.auth.oidc?.issuer,
    fallback: undefined,
    accepts: [
      ['https://login.example/realms/one', 'https://login.example/realms/one'],
      ['http://localhost:8080/', 'http://localhost:8080/'],
    ],
    refuses: [
      'http://login.example',
      'login.example',
      'https://a:b@login.example',
      'https://login.example?x=1',
    ],
    with: OIDC,
  },
  SERVICE_OIDC_AUDIENCE: {
    value: (config) => config.auth.oidc?.audience,
    fallback: undefined,
    accepts: [['urn:controls', 'urn:controls']],
    refuses: [],
    with: OIDC,
  },
  SERVICE_OIDC_ROLES_CLAIM: {
    value: (config) => config.auth.oidc?.rights.rolesClaim,
    fallback: undefined,
    accepts: [['realm_access.roles', 'realm_access.roles']],
    refuses: [],
    with: OIDC,
  },
  SERVICE_OIDC_ADMIN_ROLES: {
    value: (config) => config.auth.oidc?.rights.adminRoles,
    fallback: undefined,
    accepts: [['chief, boss', ['chief', 'boss']]],
    refuses: [],
    with: OIDC_ROLES,
  },
  SERVICE_OIDC_REGULAR_ROLES: {
    value: (config) => config.auth.oidc?.rights.regularRoles,
    fallback: undefined,
    accepts: [
      ['reader, writer', ['reader', 'writer']],
      ['*', '*'],
    ],
    refuses: [],
    with: OIDC_ROLES,
  },
  SERVICE_OIDC_AGENTS_CLAIM: {
    value: (config) => config.auth.oidc?.rights.agentsClaim,
    fallback: undefined,
    accepts: [['agents', 'agents']],
    refuses: [],
    with: OIDC,
  },
  SERVICE_OIDC_NAME_CLAIM: {
    value: (config) => config.auth.oidc?.rights.nameClaim,
    fallback: undefined,
    accepts: [['email', 'email']],
    refuses: [],
    with: OIDC,
  },
  SERVICE_OIDC_CLOCK_TOLERANCE_SECONDS: {
    value: (config) => config.auth.oidc?.clockToleranceMs,
    fallback: undefined,
    accepts: [
      ['0', 0],
      ['300', 300_000],
    ],
    refuses: ['-1', '301', '1.5'],
    with: OIDC,
  },
  SERVICE_OIDC_CLIENT_ID: {
    value: (config) => config.auth.oidc?.login?.clientId,
    fallback: undefined,
    accepts: [['dashboard', 'dashboard']],
    refuses: [],
    with: OIDC,
  },
  SERVICE_OIDC_CLIENT_SECRET: {
    value: (config) => config.auth.oidc?.login?.clientSecret,
    fallback: undefined,
    accepts: [['a secret', 'a secret']],
    refuses: [],
    with: OIDC_LOGIN,
  },
  SERVICE_OIDC_SCOPES: {
    value: (config) => config.auth.oidc?.login?.scopes,
    fallback: undefined,
    accepts: [['email, roles', ['openid', 'email', 'roles']]],
    refuses: [],
    with: OIDC_LOGIN,
  },
  SERVICE_OIDC_NAME: {
    value: (config) => config.auth.oidc?.login?.name,
    fallback: undefined,
    accepts: [['Example Login', 'Example Login']],
    refuses: [],
    with: OIDC_LOGIN,
  },
  SERVICE_OIDC_REDIRECT_URL: {
    value: (config) => config.auth.oidc?.login?.redirectUrl,
    fallback: undefined,
    accepts: [['https://controls.example/api/oidc/callback', 'https://controls.example/api/oidc/callback']],
    refuses: ['http://controls.example', '/callback'],
    with: OIDC_LOGIN,
  },
  SERVICE_CORS_ORIGINS: {
    aliases: ['CORS_ORIGINS'],
    value: (config) => config.cors.origins,
    fallback: '*',
    accepts: [
      ['*', '*'],
      ['https://a.example, https://b.example', ['https://a.example', 'https://b.example']],
    ],
    refuses: [],
  },
  SERVICE_ALLOW_METHODS: {
    aliases: ['ALLOW_METHODS'],
    value: (config) => config.cors.methods,
    fallback: '*',
    accepts: [['GET,POST', ['GET', 'POST']]],
    refuses: [],
  },
  SERVICE_ALLOW_HEADERS: {
    aliases: ['ALLOW_HEADERS'],
    value: (config) => config.cors.headers,
    fallback: '*',
    accepts: [['x-api-key', ['x-api-key']]],
    refuses: [],
  },
  SERVICE_PROMETHEUS_METRICS_PREFIX: {
    aliases: ['PROMETHEUS_METRICS_PREFIX'],
    value: (config) => config.metricsPrefix,
    fallback: 'control_enforcement_server',
    accepts: [
      ['acme', 'acme'],
      ['acme_', 'acme'],
      ['a:b_1', 'a:b_1'],
    ],
    refuses: ['1st', 'a-b', 'a b'],
  },
  SERVICE_LOG_LEVEL: {
    value: (config) => config.log.level,
    fallback: 'info',
    accepts: [
      ['DEBUG', 'debug'],
      ['info', 'info'],
      ['Warning', 'warn'],
      ['warn', 'warn'],
      ['error', 'error'],
      ['CRITICAL', 'fatal'],
      ['fatal', 'fatal'],
    ],
    refuses: ['loud', 'trace', '10'],
  },
  SERVICE_LOG_JSON: {
    value: (config) => config.log.json,
    fallback: false,
    ...BOOLEAN,
  },
  SERVICE_WORKERS: {
    value: (config) => config.workers,
    fallback: 1,
    accepts: [
      ['1', 1],
      ['256', 256],
      ['Auto', availableParallelism()],
    ],
    refuses: ['0', '257', '1.5', '-1', 'all', 'auto2'],
  },
  SERVICE_REST_LANE: {
    value: (config) => config.restLane,
    fallback: true,
    ...BOOLEAN,
  },
  SERVICE_WEB_LANE: {
    value: (config) => config.webLane,
    fallback: true,
    ...BOOLEAN,
  },
  SERVICE_GRPC_LANE: {
    aliases: ['SERVICE_GRPC_HOT_LANE'],
    value: (config) => config.grpcLane,
    fallback: true,
    ...BOOLEAN,
  },
  SERVICE_MAX_STREAMS_PER_CONNECTION: {
    value: (config) => config.limits.streamsPerConnection,
    fallback: 256,
    accepts: [
      ['1', 1],
      ['100000', 100_000],
    ],
    refuses: ['0', '100001', '1.5', 'many'],
  },
  SERVICE_MAX_CALLS_PER_KEY: {
    value: (config) => config.limits.admission.callsPerKey,
    fallback: 10_000,
    accepts: [
      ['0', 0],
      ['1000000', 1_000_000],
    ],
    refuses: ['-1', '1000001', '1.5', 'many'],
  },
  SERVICE_MAX_CONNECTION_BUFFER_BYTES: {
    value: (config) => config.limits.admission.connectionBytes,
    fallback: 64 * 1024 * 1024,
    accepts: [
      // Two of the largest messages always fit.
      ['65536', 16 * 1024 * 1024],
      ['4294967296', 4_294_967_296],
    ],
    refuses: ['65535', '4294967297', '8MB'],
  },
  SERVICE_MAX_BUFFER_BYTES: {
    value: (config) => config.limits.admission.totalBytes,
    fallback: 128 * 1024 * 1024,
    accepts: [
      ['65536', 16 * 1024 * 1024],
      ['4294967296', 4_294_967_296],
    ],
    refuses: ['65535', '1099511627777', '8MB'],
  },
  SERVICE_MAX_ADDRESS_BUFFER_BYTES: {
    value: (config) => config.limits.admission.addressBytes,
    fallback: 96 * 1024 * 1024,
    accepts: [['65536', 16 * 1024 * 1024]],
    refuses: ['65535', '8MB'],
  },
  SERVICE_MAX_KEY_BUFFER_BYTES: {
    value: (config) => config.limits.admission.keyBytes,
    fallback: 96 * 1024 * 1024,
    accepts: [['65536', 16 * 1024 * 1024]],
    refuses: ['65535', '8MB'],
  },
  SERVICE_MAX_CONNECTIONS: {
    value: (config) => config.limits.admission.connections,
    fallback: 10_000,
    accepts: [['1', 1]],
    refuses: ['0', 'many'],
  },
  SERVICE_MAX_CONNECTIONS_PER_ADDRESS: {
    value: (config) => config.limits.admission.connectionsPerAddress,
    fallback: 5_000,
    accepts: [['1', 1]],
    refuses: ['0', 'many'],
  },
  SERVICE_MAX_PUBLIC_CALLS: {
    value: (config) => config.limits.admission.publicCalls,
    fallback: 1_024,
    accepts: [['1', 1]],
    refuses: ['0', 'many'],
  },
  SERVICE_MAX_PUBLIC_CALLS_PER_ADDRESS: {
    value: (config) => config.limits.admission.publicCallsPerAddress,
    fallback: 256,
    accepts: [['1', 1]],
    refuses: ['0', 'many'],
  },
  SERVICE_MAX_PUBLIC_CALLS_PER_CONNECTION: {
    value: (config) => config.limits.admission.publicCallsPerConnection,
    fallback: 32,
    accepts: [['1', 1]],
    refuses: ['0', 'many'],
  },
  SERVICE_PUBLIC_CALLS_PER_SECOND: {
    value: (config) => config.limits.admission.publicCallsPerSecond,
    fallback: 4_000,
    accepts: [['1', 1]],
    refuses: ['0', 'many'],
  },
  SERVICE_PUBLIC_CALLS_PER_SECOND_PER_ADDRESS: {
    value: (config) => config.limits.admission.publicCallsPerSecondPerAddress,
    fallback: 1_000,
    accepts: [['1', 1]],
    refuses: ['0', 'many'],
  },
  SERVICE_MAX_CALLS_PER_SECOND_PER_KEY: {
    value: (config) => config.limits.admission.callsPerSecondPerKey,
    fallback: 0,
    accepts: [['5000', 5_000]],
    refuses: ['-1', 'many'],
  },
  SERVICE_TRUST_PROXY: {
    value: (config) => config.trustedProxies,
    fallback: [],
    accepts: [
      ['10.0.0.0/8, loopback', ['10.0.0.0/8', 'loopback']],
      ['::1', ['::1']],
    ],
    refuses: ['10.0.0.0/33', 'everyone', '10.0.0', '::1/129'],
  },
  SERVICE_OPERATIONS_PORT: {
    value: (config) => config.operations,
    fallback: null,
    accepts: [['9000', { host: '0.0.0.0', port: 9_000 }]],
    refuses: ['65536', 'nine'],
  },
  SERVICE_OPERATIONS_HOST: {
    value: (config) => config.operations?.host,
    fallback: undefined,
    accepts: [['127.0.0.1', '127.0.0.1']],
    refuses: [],
    with: { SERVICE_OPERATIONS_PORT: '9000' },
  },
  SERVICE_REFLECTION: {
    value: (config) => config.reflection,
    fallback: 'public',
    accepts: [
      ['off', 'off'],
      ['operations', 'operations'],
    ],
    refuses: ['maybe'],
    with: { SERVICE_OPERATIONS_PORT: '9000' },
  },
  SERVICE_SHED_EVENT_LOOP_DELAY_MS: {
    value: (config) => config.limits.shedDelayMs,
    fallback: 1_000,
    accepts: [
      ['0', 0],
      ['60000', 60_000],
    ],
    refuses: ['-1', '60001', '1s'],
  },
  SERVICE_MAX_BODY_BYTES: {
    value: (config) => config.limits.bodyBytes,
    fallback: 8 * 1024 * 1024,
    accepts: [
      ['1024', 1024],
      ['268435456', 268_435_456],
    ],
    refuses: ['1023', '268435457', '8MB', '1e6'],
  },
  SERVICE_REQUEST_TIMEOUT_SECONDS: {
    value: (config) => config.limits.requestTimeoutMs,
    fallback: 30_000,
    accepts: [
      ['0.1', 100],
      ['3600', 3_600_000],
    ],
    refuses: ['0', '0.09', '3601', '30s', '-1'],
  },
  SERVICE_DRAIN_SECONDS: {
    value: (config) => config.limits.drainMs,
    fallback: 10_000,
    accepts: [
      ['0', 0],
      ['2.5', 2500],
    ],
    refuses: ['3601', '-1', 'soon'],
  },
  SERVICE_MAX_CONNECTION_AGE_SECONDS: {
    value: (config) => config.limits.maxConnectionAgeMs,
    fallback: 1_800_000,
    accepts: [
      ['0', Number.POSITIVE_INFINITY],
      ['0.5', 500],
      ['604800', 604_800_000],
    ],
    refuses: ['604801', '-1', 'old'],
  },
  SERVICE_MAX_CONNECTION_AGE_GRACE_SECONDS: {
    value: (config) => config.limits.maxAgeGraceMs,
    fallback: 30_000,
    accepts: [
      ['0', 0],
      ['2.5', 2500],
    ],
    refuses: ['3601', '-1', 'soon'],
  },
  SERVICE_MAX_STREAM_AGE_SECONDS: {
    value: (config) => config.limits.maxStreamAgeMs,
    fallback: 1_800_000,
    accepts: [
      ['0', Number.POSITIVE_INFINITY],
      ['0.5', 500],
    ],
    refuses: ['604801', '-1', 'old'],
  },
  SERVICE_SNAPSHOT_MAX_AGENTS: {
    value: (config) => config.limits.snapshotAgents,
    fallback: 1_000_000,
    accepts: [['1', 1]],
    refuses: ['0', '10000001', '1.5'],
  },
  SERVICE_PRELOAD_AGENTS: {
    value: (config) => config.limits.preloadAgents,
    fallback: 0,
    accepts: [
      ['0', 0],
      ['1000000', 1_000_000],
    ],
    refuses: ['-1', '1000001', '1.5'],
  },
  SERVICE_SNAPSHOT_MAX_MEMORY_MB: {
    value: (config) => config.limits.snapshotBytes,
    fallback: 512 * 1024 * 1024,
    accepts: [['1', 1024 * 1024]],
    refuses: ['0', '1000001', '1.5'],
  },
  SERVICE_LAST_KNOWN_GOOD: {
    value: (config) => config.lastKnownGood,
    fallback: null,
    accepts: [
      ['/var/lib/service/last-known-good', '/var/lib/service/last-known-good'],
      ['Off', 'off'],
    ],
    refuses: [],
    blank: 'off',
  },
  SERVICE_DATABASE_EXPECTED: {
    value: (config) => config.databaseExpected,
    fallback: 'any',
    accepts: [
      ['existing', 'existing'],
      ['ANY', 'any'],
    ],
    refuses: ['yes', 'new'],
  },
  SERVICE_MIGRATE: {
    value: (config) => config.migration.mode,
    fallback: 'auto',
    accepts: [
      ['check', 'check'],
      ['OFF', 'off'],
    ],
    refuses: ['yes', 'false'],
  },
  SERVICE_MIGRATE_DB_URL: {
    value: (config) => config.migration.url,
    fallback: null,
    accepts: [['postgresql://owner:secret@db/service', 'postgresql://owner:secret@db/service']],
    refuses: ['mysql://owner@db/service', 'file:./service.db'],
    with: { DATABASE_URL: 'postgresql://service:secret@db/service' },
  },
  SERVICE_MIN_REVISION_WAIT_SECONDS: {
    value: (config) => config.limits.minRevisionWaitMs,
    fallback: 2_000,
    accepts: [
      ['0', 0],
      ['0.5', 500],
    ],
    refuses: ['61', '-1', 'soon'],
  },
  SERVICE_MAX_STALENESS_SECONDS: {
    value: (config) => config.limits.maxStalenessMs,
    fallback: null,
    accepts: [['30', 30_000]],
    refuses: ['1', '0', 'off'],
  },
  SERVICE_EVALUATORS: {
    value: (config) => config.evaluators.modules,
    fallback: [],
    accepts: [['./a.js, word-limit,,@acme/tone', ['./a.js', 'word-limit', '@acme/tone']]],
    refuses: [],
  },
  SERVICE_PACKS: {
    value: (config) => config.packs.folders,
    fallback: [],
    accepts: [['./packs, /srv/our-packs', ['./packs', '/srv/our-packs']]],
    refuses: [],
  },
  EVALUATOR_TIMEOUT_SECONDS: {
    value: (config) => config.evaluators.timeoutMs,
    fallback: 30_000,
    accepts: [['0.5', 500]],
    refuses: ['0', '3601', 'never'],
  },
  MAX_CONCURRENT_EVALUATIONS: {
    value: (config) => config.evaluators.workers,
    fallback: 3,
    accepts: [
      ['10', 10],
      ['65', 64],
    ],
    refuses: ['0', '10001', '2.5'],
  },
  EVALUATOR_CACHE_SIZE: {
    value: (config) => config.evaluators.cacheSize,
    fallback: 10_000,
    accepts: [['1', 1]],
    refuses: ['0', '10000001', 'all'],
  },
  VENDOR_API_KEY: {
    value: (config) => config.evaluators.vendorApiKey,
    fallback: null,
    accepts: [['vk', 'vk']],
    refuses: [],
  },
  VENDOR_API_URL: {
    value: (config) => config.evaluators.vendorApiUrl,
    fallback: null,
    accepts: [['https://models.example/x', 'https://models.example/x']],
    refuses: ['models.example', 'ftp://models.example', 'https://a b'],
  },
  SERVICE_ONNX_MODELS: {
    value: (config) => config.evaluators.onnxModels,
    fallback: [],
    accepts: [
      ['a=/m/a', ['a=/m/a']],
      ['a=/m/a, b-2=./b', ['a=/m/a', 'b-2=./b']],
    ],
    refuses: ['a', 'a=', '=/m', 'a b=/m'],
  },
  SERVICE_MEMORY_STORE: {
    value: (config) => config.memory.store,
    fallback: null,
    accepts: [
      ['database', null],
      ['redis://cache:6379/2', 'redis://cache:6379/2'],
      ['rediss://user:secret@cache:6380', 'rediss://user:secret@cache:6380'],
      ['valkey://cache', 'redis://cache'],
      ['VALKEYS://[::1]:80/', 'rediss://[::1]:80/'],
      ['redis://:p%40ss@cache?cluster=true', 'redis://:p%40ss@cache?cluster=true'],
    ],
    refuses: [
      'cache:6379',
      'http://cache',
      'redis://',
      'redis:///1',
      'redis://a b',
      'redis://cache/first',
      'redis://cache/1/2',
      'redis://cache?cluster=yes',
      'redis://cache?tls=true',
      'redis://cache/1?cluster=true',
      'redis://me:%zz@cache',
      'redis://cache#1',
    ],
  },
  SERVICE_MEMORY_VOLATILE: {
    value: (config) => config.memory.volatile,
    fallback: 'refuse',
    accepts: [['accept', 'accept']],
    refuses: ['yes', 'true'],
  },
  SERVICE_MEMORY_WINDOW_HOURS: {
    value: (config) => config.memory.maxWindowMs,
    fallback: 86_400_000,
    accepts: [
      ['0.5', 1_800_000],
      ['168', 604_800_000],
    ],
    refuses: ['0', '8785', 'day'],
  },
  SERVICE_MEMORY_TIMEOUT_SECONDS: {
    value: (config) => config.memory.timeoutMs,
    fallback: 2_000,
    accepts: [['0.5', 500]],
    refuses: ['0', '61'],
  },
  SERVICE_MEMORY_KEYS: {
    value: (config) => config.memory.maxKeys,
    fallback: 1_000_000,
    accepts: [['1000', 1_000]],
    refuses: ['999', '1000000001', 'all'],
  },
  SERVICE_MEMORY_BYTES: {
    value: (config) => config.memory.maxBytes,
    fallback: 1_073_741_824,
    accepts: [['1048576', 1_048_576]],
    refuses: ['1048575', '1GB'],
  },
  SERVICE_PUBLIC_URL: {
    value: (config) => config.publicUrl,
    fallback: null,
    accepts: [
      ['https://controls.example/', 'https://controls.example'],
      ['http://10.0.0.1:8000/controls', 'http://10.0.0.1:8000/controls'],
    ],
    refuses: ['controls.example', 'ftp://controls.example', 'https://controls.example/?a=1', 'https://a@b'],
  },
  SERVICE_NOTIFICATIONS_ALLOW: {
    value: (config) => config.notifications.allowed,
    fallback: [],
    accepts: [['10.0.0.0/8, loopback', ['10.0.0.0/8', 'loopback']]],
    refuses: ['10.0.0.0/33', 'everyone'],
  },
  SERVICE_NOTIFICATIONS_HTTP: {
    value: (config) => config.notifications.http,
    fallback: false,
    ...BOOLEAN,
  },
  SERVICE_NOTIFICATIONS_DESTINATIONS: {
    value: (config) => config.notifications.maxDestinations,
    fallback: 100,
    accepts: [['1', 1]],
    refuses: ['0', '1001'],
  },
  SERVICE_NOTIFICATIONS_QUEUE: {
    value: (config) => config.notifications.maxWaiting,
    fallback: 10_000,
    accepts: [['1', 1]],
    refuses: ['0', '1000001'],
  },
  SERVICE_NOTIFICATIONS_RETENTION_SECONDS: {
    value: (config) => config.notifications.retentionMs,
    fallback: 604_800_000,
    accepts: [['60', 60_000]],
    refuses: ['59', '31536001'],
  },
  SERVICE_NOTIFICATIONS_QUIET_SECONDS: {
    value: (config) => config.notifications.quietMs,
    fallback: 3_600_000,
    accepts: [['1', 1_000]],
    refuses: ['0', '2592001'],
  },
  SERVICE_NOTIFICATIONS_ERROR_SHARE: {
    value: (config) => config.notifications.errorShare,
    fallback: 0.5,
    accepts: [['0.01', 0.01]],
    refuses: ['0', '1.1'],
  },
  SERVICE_NOTIFICATIONS_ERROR_SECONDS: {
    value: (config) => config.notifications.errorWindowMs,
    fallback: 300_000,
    accepts: [['1', 1_000]],
    refuses: ['0', '86401'],
  },
  SERVICE_SMTP_HOST: {
    value: (config) => config.notifications.smtp?.host,
    fallback: undefined,
    accepts: [['mail.example', 'mail.example']],
    refuses: ['mail example', 'smtp://mail'],
    with: { SERVICE_SMTP_FROM: 'controls@example.com' },
  },
  SERVICE_SMTP_PORT: {
    value: (config) => config.notifications.smtp?.port,
    fallback: undefined,
    accepts: [['25', 25]],
    refuses: ['0', '65536'],
    with: SMTP,
  },
  SERVICE_SMTP_TLS: {
    value: (config) => config.notifications.smtp?.tls,
    fallback: undefined,
    accepts: [
      ['TLS', 'tls'],
      ['none', 'none'],
    ],
    refuses: ['ssl'],
    with: SMTP,
  },
  SERVICE_SMTP_USERNAME: {
    value: (config) => config.notifications.smtp?.login?.user,
    fallback: undefined,
    accepts: [['writer', 'writer']],
    refuses: [],
    with: { ...SMTP, SERVICE_SMTP_PASSWORD: 'secret' },
  },
  SERVICE_SMTP_PASSWORD: {
    value: (config) => config.notifications.smtp?.login?.pass,
    fallback: undefined,
    accepts: [['secret', 'secret']],
    refuses: [],
    with: { ...SMTP, SERVICE_SMTP_USERNAME: 'writer' },
  },
  SERVICE_SMTP_FROM: {
    value: (config) => config.notifications.smtp?.from,
    fallback: undefined,
    accepts: [['controls@example.com', 'controls@example.com']],
    refuses: ['controls', 'a@b@c', 'a <a@b>'],
    with: { SERVICE_SMTP_HOST: 'mail.example' },
  },
  SERVICE_APPROVALS_KEY: {
    value: (config) => config.approvals.key,
    fallback: null,
    accepts: [
      ['MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=', 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
      ['MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY', 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
      ['ff'.repeat(32), `${'/'.repeat(42)}8=`],
    ],
    refuses: ['secret', 'ff'.repeat(31), 'MDEyMzQ1'],
  },
  SERVICE_ADAPTERS: {
    value: (config) => config.adapters.on,
    fallback: [],
    accepts: [['authzen, coding-hooks', ['authzen', 'coding-hooks']]],
    refuses: ['authzen,hooks', 'all'],
  },
  SERVICE_ADAPTERS_FILE: {
    value: (config) => config.adapters.file,
    fallback: null,
    accepts: [['/etc/adapters.yaml', '/etc/adapters.yaml']],
    refuses: [],
  },
  SERVICE_ADAPTERS_FAIL_OPEN: {
    value: (config) => config.adapters.failOpen,
    fallback: [],
    accepts: [['litellm', ['litellm']]],
    refuses: ['true'],
  },
  SERVICE_SAMPLE_KEY: {
    value: (config) => config.samples.key,
    fallback: null,
    accepts: [
      ['MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=', 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
      ['MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY', 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
      ['ff'.repeat(32), `${'/'.repeat(42)}8=`],
    ],
    refuses: ['secret', 'ff'.repeat(31), 'MDEyMzQ1'],
  },
  SERVICE_APPROVALS_RETENTION_SECONDS: {
    value: (config) => config.approvals.retentionMs,
    fallback: 604_800_000,
    accepts: [['0', 0]],
    refuses: ['-1', '1.5'],
  },
  SERVICE_APPROVALS_MAX: {
    value: (config) => config.approvals.max,
    fallback: 10_000,
    accepts: [['1', 1]],
    refuses: ['0'],
  },
  SERVICE_APPROVALS_MAX_PER_AGENT: {
    value: (config) => config.approvals.maxPerAgent,
    fallback: 100,
    accepts: [['1', 1]],
    refuses: ['0'],
  },
  SERVICE_APPROVALS_FATIGUE_LIMIT: {
    value: (config) => config.approvals.fatigueLimit,
    fallback: 60,
    accepts: [['1', 1]],
    refuses: ['0'],
  },
  SERVICE_APPROVALS_FATIGUE_SECONDS: {
    value: (config) => config.approvals.fatigueMs,
    fallback: 3_600_000,
    accepts: [['60', 60_000]],
    refuses: ['0'],
  },
  SERVICE_OBSERVABILITY_ENABLED: {
    aliases: ['OBSERVABILITY_ENABLED'],
    value: (config) => config.observability.enabled,
    fallback: true,
    ...BOOLEAN,
  },
  SERVICE_STRICT_DEFINITIONS: {
    value: (config) => config.strictDefinitions,
    fallback: false,
    ...BOOLEAN,
  },
  SERVICE_AGENTS_WITHOUT_CONTROLS: {
    value: (config) => config.agentsWithoutControls,
    fallback: 'warn',
    accepts: [['deny', 'deny']],
    refuses: ['allow', 'off'],
  },
  SERVICE_STEP_SCHEMAS: {
    value: (config) => config.stepSchemas,
    fallback: 'warn',
    accepts: [
      ['off', 'off'],
      ['enforce', 'enforce'],
    ],
    refuses: ['deny', 'on', 'true'],
  },
  SERVICE_DUPLICATE_MEMBERS: {
    value: (config) => config.duplicateMembers,
    fallback: 'refuse',
    accepts: [['last', 'last']],
    refuses: ['first', 'allow'],
  },
  SERVICE_OBSERVABILITY_STDOUT: {
    value: (config) => config.observability.stdout,
    fallback: false,
    ...BOOLEAN,
  },
  SERVICE_EVENT_STORE: {
    value: (config) => config.observability.store,
    fallback: null,
    accepts: [
      ['Database', null],
      [
        'clickhouse://events',
        {
          url: 'http://events:8123',
          username: 'default',
          password: '',
          database: 'default',
          isReplicated: false,
        },
      ],
      [
        'clickhouse://me:p%40ss@[::1]:80/agents?tls=true&replicated=true',
        {
          url: 'https://[::1]:80',
          username: 'me',
          password: 'p@ss',
          database: 'agents',
          isReplicated: true,
        },
      ],
      [
        'clickhouse://events/?tls=true',
        {
          url: 'https://events:8443',
          username: 'default',
          password: '',
          database: 'default',
          isReplicated: false,
        },
      ],
    ],
    refuses: [
      'http://events:8123',
      'clickhouse://',
      'clickhouse://events/a-b',
      'clickhouse://events?tls=yes',
      'clickhouse://events?ssl=true',
      'clickhouse://me:%zz@events',
    ],
  },
  SERVICE_EVENT_SPOOL_DIR: {
    value: (config) => config.observability.spool.directory,
    fallback: 'data/event-spool',
    accepts: [['/var/spool/events', '/var/spool/events']],
    refuses: [],
  },
  SERVICE_EVENT_SPOOL_BYTES: {
    value: (config) => config.observability.spool.maxOctets,
    fallback: 1_073_741_824,
    accepts: [['1048576', 1_048_576]],
    refuses: ['0', '1GB'],
  },
  SERVICE_EVENT_TAKEOVER_SECONDS: {
    value: (config) => config.observability.takeoverDelayMs,
    fallback: 600_000,
    accepts: [['0', 0]],
    refuses: ['-1', '86401', '1.5'],
  },
  SERVICE_OBSERVABILITY_RECORD: {
    value: (config) => config.observability.record,
    fallback: 'matches',
    accepts: [
      ['none', 'none'],
      ['ALL', 'all'],
    ],
    refuses: ['some'],
  },
  SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: {
    aliases: ['OBSERVABILITY_FLUSH_INTERVAL_SECONDS'],
    value: (config) => config.observability.flushIntervalSeconds,
    fallback: 10,
    accepts: [['0.25', 0.25]],
    refuses: ['0', '3601'],
  },
  SERVICE_EVENT_READER_THREADS: {
    value: (config) => config.observability.readerThreads,
    fallback: 1,
    accepts: [
      ['0', 0],
      ['16', 16],
    ],
    refuses: ['-1', '17', '1.5'],
  },
  SERVICE_EVENT_RETENTION_DAYS: {
    value: (config) => config.observability.retentionDays,
    fallback: 30,
    accepts: [
      ['0', 0],
      ['365', 365],
    ],
    refuses: ['-1', '1.5', '36501'],
  },
  SERVICE_EVENT_KAFKA_BROKERS: {
    value: (config) => config.eventSinks.kafka?.brokers ?? [],
    fallback: [],
    accepts: [
      ['kafka-1:9092', ['kafka-1:9092']],
      ['10.0.0.1:9092, [::1]:9093', ['10.0.0.1:9092', '[::1]:9093']],
    ],
    refuses: ['kafka-1', 'http://kafka-1:9092', 'a:1,b'],
  },
  SERVICE_EVENT_KAFKA_TOPIC: {
    value: (config) => config.eventSinks.kafka?.topic,
    fallback: undefined,
    accepts: [['Audit.events-1_a', 'Audit.events-1_a']],
    refuses: ['two words', 'a/b', 'x'.repeat(250)],
    with: KAFKA,
  },
  SERVICE_EVENT_KAFKA_CLIENT_ID: {
    value: (config) => config.eventSinks.kafka?.clientId,
    fallback: undefined,
    accepts: [['audit', 'audit']],
    refuses: ['two words'],
    with: KAFKA,
  },
  SERVICE_EVENT_KAFKA_TLS: {
    value: ({ eventSinks: { kafka } }) => (kafka === null ? undefined : kafka.tls !== null),
    fallback: undefined,
    ...BOOLEAN,
    with: KAFKA,
  },
  SERVICE_EVENT_KAFKA_CA_FILE: {
    value: (config) => config.eventSinks.kafka?.tls?.caFile,
    fallback: undefined,
    accepts: [['/tls/ca.pem', '/tls/ca.pem']],
    refuses: [],
    with: { ...KAFKA, SERVICE_EVENT_KAFKA_TLS: 'true' },
  },
  SERVICE_EVENT_KAFKA_SASL_MECHANISM: {
    value: (config) => config.eventSinks.kafka?.sasl?.mechanism,
    fallback: undefined,
    accepts: [
      ['PLAIN', 'PLAIN'],
      ['scram-sha-256', 'SCRAM-SHA-256'],
      ['Scram-SHA-512', 'SCRAM-SHA-512'],
    ],
    refuses: ['md5'],
    with: { ...KAFKA, SERVICE_EVENT_KAFKA_USERNAME: 'writer', SERVICE_EVENT_KAFKA_PASSWORD: 'secret' },
  },
  SERVICE_EVENT_KAFKA_USERNAME: {
    value: (config) => config.eventSinks.kafka?.sasl?.username,
    fallback: undefined,
    accepts: [['writer', 'writer']],
    refuses: [],
    with: { ...KAFKA, SERVICE_EVENT_KAFKA_SASL_MECHANISM: 'plain', SERVICE_EVENT_KAFKA_PASSWORD: 'secret' },
  },
  SERVICE_EVENT_KAFKA_PASSWORD: {
    value: (config) => config.eventSinks.kafka?.sasl?.password,
    fallback: undefined,
    accepts: [['secret', 'secret']],
    refuses: [],
    with: { ...KAFKA, SERVICE_EVENT_KAFKA_SASL_MECHANISM: 'plain', SERVICE_EVENT_KAFKA_USERNAME: 'writer' },
  },
  SERVICE_EVENT_KAFKA_FORMAT: {
    value: (config) => config.eventSinks.kafka?.format,
    fallback: undefined,
    accepts: [
      ['JSON', 'json'],
      ['cloudevents', 'cloudevents'],
      ['ocsf', 'ocsf'],
    ],
    refuses: ['opa', 'avro'],
    with: KAFKA,
  },
  SERVICE_EVENT_KAFKA_FROM: {
    value: (config) => config.eventSinks.kafka?.from,
    fallback: undefined,
    accepts: [['NOW', 'now']],
    refuses: ['newest'],
    with: KAFKA,
  },
  SERVICE_EVENT_HTTP_URL: {
    value: (config) => config.eventSinks.http?.url ?? null,
    fallback: null,
    accepts: [
      ['http://collector:8080', 'http://collector:8080'],
      ['https://opa.example/logs/prod?a=b', 'https://opa.example/logs/prod?a=b'],
    ],
    refuses: [
      'collector:8080',
      'ftp://collector',
      'http://user:secret@host/',
      'http://host/#a',
      'http://host:99999',
    ],
  },
  SERVICE_EVENT_HTTP_FORMAT: {
    value: (config) => config.eventSinks.http?.format,
    fallback: undefined,
    accepts: [
      ['CloudEvents', 'cloudevents'],
      ['ocsf', 'ocsf'],
      ['opa', 'opa'],
    ],
    refuses: ['json', 'cef'],
    with: HTTP,
  },
  SERVICE_EVENT_HTTP_MODE: {
    value: (config) => config.eventSinks.http?.mode,
    fallback: undefined,
    accepts: [
      ['batch', 'batch'],
      ['Structured', 'structured'],
      ['binary', 'binary'],
    ],
    refuses: ['stream'],
    with: HTTP,
  },
  SERVICE_EVENT_HTTP_BATCH: {
    value: (config) => config.eventSinks.http?.batch,
    fallback: undefined,
    accepts: [
      ['1', 1],
      ['500', 500],
    ],
    refuses: ['0', '501', '1.5'],
    with: HTTP,
  },
  SERVICE_EVENT_HTTP_HEADERS: {
    value: (config) => config.eventSinks.http?.headers,
    fallback: undefined,
    accepts: [['x-scope=a%20b, y=', { 'x-scope': 'a b', y: '' }]],
    refuses: ['a', '=b', 'a=%zz', 'a=b%0d%0ac'],
    with: HTTP,
  },
  SERVICE_EVENT_HTTP_TOKEN: {
    value: (config) => config.eventSinks.http?.headers.authorization,
    fallback: undefined,
    accepts: [['a-token', 'Bearer a-token']],
    refuses: ['two words', 'ä'],
    with: HTTP,
  },
  SERVICE_EVENT_HTTP_GZIP: {
    value: (config) => config.eventSinks.http?.gzip,
    fallback: undefined,
    ...BOOLEAN,
    with: HTTP,
  },
  SERVICE_EVENT_HTTP_CA_FILE: {
    value: (config) => config.eventSinks.http?.caFile,
    fallback: undefined,
    accepts: [['/tls/ca.pem', '/tls/ca.pem']],
    refuses: [],
    with: HTTP,
  },
  SERVICE_EVENT_HTTP_FROM: {
    value: (config) => config.eventSinks.http?.from,
    fallback: undefined,
    accepts: [['NOW', 'now']],
    refuses: ['newest'],
    with: HTTP,
  },
  SERVICE_EVENT_PARQUET: {
    value: (config) => config.eventSinks.parquet?.place ?? null,
    fallback: null,
    accepts: [
      ['/var/events', { kind: 'folder', path: '/var/events' }],
      ['events', { kind: 'folder', path: path.resolve('events') }],
      ['s3://audit-bucket', S3_PLACE],
      ['s3://audit-bucket/some/events/', { ...S3_PLACE, prefix: 'some/events/' }],
    ],
    refuses: ['s3://', 's3:/bucket', 's3://UPPER/x', 's3://audit-bucket/a?b'],
    with: S3_KEY,
  },
  SERVICE_EVENT_PARQUET_FROM: {
    value: (config) => config.eventSinks.parquet?.from,
    fallback: undefined,
    accepts: [['now', 'now']],
    refuses: ['0'],
    with: PARQUET,
  },
  SERVICE_EVENT_PARQUET_INTERVAL_SECONDS: {
    value: (config) => config.eventSinks.parquet?.intervalMs,
    fallback: undefined,
    accepts: [['1', 1_000]],
    refuses: ['0', '3601', '0.5'],
    with: PARQUET,
  },
  SERVICE_EVENT_PARQUET_MAX_ROWS: {
    value: (config) => config.eventSinks.parquet?.maxRows,
    fallback: undefined,
    accepts: [['1', 1]],
    refuses: ['0', '10000001'],
    with: PARQUET,
  },
  SERVICE_EVENT_PARQUET_MAX_BYTES: {
    value: (config) => config.eventSinks.parquet?.maxBytes,
    fallback: undefined,
    accepts: [['65536', 65_536]],
    refuses: ['65535', '1073741825'],
    with: PARQUET,
  },
  SERVICE_EVENT_S3_ENDPOINT: {
    value: (config) => s3Of(config)?.endpoint,
    fallback: undefined,
    accepts: [
      ['http://minio:9000', 'http://minio:9000'],
      ['https://store.example/', 'https://store.example'],
    ],
    refuses: ['minio:9000', 'http://minio:9000/path'],
    with: S3,
  },
  SERVICE_EVENT_S3_REGION: {
    value: (config) => s3Of(config)?.region,
    fallback: undefined,
    accepts: [['eu-central-1', 'eu-central-1']],
    refuses: ['Frankfurt am Main'],
    with: S3,
  },
  SERVICE_EVENT_S3_PATH_STYLE: {
    value: (config) => s3Of(config)?.pathStyle,
    fallback: undefined,
    ...BOOLEAN,
    with: S3,
  },
  SERVICE_EVENT_S3_ACCESS_KEY_ID: {
    value: (config) => s3Of(config)?.accessKeyId,
    fallback: undefined,
    accepts: [['another-id', 'another-id']],
    refuses: [],
    with: { SERVICE_EVENT_PARQUET: 's3://audit-bucket', SERVICE_EVENT_S3_SECRET_ACCESS_KEY: 'secret' },
  },
  SERVICE_EVENT_S3_SECRET_ACCESS_KEY: {
    value: (config) => s3Of(config)?.secretAccessKey,
    fallback: undefined,
    accepts: [['another secret', 'another secret']],
    refuses: [],
    with: { SERVICE_EVENT_PARQUET: 's3://audit-bucket', SERVICE_EVENT_S3_ACCESS_KEY_ID: 'id' },
  },
  SERVICE_EVENT_S3_SESSION_TOKEN: {
    value: (config) => s3Of(config)?.sessionToken,
    fallback: undefined,
    accepts: [['token', 'token']],
    refuses: [],
    with: S3,
  },
  SERVICE_AUDIT_RETENTION_DAYS: {
    value: (config) => config.audit.retentionDays,
    fallback: 0,
    accepts: [
      ['0', 0],
      ['400', 400],
    ],
    refuses: ['-1', '0.5', '36501'],
  },
  SERVICE_OTLP_ENDPOINT: {
    value: (config) => config.telemetry.endpoint,
    fallback: null,
    accepts: [
      ['http://localhost:4318/', 'http://localhost:4318'],
      ['https://[::1]:4318', 'https://[::1]:4318'],
      ['https://otlp.example/some/path', 'https://otlp.example/some/path'],
    ],
    refuses: ['localhost:4318', 'grpc://localhost', 'http://name:password@host', 'http://host/?key=1'],
  },
  SERVICE_OTLP_HEADERS: {
    value: (config) => config.telemetry.headers,
    fallback: {},
    accepts: [
      ['a=b, authorization=Bearer%20x=y,', { a: 'b', authorization: 'Bearer x=y' }],
      ['empty=', { empty: '' }],
    ],
    refuses: ['a', '=b', 'a=%zz', 'a b=c', 'a=b%0d%0ac', 'a=%C3%A4'],
  },
  SERVICE_OTLP_SIGNALS: {
    value: (config) => config.telemetry.signals,
    fallback: ['traces', 'metrics'],
    accepts: [
      ['Traces', ['traces']],
      ['metrics, traces', ['metrics', 'traces']],
      ['events', ['events']],
    ],
    refuses: ['logs', 'traces;metrics', 'traces,'],
  },
  SERVICE_OTLP_SAMPLE_RATIO: {
    value: (config) => config.telemetry.sampleRatio,
    fallback: 1,
    accepts: [
      ['0', 0],
      ['0.01', 0.01],
    ],
    refuses: ['-1', '1.01', '1%'],
  },
  SERVICE_OTLP_GEN_AI: {
    value: (config) => config.telemetry.genAi,
    fallback: 'guardrail',
    accepts: [
      ['none', 'none'],
      ['All', 'all'],
    ],
    refuses: ['true', 'latest'],
  },
  SERVICE_OTLP_METRIC_SECONDS: {
    value: (config) => config.telemetry.metricIntervalMs,
    fallback: 60_000,
    accepts: [['15', 15_000]],
    refuses: ['0', '3601'],
  },
  SERVICE_OTLP_SERVICE_NAME: {
    value: (config) => config.telemetry.serviceName,
    fallback: 'control-enforcement',
    accepts: [['guard', 'guard']],
    refuses: [],
  },
  SERVICE_OTLP_RESOURCE_ATTRIBUTES: {
    value: (config) => config.telemetry.resource,
    fallback: {},
    accepts: [['deployment.environment.name=test', { 'deployment.environment.name': 'test' }]],
    refuses: ['test'],
  },
};

function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n').slice(1);
    throw error;
  }
  return [];
}

it('every variable has a case', () => {
  expect(SETTINGS.map(({ names: [name] }) => name).sort()).toEqual(Object.keys(CASES).sort());
});

describe.each(Object.entries(CASES))('the variable %s', (name, expected) => {
  const { value, fallback, accepts, refuses, blank = fallback } = expected;
  const names = [name, ...(expected.aliases ?? [])];
  const others = expected.with ?? {};

  it('has the documented names and appears in the help', () => {
    expect(SETTINGS.find((setting) => setting.names[0] === name)?.names).toEqual(names);
    for (const name of names) expect(helpText()).toMatch(new RegExp(`\\b${name}\\b`));
  });
  it('has a default, which a blank value does not replace unless it means something', () => {
    expect(value(readConfig({}))).toEqual(fallback);
    for (const name of names) expect(value(readConfig({ [name]: ' \t' }))).toEqual(blank);
  });
  it.each(accepts)('reads %j', (text, read) => {
    for (const name of names) expect(value(readConfig({ ...others, [name]: text }))).toEqual(read);
  });
  it('prefers its first name', () => {
    const [[text = '', read] = []] = accepts;
    const [first = '', ...rest] = names;
    const lessImportant = Object.fromEntries(rest.map((name) => [name, refuses[0] ?? 'other']));
    expect(value(readConfig({ ...others, ...lessImportant, [first]: text }))).toEqual(read);
    const blankFirst = Object.fromEntries(rest.map((name) => [name, text]));
    if (rest.length > 0) expect(value(readConfig({ ...others, ...blankFirst, [first]: ' ' }))).toEqual(read);
  });
  it.each(refuses)('refuses %j and states what would be right', (text) => {
    for (const name of names) {
      const problems = problemsOf({ ...others, [name]: text });
      expect(problems).toHaveLength(1);
      const [, example] =
        new RegExp(`^  - ${name}: must be .+; for example ${name}=(.+)$`).exec(problems[0] ?? '') ?? [];
      expect(problemsOf({ ...others, [name]: example ?? text })).toEqual([]);
    }
  });
});

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
        place: S3_PLACE,
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
