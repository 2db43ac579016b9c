import { describe, expect, it } from 'vitest';
import { helpText } from '../../../src/app/wiring/cli.js';
import { readConfig } from '../../../src/contract/config/config.js';
import type { Setting } from '../../../src/contract/config/setting.js';
import { SETTINGS, type SettingName } from '../../../src/contract/config/settings.js';
import { inPackage } from '../../../src/contract/runtime/package-root.js';
import {
  HTTP,
  KAFKA,
  KEY,
  KEYS_ON,
  OIDC,
  OIDC_LOGIN,
  OIDC_ROLES,
  PARQUET,
  problemsOf,
  S3,
  S3_KEY,
  SMTP,
  SWITCH,
  TOKEN_SECRET,
  UPSTREAM,
} from './environments.support.js';

/** Texts that a variable takes, and some that it refuses. */
interface Texts {
  readonly accepts: readonly string[];
  readonly refuses: readonly string[];
}

const TLS = { SERVICE_TLS_CERT_FILE: '/tls/cert.pem', SERVICE_TLS_KEY_FILE: '/tls/key.pem' };
const SASL = {
  ...KAFKA,
  SERVICE_EVENT_KAFKA_SASL_MECHANISM: 'plain',
  SERVICE_EVENT_KAFKA_USERNAME: 'writer',
  SERVICE_EVENT_KAFKA_PASSWORD: 'secret',
};

/** What else has to be set for the values of some variables to be usable: the first row that matches. */
const NEEDS: readonly (readonly [RegExp, Record<string, string>])[] = [
  [/^SERVICE_TLS_CLIENT/, { ...TLS, SERVICE_TLS_CLIENT_CA_FILE: '/tls/clients.pem' }],
  [/^SERVICE_TLS_/, TLS],
  [/^SERVICE_(OPERATIONS_HOST|REFLECTION)$/, { SERVICE_OPERATIONS_PORT: '9000' }],
  [/^SERVICE_API_KEY_ENABLED$/, KEY],
  [/^SERVICE_(KEYS_FILE|.*API_KEYS)$/, SWITCH],
  [/^SERVICE_OIDC_ISSUERS$/, { ...KEY, SERVICE_API_KEY_ENABLED: 'true' }],
  [/^SERVICE_OIDC_(ADMIN|REGULAR)_ROLES$/, OIDC_ROLES],
  [/^SERVICE_OIDC_(CLIENT_SECRET|SCOPES|NAME|REDIRECT_URL)$/, OIDC_LOGIN],
  [/^SERVICE_OIDC_/, OIDC],
  [/^SERVICE_RUNTIME_AUTH_MODE$/, { ...KEYS_ON, SERVICE_RUNTIME_TOKEN_SECRETS: TOKEN_SECRET }],
  [/^SERVICE_RUNTIME_TOKEN_SECRETS$/, KEYS_ON],
  [/^SERVICE_AUTH_UPSTREAM_/, UPSTREAM],
  [/^SERVICE_MIGRATE_DB_URL$/, { DATABASE_URL: 'postgresql://service:secret@db/service' }],
  [
    /^SERVICE_SMTP_(USERNAME|PASSWORD)$/,
    { ...SMTP, SERVICE_SMTP_USERNAME: 'writer', SERVICE_SMTP_PASSWORD: 'secret' },
  ],
  [/^SERVICE_SMTP_/, SMTP],
  [/^SERVICE_EVENT_KAFKA_CA_FILE$/, { ...KAFKA, SERVICE_EVENT_KAFKA_TLS: 'true' }],
  [/^SERVICE_EVENT_KAFKA_(SASL|USERNAME|PASSWORD)/, SASL],
  [/^SERVICE_EVENT_KAFKA_/, KAFKA],
  [/^SERVICE_EVENT_HTTP_/, HTTP],
  [/^SERVICE_EVENT_PARQUET$/, S3_KEY],
  [/^SERVICE_EVENT_PARQUET_/, PARQUET],
  [/^SERVICE_EVENT_S3_/, S3],
];

