import { readFileSync } from 'node:fs';
import { parse as parseDotenv } from 'dotenv';
import { databaseUrl, isDatabaseVariable } from './config-database.js';
import {
  BOOLEAN,
  commaList,
  integerIn,
  numberIn,
  oneOfWords,
  type Reader,
  text,
  textLike,
} from './config-readers.js';

/** How the service runs. Read once at start, then frozen. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly debug: boolean;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Prefix of the JSON routes, for example `/api/v1`. */
  readonly apiBase: string;
  readonly databaseUrl: string;
  readonly auth: {
    readonly enabled: boolean;
    readonly keys: readonly string[];
    readonly adminKeys: readonly string[];
    readonly sessionSecret: string | null;
  };
  readonly cors: {
    readonly origins: readonly string[] | '*';
    readonly methods: readonly string[] | '*';
    readonly headers: readonly string[] | '*';
  };
  readonly metricsPrefix: string;
  readonly log: {
    readonly level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
    readonly json: boolean;
  };
  readonly limits: {
    /** Largest request body and gRPC message, in bytes. */
    readonly bodyBytes: number;
    /** Longest time a request may take, in milliseconds. */
    readonly requestTimeoutMs: number;
    /** Longest time running requests get at shutdown, in milliseconds. */
    readonly drainMs: number;
    /** Agents whose compiled controls are kept in memory. */
    readonly snapshotAgents: number;
  };
  readonly evaluators: {
    /** Time limit of an evaluator that states none, in milliseconds. */
    readonly timeoutMs: number;
    readonly maxConcurrent: number;
    readonly cacheSize: number;
    readonly vendorApiKey: string | null;
    readonly vendorApiUrl: string | null;
  };
  readonly observability: {
    readonly enabled: boolean;
    readonly stdout: boolean;
    readonly record: 'none' | 'matches' | 'all';
    readonly flushIntervalSeconds: number;
  };
  /** Variables that look like ours but are not: probably misspelt. */
  readonly unknownVariables: readonly string[];
}

/** One variable: its names (the first one set wins), its reader, and what `--help` shows. */
export interface Variable<T = unknown> {
  readonly names: readonly [string, ...string[]];
  readonly read: Reader<T>;
  readonly fallback: T;
  readonly shownDefault: string;
  readonly help: string;
}

function variable<T>(
  names: readonly [string, ...string[]],
  read: Reader<T>,
  fallback: NoInfer<T>,
  help: string,
  shownDefault: string = String(fallback ?? ''),
): Variable<T> {
  return { names, read, fallback, help, shownDefault };
}

const MIB = 1024 * 1024;
const LOG_LEVELS = ['debug', 'info', 'warn', 'warning', 'error', 'critical', 'fatal'] as const;

