import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parse as parseDotenv } from 'dotenv';
import { admissionLimits } from './admission-limits.js';
import { databaseUrl, databaseVariable, type Environment, migrationUrl } from './config-database.js';
import { otlpEndpoint, sinksConfig } from './config-sinks.js';
import { type LOG_LEVELS, type SettingValues, VARIABLES, type Variable } from './config-variables.js';
import {
  foreignVariables,
  isBlank,
  isSet,
  misspelledVariables,
  REFUSED,
  unknownVariables,
} from './environment.js';
import { oidcSettings } from './oidc-settings.js';
import { withSecretFiles } from './secret-files.js';
import { tlsSettings } from './tls-settings.js';

/** Configuration of the service. Read once at start, then frozen. Its members are those of `assemble`. */
export type Config = Frozen<ReturnType<typeof assemble>>;

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]: Frozen<T[Member]> }
    : T;

/** Most processes per custom evaluator: each has its own memory. */
const MAX_WORKERS = 64;

/** The environment is invalid. `message` lists each variable, its problem and an example. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Reads the environment, and the files of secrets it names. Throws a ConfigError that lists all problems. */
export function readConfig(given: Environment): Config {
  const problems: string[] = [];
  const environment = withSecretFiles(given, problems);
  const values: Record<string, unknown> = {};
  for (const [key, definition] of Object.entries(VARIABLES)) {
    values[key] = readVariable(definition as Variable, environment, problems);
  }
  for (const [name, why] of REFUSED) {
    if (isSet(environment[name])) problems.push(`${name}: ${why}`);
  }
  problems.push(...misspelledVariables(given));
  const url = databaseUrl(environment, problems);
  const config = assemble(values as SettingValues, url, environment, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return deepFreeze(config);
}

/** The environment of the process, extended by a `.env` file in the working directory. */
export function loadEnvironment(processEnvironment: Environment, dotenvPath = '.env'): Environment {
  let content: string;
  try {
    content = readFileSync(dotenvPath, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return processEnvironment;
    // Continuing without it could mean running without its API keys.
    throw new ConfigError([`${dotenvPath}: it exists but cannot be read (${message})`]);
  }
  const set = Object.entries(processEnvironment).filter(
    ([name, value]) => isSet(value) || isBlank(name, value),
  );
  return { ...parseDotenv(content), ...Object.fromEntries(set) };
}

function readVariable(definition: Variable, environment: Environment, problems: string[]): unknown {
  const name = definition.names.find((candidate) => isSet(environment[candidate]));
  if (name === undefined) {
    const isOff = definition.names.some((candidate) => isBlank(candidate, environment[candidate]));
    return isOff ? definition.blank : definition.fallback;
  }
  const result = definition.read.schema.safeParse(environment[name]?.trim());
  if (result.success) return result.data;
  problems.push(`${name}: ${definition.read.expected}; for example ${name}=${definition.read.example}`);
  return definition.fallback;
}

/** The configuration, by place: a setting is added here once, its type follows from its variable. */
function assemble(values: SettingValues, url: string, environment: Environment, problems: string[]) {
  const tls = tlsSettings(values, problems);
  const oidc = oidcSettings(values, problems);
  const hasKeys = values.keysFile !== null || values.keys.length + values.adminKeys.length > 0;
  // Problems of an issuer are told by themselves.
  const hasIssuer = oidc !== null || problems.some((problem) => problem.startsWith('SERVICE_OIDC_'));
  if (values.authEnabled && !hasKeys && !hasIssuer) {
    problems.push(
      'SERVICE_API_KEY_ENABLED: it is on but no key is configured; for example SERVICE_ADMIN_API_KEYS=a-long-random-text',
    );
  }
  const isSwitchSet = VARIABLES.authEnabled.names.some((name) => isSet(environment[name]));
  if (hasKeys && !isSwitchSet) {
    problems.push(
      'SERVICE_API_KEY_ENABLED: keys are configured but not required, so that anyone may call the service; SERVICE_API_KEY_ENABLED=true requires them, SERVICE_API_KEY_ENABLED=false ignores them',
    );
  }
  if (values.reflection === 'operations' && values.operationsPort === null) {
    problems.push(
      'SERVICE_REFLECTION: operations needs SERVICE_OPERATIONS_PORT; for example SERVICE_OPERATIONS_PORT=9000',
    );
  }
  return {
    host: values.host,
    port: values.port,
    debug: values.debug,
    /** Separate address for health, readiness and metrics; null for the public port. */
    operations:
      values.operationsPort === null
        ? null
        : { host: values.operationsHost ?? values.host, port: values.operationsPort },
    reflection: values.reflection,
    /** Whether the dashboard is served. */
    uiEnabled: values.uiEnabled,
    /** Proxies whose X-Forwarded-For is trusted: addresses, networks, and names of networks. */
    trustedProxies: values.trustProxy,
    /** Null without TLS. */
    tls,
    /** First part of the path of the JSON routes, for example `/api`; the only prefix of the session routes. */
    apiPrefix: values.apiPrefix,
    /** Prefix of all other JSON routes, for example `/api/v1`. */
    apiBase: `${values.apiPrefix}/${values.apiVersion}`,
    databaseUrl: url,
    /** The variable that sets it, for errors about the database. */
    databaseVariable: databaseVariable(environment),
    /** Whether a missing database may be created. */
    databaseExpected: values.databaseExpected,
    /** What happens to missing migrations, and the address that they are applied with; null for `databaseUrl`. */
    migration: { mode: values.migrate, url: migrationUrl(values.migrateDatabaseUrl, url, problems) },
    /** Path of the file with the last known good state; `off` for none, null for the default path. */
    lastKnownGood: fileSetting(values.lastKnownGood),
    auth: {
      enabled: values.authEnabled,
      keys: values.keys,
      adminKeys: values.adminKeys,
      /** File with more keys, which may change; null for none. */
      keysFile: values.keysFile,
      sessionSecret: values.sessionSecret,
      /** How long a browser session lasts, in seconds. */
      sessionSeconds: values.sessionHours * 60 * 60,
      /** Bearer tokens; null without an issuer. */
      oidc,
    },
    cors: { origins: values.corsOrigins, methods: values.corsMethods, headers: values.corsHeaders },
    /** Number of processes that serve the port. */
    workers: values.workers === 'auto' ? availableParallelism() : values.workers,
    /** Whether definitions with warnings, and unknown query parameters, are refused. */
    strictDefinitions: values.strictDefinitions,
    /** JSON requests with a member that occurs twice in an object are refused, or the last one counts. */
    duplicateMembers: values.duplicateMembers,
    agentsWithoutControls: values.agentsWithoutControls,
    stepSchemas: values.stepSchemas,
    /** Whether plain gRPC evaluations are served without Connect. */
    grpcLane: values.grpcLane,
    /** Whether REST evaluations over HTTP/1.1 are served without Fastify. */
    restLane: values.restLane,
    /** Whether unary evaluations over gRPC-Web and Connect are served without Connect. */
    webLane: values.webLane,
    metricsPrefix: values.metricsPrefix.replace(/_+$/, ''),
    log: { level: logLevel(values.logLevel ?? (values.debug ? 'debug' : 'info')), json: values.logJson },
    limits: {
      /** Largest request body and gRPC message, in bytes. */
      bodyBytes: values.maxBodyBytes,
      /** Streams on one HTTP/2 connection. */
      streamsPerConnection: values.maxStreamsPerConnection,
      /** Limits for connections, addresses, keys and callers without a key. */
      admission: admissionLimits(values),
      /** Delay of the event loop above which new calls are refused, in milliseconds; 0 for never. */
      shedDelayMs: values.shedEventLoopDelayMs,
      /** Time limit of a request, in milliseconds. */
      requestTimeoutMs: values.requestTimeoutSeconds * 1000,
      /** Time limit for running requests at shutdown, in milliseconds. */
      drainMs: values.drainSeconds * 1000,
      /** Age at which a connection is closed, in milliseconds; infinite for never. */
      maxConnectionAgeMs: ageMs(values.maxConnectionAgeSeconds),
      /** Time limit for streams to end at a maximum age, in milliseconds. */
      maxAgeGraceMs: values.maxConnectionAgeGraceSeconds * 1000,
      /** Age at which a stream is ended, in milliseconds; infinite for never. */
      maxStreamAgeMs: ageMs(values.maxStreamAgeSeconds),
      /** Most agents whose compiled controls are kept in memory. */
      snapshotAgents: values.snapshotAgents,
      /** Agents used last that are loaded at the start. */
      preloadAgents: values.preloadAgents,
      /** Longest time an evaluation waits for the revision required by its caller, in milliseconds. */
      minRevisionWaitMs: values.minRevisionWaitSeconds * 1000,
      /** Age of controls beyond which evaluation is refused, in milliseconds; null for never. */
      maxStalenessMs: values.maxStalenessSeconds === null ? null : values.maxStalenessSeconds * 1000,
      /** Approximate memory limit for compiled controls, in bytes. */
      snapshotBytes: values.snapshotMemoryMb * 1024 * 1024,
    },
    evaluators: {
      /** Default time limit of an evaluator, in milliseconds. */
      timeoutMs: values.evaluatorTimeoutSeconds * 1000,
      /** Names of packages and paths of modules. */
      modules: values.evaluators,
      /** Workers of one custom evaluator. */
      workers: Math.min(values.maxConcurrentEvaluations, MAX_WORKERS),
      /** The environment without the variables of the service, whose secrets evaluators must not see. */
      environment: foreignVariables(environment),
      /** Compiled evaluators that are kept although no loaded agent uses them. */
      cacheSize: values.evaluatorCacheSize,
      vendorApiKey: values.vendorApiKey,
      vendorApiUrl: values.vendorApiUrl,
    },
    observability: {
      enabled: values.observabilityEnabled,
      /** Null stands for the database of the controls. */
      store: values.eventStore,
      /** Where events are kept while ClickHouse is away. */
      spool: { directory: values.eventSpoolDirectory, maxOctets: values.eventSpoolOctets },
      /** How long the table of events of an earlier version is left as it is, in milliseconds. */
      takeoverDelayMs: values.eventTakeoverSeconds * 1000,
      stdout: values.observabilityStdout,
      record: values.observabilityRecord,
      flushIntervalSeconds: values.flushIntervalSeconds,
      readerThreads: values.eventReaderThreads,
      /** 0 keeps events forever. */
      retentionDays: values.eventRetentionDays,
    },
    eventSinks: sinksConfig(values, problems),
    /** 0 days keep entries of the audit log forever. */
    audit: { retentionDays: values.auditRetentionDays },
    telemetry: {
      /** Null when nothing is sent. */
      endpoint: otlpEndpoint(values),
      /** May contain secrets. */
      headers: values.otlpHeaders,
      signals: values.otlpSignals,
      /** Part of the evaluations without a parent that have a span, 0 to 1. */
      sampleRatio: values.otlpSampleRatio,
      metricIntervalMs: values.otlpMetricSeconds * 1000,
      serviceName: values.otlpServiceName,
      resource: values.otlpResource,
    },
    /** Unknown variables with the prefix of the service: probably misspelt. */
    unknownVariables: unknownVariables(environment),
  };
}

function fileSetting(value: string | null): string | null {
  return value?.toLowerCase() === 'off' ? 'off' : value;
}

function logLevel(word: (typeof LOG_LEVELS)[number]): 'debug' | 'info' | 'warn' | 'error' | 'fatal' {
  if (word === 'warning') return 'warn';
  return word === 'critical' ? 'fatal' : word;
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member);
  }
  return Object.freeze(value);
}

/** A maximum age; 0 stands for none. */
function ageMs(seconds: number): number {
  return seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000;
}