const NETWORKS = {
  accepts: ['10.0.0.0/8, loopback', '::1'],
  refuses: ['10.0.0.0/33', 'everyone', '10.0.0', '::1/129'],
};
const HEADERS = { accepts: ['X-Tenant, x-user ,,x-TENANT'], refuses: ['a b', 'a:b', 'host', 'Content-Type'] };
const ENCRYPTION_KEY = {
  accepts: [
    'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
    'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY',
    'ff'.repeat(32),
  ],
  refuses: ['secret', 'ff'.repeat(31), 'MDEyMzQ1'],
};
const PAIRS = {
  accepts: ['a=b, authorization=Bearer%20x=y,', 'empty='],
  refuses: ['a', '=b', 'a=%zz', 'a=b%0d%0ac'],
};

/** Texts of variables whose values have a form of their own; those of the others follow from what they expect. */
const TEXTS: Partial<Record<SettingName, Texts>> = {
  SERVICE_API_PREFIX: { accepts: ['/control', '/a/b'], refuses: ['api', '/api/', '/', '/a b', '/{id}'] },
  SERVICE_BASE_PATH: { accepts: ['/guard', '/a/b'], refuses: ['guard', '/guard/', '/', '/a/../b', '/a b'] },
  SERVICE_API_VERSION: { accepts: ['v2'], refuses: ['/v1', 'v/1', 'v 1'] },
  SERVICE_OIDC_ROLE_MAP: { accepts: ['team=editor, a=b=viewer'], refuses: ['team', 'team=boss', '=editor'] },
  SERVICE_OIDC_ISSUERS: {
    accepts: [
      '[{"issuer":"https://a.example","audience":"x","role_map":{"t":"editor"}}]',
      '[{"issuer":"https://a.example","audience":"x","regular_roles":"*"}]',
    ],
    refuses: ['https://a.example', '{}'],
  },
  SERVICE_OIDC_ISSUER: {
    accepts: ['https://login.example/realms/one', 'http://localhost:8080/'],
    refuses: [
      'http://login.example',
      'login.example',
      'https://a:b@login.example',
      'https://login.example?x=1',
    ],
  },
  SERVICE_OIDC_REGULAR_ROLES: { accepts: ['reader, writer', '*'], refuses: [] },
  SERVICE_OIDC_SCOPES: { accepts: ['email, roles'], refuses: [] },
  SERVICE_OIDC_REDIRECT_URL: {
    accepts: ['https://controls.example/api/oidc/callback'],
    refuses: ['http://controls.example', '/callback'],
  },
  SERVICE_CORS_ORIGINS: { accepts: ['https://a.example, https://b.example', 'a,*'], refuses: [] },
  // A star is a key like any other.
  SERVICE_API_KEYS: { accepts: [' one, ,two ,', '*'], refuses: [] },
  // The other modes need further settings; `config.test.ts` has them.
  SERVICE_AUTH_MODE: { accepts: ['None'], refuses: ['jwt', 'on'] },
  SERVICE_API_KEY_HEADERS: {
    accepts: ['X-SF-Token', 'a, Vendor-API-Key ,,A'],
    refuses: ['a b', 'Cookie', 'content-type', 'grpc-timeout', 'key:'],
  },
  SERVICE_RUNTIME_AUTH_MODE: {
    accepts: ['none', 'api_key', 'JWT', 'both'],
    refuses: ['http_upstream', 'on'],
  },
  SERVICE_RUNTIME_TOKEN_SECRETS: {
    accepts: [TOKEN_SECRET, `${TOKEN_SECRET}, ${TOKEN_SECRET}2`, 'é'.repeat(16)],
    refuses: [],
  },
  SERVICE_RUNTIME_TOKEN_HEADER: {
    accepts: ['X-SERVICE-Runtime-Token'],
    refuses: ['two words', 'Cookie', 'te', 'a,b'],
  },
  SERVICE_AUTH_UPSTREAM_URL: {
    accepts: ['https://auth.example/authorize?v=1', 'http://auth.internal:8080'],
    refuses: ['auth.example', 'ftp://auth.example', 'https://a:b@auth.example', 'https://auth.example/#a'],
  },
  SERVICE_AUTH_UPSTREAM_HEADERS: HEADERS,
  SERVICE_VERSION_HEADERS: HEADERS,
  SERVICE_PROMETHEUS_METRICS_PREFIX: {
    accepts: ['acme', 'acme_', 'a:b_1'],
    refuses: ['1st', 'a-b', 'a b'],
  },
  SERVICE_LOG_LEVEL: {
    accepts: ['DEBUG', 'info', 'Warning', 'warn', 'error', 'CRITICAL', 'fatal'],
    refuses: ['loud', 'trace', '10'],
  },
  SERVICE_WORKERS: { accepts: ['1', '256'], refuses: ['0', '257', '1.5', '-1', 'all', 'auto2'] },
  SERVICE_TRUST_PROXY: NETWORKS,
  SERVICE_NOTIFICATIONS_ALLOW: NETWORKS,
  SERVICE_LAST_KNOWN_GOOD: { accepts: ['/var/lib/last-known-good', 'Off', ' '], refuses: [] },
  SERVICE_MIGRATE_DB_URL: {
    accepts: ['postgresql://owner:secret@db/service'],
    refuses: ['mysql://owner@db/service', 'file:./service.db'],
  },
  MAX_CONCURRENT_EVALUATIONS: {
    // More processes than 64 are never started.
    accepts: ['1', '65', '10000'],
    refuses: ['0', '10001', '2.5'],
  },
  VENDOR_API_URL: {
    accepts: ['https://models.example/x'],
    refuses: ['models.example', 'ftp://models.example', 'https://a b'],
  },
  SERVICE_ONNX_MODELS: {
    accepts: ['a=/m/a', 'a=/m/a, b-2=./b'],
    refuses: ['a', 'a=', '=/m', 'a b=/m'],
  },
  SERVICE_MEMORY_STORE: {
    accepts: [
      'database',
      'redis://cache:6379/2',
      'rediss://user:secret@cache:6380',
      'valkey://cache',
      'VALKEYS://[::1]:80/',
      'redis://:p%40ss@cache?cluster=true',
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
  SERVICE_PUBLIC_URL: {
    accepts: ['https://controls.example/', 'http://10.0.0.1:8000/controls'],
    refuses: ['controls.example', 'ftp://controls.example', 'https://controls.example/?a=1', 'https://a@b'],
  },
  SERVICE_SMTP_HOST: { accepts: ['mail.example'], refuses: ['mail example', 'smtp://mail'] },
  SERVICE_SMTP_FROM: { accepts: ['controls@example.com'], refuses: ['controls', 'a@b@c', 'a <a@b>'] },
  SERVICE_APPROVALS_KEY: ENCRYPTION_KEY,
  SERVICE_SAMPLE_KEY: ENCRYPTION_KEY,
  SERVICE_ADAPTERS: { accepts: ['authzen, coding-hooks'], refuses: ['authzen,hooks', 'all'] },
  SERVICE_ADAPTERS_FAIL_OPEN: { accepts: ['litellm'], refuses: ['true'] },
  SERVICE_EVENT_STORE: {
    accepts: [
      'Database',
      'clickhouse://events',
      'clickhouse://me:p%40ss@[::1]:80/agents?tls=true&replicated=true',
      'clickhouse://events/?tls=true',
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
  SERVICE_EVENT_KAFKA_BROKERS: {
    accepts: ['kafka-1:9092', '10.0.0.1:9092, [::1]:9093'],
    refuses: ['kafka-1', 'http://kafka-1:9092', 'a:1,b'],
  },
  SERVICE_EVENT_KAFKA_TOPIC: {
    accepts: ['Audit.events-1_a'],
    refuses: ['two words', 'a/b', 'x'.repeat(250)],
  },
  SERVICE_EVENT_KAFKA_CLIENT_ID: { accepts: ['audit'], refuses: ['two words'] },
  SERVICE_EVENT_HTTP_URL: {
    accepts: ['http://collector:8080', 'https://opa.example/logs/prod?a=b'],
    refuses: [
      'collector:8080',
      'ftp://collector',
      'http://user:secret@host/',
      'http://host/#a',
      'http://host:99999',
    ],
  },
  SERVICE_EVENT_HTTP_HEADERS: PAIRS,
  SERVICE_EVENT_HTTP_TOKEN: { accepts: ['a-token'], refuses: ['two words', 'ä'] },
  // `config.test.ts` has a relative folder, whose path depends on the machine.
  SERVICE_EVENT_PARQUET: {
    accepts: ['/var/events', 's3://audit-bucket', 's3://audit-bucket/some/events/'],
    refuses: ['s3://', 's3:/bucket', 's3://UPPER/x', 's3://audit-bucket/a?b'],
  },
  SERVICE_EVENT_S3_ENDPOINT: {
    accepts: ['http://minio:9000', 'https://store.example/'],
    refuses: ['minio:9000', 'http://minio:9000/path'],
  },
  SERVICE_EVENT_S3_REGION: { accepts: ['eu-central-1'], refuses: ['Frankfurt am Main'] },
  SERVICE_OTLP_ENDPOINT: {
    accepts: ['http://localhost:4318/', 'https://[::1]:4318', 'https://otlp.example/some/path'],
    refuses: ['localhost:4318', 'grpc://localhost', 'http://name:password@host', 'http://host/?key=1'],
  },
  SERVICE_OTLP_HEADERS: { ...PAIRS, refuses: [...PAIRS.refuses, 'a b=c', 'a=%C3%A4'] },
  SERVICE_OTLP_SIGNALS: {
    accepts: ['Traces', 'metrics, traces', 'events'],
    refuses: ['logs', 'traces;metrics', 'traces,'],
  },
  SERVICE_OTLP_RESOURCE_ATTRIBUTES: { accepts: ['deployment.environment.name=test'], refuses: ['test'] },
};

const WORDS = {
  true: ['true', '1', 'YES', 'on', 't', 'y'],
  false: ['false', '0', 'No', 'off', 'f', 'n'],
};

/** The texts that follow from what a reader says it expects. */
function textsOf(expected: string): Texts {
  const [, kind, from, to] = /^a (whole number|number) from (\S+) to (\S+)$/.exec(expected) ?? [];
  if (kind !== undefined) {
    const step = kind === 'number' ? 0.01 : 1;
    const below = Number((Number(from) - step).toFixed(2));
    const above = Number((Number(to) + step).toFixed(2));
    return {
      accepts: [String(from), ` ${to} `],
      refuses: [String(below), String(above), '-1', 'many', '0x10', '1e0', ...(step === 1 ? ['1.5'] : [])],
    };
  }
  const [, words] = /^one of (.+)$/.exec(expected) ?? [];
  if (words !== undefined)
    return { accepts: words.split(', ').map((word) => word.toUpperCase()), refuses: ['other', '1'] };
  if (expected === 'true or false') return { accepts: ['true', 'false'], refuses: ['maybe', '2', 'truely'] };
  if (expected === 'texts separated by commas') return { accepts: [' one, ,two ,'], refuses: [] };
  if (expected === 'a text') return { accepts: [' /some/text '], refuses: [] };
  throw new Error(`a value that is ${expected} needs texts of its own`);
}

const CASES = SETTINGS.map((setting) => {
  const [name] = setting.names;
  const others = NEEDS.find(([pattern]) => pattern.test(name))?.[1] ?? {};
  const texts = TEXTS[name as SettingName] ?? textsOf(setting.reader.expected);
  return { name, setting, others, ...texts };
});

const HELP = helpText();

type Leaves = Map<string, string>;

/** The values of a configuration, as texts, by their paths. */
function leavesOf(value: unknown, path = '', leaves: Leaves = new Map()): Leaves {
  const isBranch =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  if (!isBranch) return leaves.set(path, typeof value === 'number' ? String(value) : JSON.stringify(value));
  for (const [member, part] of Object.entries(value))
    leavesOf(part, path === '' ? member : `${path}.${member}`, leaves);
  return leaves;
}

/** The configuration before a variable is set. What else is set may be invalid without it. */
function before(name: string, others: Record<string, string>): Leaves {
  const { [name]: _, ...rest } = others;
  return leavesOf(readConfig(problemsOf(rest).length === 0 ? rest : {}));
}

/** One line of the file: everything that a person decides about a setting, and what it does to the configuration. */
function lineOf({ name, setting, others, accepts }: (typeof CASES)[number]): string {
  const old = before(name, others);
  const effects = accepts.map((text) => {
    const leaves = leavesOf(readConfig({ ...others, [name]: text }));
    const changed = [...leaves].filter(([path, value]) => old.get(path) !== value);
    return { text, leaves, paths: changed.map(([path]) => path) };
  });
  const paths = [...new Set(effects.flatMap((effect) => effect.paths))];
  const only = paths.length === 1;
  const { names, reader, shownDefault } = setting;
  return [
    `${names.join(', ')} = ${shownDefault === '' ? 'not set' : shownDefault}`,
    reader.expected,
    ...(reader.isSecret === true ? ['secret'] : []),
    ...(reader.readsBlank === true ? ['blank is a value'] : []),
    paths.flatMap((path) => (old.has(path) ? [`${path} ${old.get(path)}`] : only ? [path] : [])).join(', '),
    ...effects.map(({ text, leaves, paths: changed }) => {
      const values = (only ? paths : changed).map(
        (path) => `${only ? '' : `${path} `}${leaves.get(path) ?? 'absent'}`,
      );
      return `'${text}' → ${values.join(', ') || 'the same'}`;
    }),
  ].join(' | ');
}

/**
 * A changed name, default, bound or unit shows in its diff, and needs a person's look.
 * `vitest run test/contract/config/settings.test.ts --update` writes it.
 */
it('settings.golden.txt has every variable: default, form, where its value is found, and what texts become', async () => {
  await expect(`${CASES.map(lineOf).join('\n')}\n`).toMatchFileSnapshot(
    inPackage('test/contract/config/settings.golden.txt'),
  );
});

describe.each(CASES)('the variable $name', ({ name, setting, others, accepts, refuses }) => {
  const { names, reader }: Setting = setting;
  const [, ...aliases] = names;
  const read = (variable: string, text: string) => readConfig({ ...others, [variable]: text });

  it('is in the help, by each of its names', () => {
    for (const one of names) expect(HELP).toMatch(new RegExp(`\\b${one}\\b`));
  });
  it('has its default if it is blank, unless that means something', () => {
    for (const one of names) {
      if (reader.readsBlank === true) expect(readConfig({ [one]: ' \t' })).not.toEqual(readConfig({}));
      else expect(readConfig({ [one]: ' \t' })).toEqual(readConfig({}));
    }
  });
  it('means the same by its other names, which have no effect beside the first', () => {
    for (const text of accepts) {
      const expected = read(name, text);
      for (const alias of aliases) {
        expect(read(alias, text)).toEqual(expected);
        expect(readConfig({ ...others, [alias]: text, [name]: ' ' })).toEqual(expected);
        expect(readConfig({ ...others, [alias]: refuses[0] ?? 'other', [name]: text })).toEqual(expected);
      }
    }
  });
  if (reader.expected === 'true or false') {
    it('takes common words for true and false', () => {
      for (const [meaning, words] of Object.entries(WORDS)) {
        for (const word of words) expect(read(name, word)).toEqual(read(name, meaning));
      }
    });
  }
  it.each(refuses)('refuses %j and states what would be right', (text) => {
    for (const one of names) {
      const problems = problemsOf({ ...others, [one]: text });
      expect(problems).toHaveLength(1);
      const [, example] =
        new RegExp(`^  - ${one}: must be .+; for example ${one}=(.+)$`).exec(problems[0] ?? '') ?? [];
      expect(problemsOf({ ...others, [one]: example ?? text })).toEqual([]);
    }
  });
});