/** Every variable the service reads. The configuration table of the README is held against it by a test. */
export const VARIABLES = {
  host: variable(['SERVICE_HOST', 'HOST'], text(), '0.0.0.0', 'Address to listen on.'),
  port: variable(
    ['SERVICE_PORT', 'PORT'],
    integerIn(0, 65_535, '8000'),
    8000,
    'Port to listen on; 0 picks a free one.',
  ),
  debug: variable(['SERVICE_DEBUG', 'DEBUG'], BOOLEAN, false, 'Debug mode: more logging.'),
  tlsCertFile: variable<string | null>(
    ['SERVICE_TLS_CERT_FILE'],
    text(),
    null,
    'PEM file with the certificate chain. With SERVICE_TLS_KEY_FILE it turns TLS on.',
  ),
  tlsKeyFile: variable<string | null>(
    ['SERVICE_TLS_KEY_FILE'],
    text(),
    null,
    'PEM file with the private key.',
  ),
  apiPrefix: variable(
    ['SERVICE_API_PREFIX', 'API_PREFIX'],
    textLike(/^(\/[A-Za-z0-9._~-]+)+$/, 'a path without a slash at its end', '/api'),
    '/api',
    'First part of the path of the JSON routes.',
  ),
  apiVersion: variable(
    ['SERVICE_API_VERSION', 'API_VERSION'],
    textLike(/^[A-Za-z0-9._~-]+$/, 'one segment of a path', 'v1'),
    'v1',
    'Second part of the path of the JSON routes.',
  ),
  authEnabled: variable(
    ['SERVICE_API_KEY_ENABLED'],
    BOOLEAN,
    false,
    'Demand API keys. Off by default, for local development only.',
  ),
  keys: variable<readonly string[]>(
    ['SERVICE_API_KEYS'],
    commaList(),
    [],
    'Regular keys, separated by commas.',
  ),
  adminKeys: variable<readonly string[]>(
    ['SERVICE_ADMIN_API_KEYS'],
    commaList(),
    [],
    'Admin keys, separated by commas.',
  ),
  sessionSecret: variable<string | null>(
    ['SERVICE_SESSION_SECRET'],
    text(),
    null,
    'Signs browser sessions. Accepted; no effect before the session routes exist.',
    'random',
  ),
  corsOrigins: variable<readonly string[] | '*'>(
    ['SERVICE_CORS_ORIGINS', 'CORS_ORIGINS'],
    commaList('*'),
    '*',
    'Origins that browsers may call from, separated by commas, or *. Credentials only for listed origins.',
  ),
  corsMethods: variable<readonly string[] | '*'>(
    ['SERVICE_ALLOW_METHODS', 'ALLOW_METHODS'],
    commaList('*'),
    '*',
    'Methods that browsers may use from other origins.',
  ),
  corsHeaders: variable<readonly string[] | '*'>(
    ['SERVICE_ALLOW_HEADERS', 'ALLOW_HEADERS'],
    commaList('*'),
    '*',
    'Headers that browsers may send from other origins.',
  ),
  metricsPrefix: variable(
    ['SERVICE_PROMETHEUS_METRICS_PREFIX', 'PROMETHEUS_METRICS_PREFIX'],
    textLike(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/, 'letters, digits, _ and :, no digit first', 'enforcement'),
    'control_enforcement_server',
    'Prefix of the metric names.',
  ),
  logLevel: variable<(typeof LOG_LEVELS)[number] | null>(
    ['SERVICE_LOG_LEVEL'],
    oneOfWords(LOG_LEVELS),
    null,
    'debug, info, warn, error or fatal, in any case.',
    'info (debug in debug mode)',
  ),
  logJson: variable(['SERVICE_LOG_JSON'], BOOLEAN, false, 'Log JSON lines instead of readable ones.'),
  maxBodyBytes: variable(
    ['SERVICE_MAX_BODY_BYTES'],
    integerIn(1024, 256 * MIB, '8388608'),
    8 * MIB,
    'Largest request body and gRPC message, in bytes.',
  ),
  requestTimeoutSeconds: variable(
    ['SERVICE_REQUEST_TIMEOUT_SECONDS'],
    numberIn(0.1, 3600, '30'),
    30,
    'Longest time a request may take.',
  ),
  drainSeconds: variable(
    ['SERVICE_DRAIN_SECONDS'],
    numberIn(0, 3600, '10'),
    10,
    'Longest time running requests get at shutdown.',
  ),
  snapshotAgents: variable(
    ['SERVICE_SNAPSHOT_MAX_AGENTS'],
    integerIn(1, 10_000_000, '10000'),
    10_000,
    'Agents whose compiled controls are kept in memory; the least recently used ones go first.',
  ),
  evaluatorTimeoutSeconds: variable(
    ['EVALUATOR_TIMEOUT_SECONDS'],
    numberIn(0.001, 3600, '30'),
    30,
    'Time limit of an evaluator that states none.',
  ),
  maxConcurrentEvaluations: variable(
    ['MAX_CONCURRENT_EVALUATIONS'],
    integerIn(1, 10_000, '3'),
    3,
    'Accepted for compatibility; local evaluators run one after another within a step.',
  ),
  evaluatorCacheSize: variable(
    ['EVALUATOR_CACHE_SIZE'],
    integerIn(1, 10_000_000, '100'),
    100,
    'Accepted for compatibility; compiled evaluators live as long as the controls of a loaded agent.',
  ),
  vendorApiKey: variable<string | null>(
    ['VENDOR_API_KEY'],
    text(),
    null,
    'Key of the external model evaluator. Accepted; no effect before that evaluator exists.',
  ),
  vendorApiUrl: variable<string | null>(
    ['VENDOR_API_URL'],
    textLike(/^https?:\/\/\S+$/, 'an http or https URL', 'https://models.example.com'),
    null,
    'Endpoint of the external model evaluator. Accepted; no effect before that evaluator exists.',
  ),
  observabilityEnabled: variable(
    ['SERVICE_OBSERVABILITY_ENABLED', 'OBSERVABILITY_ENABLED'],
    BOOLEAN,
    true,
    'Event store on or off. Accepted; no effect before the event store exists.',
  ),
  observabilityStdout: variable(
    ['SERVICE_OBSERVABILITY_STDOUT'],
    BOOLEAN,
    false,
    'Log each ingested event. Accepted; no effect before the event store exists.',
  ),
  observabilityRecord: variable(
    ['SERVICE_OBSERVABILITY_RECORD'],
    oneOfWords(['none', 'matches', 'all']),
    'matches',
    'none, matches or all: what the service records itself. Accepted; no effect before the event store exists.',
  ),
  flushIntervalSeconds: variable(
    ['SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS', 'OBSERVABILITY_FLUSH_INTERVAL_SECONDS'],
    numberIn(0.01, 3600, '10'),
    10,
    'How often the service writes its own events. Accepted; no effect before the event store exists.',
  ),
} as const satisfies Record<string, Variable<never> | Variable>;

/** Variables that are read elsewhere or refused on purpose. */
const REFUSED = new Map([
  [
    'SERVICE_UI_DIST_DIR',
    'this service does not serve a static UI; remove the variable and serve it elsewhere',
  ],
]);

/** The environment cannot be used. `message` names each variable, its problem and an example. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
type Values = { [K in keyof typeof VARIABLES]: (typeof VARIABLES)[K]['fallback'] };

/** Reads the environment. Throws a ConfigError that lists every problem at once. */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, definition] of Object.entries(VARIABLES)) {
    values[key] = readVariable(definition as Variable, environment, problems);
  }
  for (const [name, why] of REFUSED) {
    if (isSet(environment[name])) problems.push(`${name}: ${why}`);
  }
  const url = databaseUrl(environment, problems);
  const config = assemble(values as Values, url, environment, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return deepFreeze(config);
}

/** The environment of the process, with what a `.env` file in the working directory adds to it. */
export function loadEnvironment(processEnvironment: Environment, dotenvPath = '.env'): Environment {
  let content: string;
  try {
    content = readFileSync(dotenvPath, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return processEnvironment;
    // Going on without it could mean going on without its API keys.
    throw new ConfigError([`${dotenvPath}: it exists but cannot be read (${message})`]);
  }
  const set = Object.entries(processEnvironment).filter(([, value]) => isSet(value));
  return { ...parseDotenv(content), ...Object.fromEntries(set) };
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

function readVariable(definition: Variable, environment: Environment, problems: string[]): unknown {
  const name = definition.names.find((candidate) => isSet(environment[candidate]));
  if (name === undefined) return definition.fallback;
  const result = definition.read.schema.safeParse(environment[name]?.trim());
  if (result.success) return result.data;
  problems.push(`${name}: ${definition.read.expected}; for example ${name}=${definition.read.example}`);
  return definition.fallback;
}

function assemble(values: Values, url: string, environment: Environment, problems: string[]): Config {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile } = values;
  if ((certFile === null) !== (keyFile === null)) {
    const missing = certFile === null ? 'SERVICE_TLS_CERT_FILE' : 'SERVICE_TLS_KEY_FILE';
    problems.push(`${missing}: TLS needs a certificate and a key; for example ${missing}=/etc/tls/tls.pem`);
  }
  if (values.authEnabled && values.keys.length + values.adminKeys.length === 0) {
    problems.push(
      'SERVICE_API_KEY_ENABLED: it is on but no key is configured; for example SERVICE_ADMIN_API_KEYS=a-long-random-text',
    );
  }
  return {
    host: values.host,
    port: values.port,
    debug: values.debug,
    tls: certFile !== null && keyFile !== null ? { certFile, keyFile } : null,
    apiBase: `${values.apiPrefix}/${values.apiVersion}`,
    databaseUrl: url,
    auth: {
      enabled: values.authEnabled,
      keys: values.keys,
      adminKeys: values.adminKeys,
      sessionSecret: values.sessionSecret,
    },
    cors: { origins: values.corsOrigins, methods: values.corsMethods, headers: values.corsHeaders },
    metricsPrefix: values.metricsPrefix.replace(/_+$/, ''),
    log: { level: logLevel(values.logLevel ?? (values.debug ? 'debug' : 'info')), json: values.logJson },
    limits: {
      bodyBytes: values.maxBodyBytes,
      requestTimeoutMs: values.requestTimeoutSeconds * 1000,
      drainMs: values.drainSeconds * 1000,
      snapshotAgents: values.snapshotAgents,
    },
    evaluators: {
      timeoutMs: values.evaluatorTimeoutSeconds * 1000,
      maxConcurrent: values.maxConcurrentEvaluations,
      cacheSize: values.evaluatorCacheSize,
      vendorApiKey: values.vendorApiKey,
      vendorApiUrl: values.vendorApiUrl,
    },
    observability: {
      enabled: values.observabilityEnabled,
      stdout: values.observabilityStdout,
      record: values.observabilityRecord,
      flushIntervalSeconds: values.flushIntervalSeconds,
    },
    unknownVariables: unknownVariables(environment),
  };
}

function logLevel(word: (typeof LOG_LEVELS)[number]): Config['log']['level'] {
  if (word === 'warning') return 'warn';
  return word === 'critical' ? 'fatal' : word;
}

function unknownVariables(environment: Environment): string[] {
  const known = new Set(Object.values(VARIABLES).flatMap((definition) => [...definition.names] as string[]));
  return Object.keys(environment)
    .filter((name) => name.startsWith('SERVICE_') && !isDatabaseVariable(name))
    .filter((name) => !known.has(name) && !REFUSED.has(name))
    .sort();
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member);
  }
  return Object.freeze(value);
}
