import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parse as parseDotenv } from 'dotenv';
import type { AdmissionLimits } from './admission-limits.js';
import { databaseUrl, databaseVariable, type Environment, migrationUrl } from './config-database.js';
import { otlpEndpoint, type SinksConfig, sinksConfig } from './config-sinks.js';
import { type LOG_LEVELS, VARIABLES, type Variable } from './config-variables.js';
import {
  foreignVariables,
  isBlank,
  isSet,
  misspelledVariables,
  REFUSED,
  unknownVariables,
} from './environment.js';
import type { ClickHouseLocation } from './event-store-location.js';
import { type OidcSettings, oidcSettings } from './oidc-settings.js';
import { withSecretFiles } from './secret-files.js';
import type { TelemetryConfig } from './telemetry-settings.js';
import { type TlsSettings, tlsSettings } from './tls-settings.js';

/** Configuration of the service. Read once at start, then frozen. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly debug: boolean;
  /** Separate address for health, readiness and metrics; null for the public port. */
  readonly operations: { readonly host: string; readonly port: number } | null;
  readonly reflection: 'public' | 'operations' | 'off';
  /** Whether the dashboard is served. */
  readonly uiEnabled: boolean;
  /** Proxies whose X-Forwarded-For is trusted: addresses, networks, and names of networks. */
  readonly trustedProxies: readonly string[];
  /** Null without TLS. */
  readonly tls: TlsSettings | null;
  /** First part of the path of the JSON routes, for example `/api`; the only prefix of the session routes. */
  readonly apiPrefix: string;
  /** Prefix of all other JSON routes, for example `/api/v1`. */
  readonly apiBase: string;
  readonly databaseUrl: string;
  /** The variable that sets it, for errors about the database. */
  readonly databaseVariable: string;
  /** Whether a missing database may be created. */
  readonly databaseExpected: 'any' | 'existing';
  /** What happens to missing migrations, and the address that they are applied with; null for `databaseUrl`. */
  readonly migration: { readonly mode: 'auto' | 'check' | 'off'; readonly url: string | null };
  /** Path of the file with the last known good state; `off` for none, null for the default path. */
  readonly lastKnownGood: string | null;
  readonly auth: {
    readonly enabled: boolean;
    readonly keys: readonly string[];
    readonly adminKeys: readonly string[];
    /** File with more keys, which may change; null for none. */
    readonly keysFile: string | null;
    readonly sessionSecret: string | null;
    /** How long a browser session lasts, in seconds. */
    readonly sessionSeconds: number;
    /** Bearer tokens; null without an issuer. */
    readonly oidc: OidcSettings | null;
  };
  readonly cors: {
    readonly origins: readonly string[] | '*';
    readonly methods: readonly string[] | '*';
    readonly headers: readonly string[] | '*';
  };
  /** Number of processes that serve the port. */
  readonly workers: number;
  /** Whether definitions with warnings, and unknown query parameters, are refused. */
  readonly strictDefinitions: boolean;
  /** JSON requests with a member that occurs twice in an object are refused, or the last one counts. */
  readonly duplicateMembers: 'refuse' | 'last';
  readonly agentsWithoutControls: 'warn' | 'deny';
  readonly stepSchemas: 'off' | 'warn' | 'enforce';
  /** Whether plain gRPC evaluations are served without Connect. */
  readonly grpcLane: boolean;
  /** Whether REST evaluations over HTTP/1.1 are served without Fastify. */
  readonly restLane: boolean;
  /** Whether unary evaluations over gRPC-Web and Connect are served without Connect. */
  readonly webLane: boolean;
  readonly metricsPrefix: string;
  readonly log: {
    readonly level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
    readonly json: boolean;
  };
  readonly limits: {
    /** Largest request body and gRPC message, in bytes. */
    readonly bodyBytes: number;
    /** Streams on one HTTP/2 connection. */
    readonly streamsPerConnection: number;
    /** Limits for connections, addresses, keys and callers without a key. */
    readonly admission: AdmissionLimits;
    /** Delay of the event loop above which new calls are refused, in milliseconds; 0 for never. */
    readonly shedDelayMs: number;
    /** Time limit of a request, in milliseconds. */
    readonly requestTimeoutMs: number;
    /** Time limit for running requests at shutdown, in milliseconds. */
    readonly drainMs: number;
    /** Age at which a connection is closed, in milliseconds; infinite for never. */
    readonly maxConnectionAgeMs: number;
    /** Time limit for streams to end at a maximum age, in milliseconds. */
    readonly maxAgeGraceMs: number;
    /** Age at which a stream is ended, in milliseconds; infinite for never. */
    readonly maxStreamAgeMs: number;
    /** Most agents whose compiled controls are kept in memory. */
    readonly snapshotAgents: number;
    /** Agents used last that are loaded at the start. */
    readonly preloadAgents: number;
    /** Longest time an evaluation waits for the revision required by its caller, in milliseconds. */
    readonly minRevisionWaitMs: number;
    /** Age of controls beyond which evaluation is refused, in milliseconds; null for never. */
    readonly maxStalenessMs: number | null;
    /** Approximate memory limit for compiled controls, in bytes. */
    readonly snapshotBytes: number;
  };
  readonly evaluators: {
    /** Default time limit of an evaluator, in milliseconds. */
    readonly timeoutMs: number;
    /** Names of packages and paths of modules. */
    readonly modules: readonly string[];
    /** Workers of one custom evaluator. */
    readonly workers: number;
    /** The environment without the variables of the service, whose secrets evaluators must not see. */
    readonly environment: Readonly<Record<string, string>>;
    /** Compiled evaluators that are kept although no loaded agent uses them. */
    readonly cacheSize: number;
    readonly vendorApiKey: string | null;
    readonly vendorApiUrl: string | null;
  };
  readonly observability: {
    readonly enabled: boolean;
    /** How long the table of events of an earlier version is left as it is, in milliseconds. */
    readonly takeoverDelayMs: number;
    /** Null stands for the database of the controls. */
    readonly store: ClickHouseLocation | null;
    /** Where events are kept while ClickHouse is away. */
    readonly spool: { readonly directory: string; readonly maxOctets: number };
    readonly stdout: boolean;
    readonly record: 'none' | 'matches' | 'all';
    readonly flushIntervalSeconds: number;
    readonly readerThreads: number;
    /** 0 keeps events forever. */
    readonly retentionDays: number;
  };
  readonly eventSinks: SinksConfig;
  /** 0 days keep entries of the audit log forever. */
  readonly audit: { readonly retentionDays: number };
  readonly telemetry: TelemetryConfig;
  /** Unknown variables with the prefix of the service: probably misspelt. */
  readonly unknownVariables: readonly string[];
}

/** Most processes per custom evaluator: each has its own memory. */
const MAX_WORKERS = 64;

/** The environment is invalid. `message` lists each variable, its problem and an example. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

type Values = { [K in keyof typeof VARIABLES]: (typeof VARIABLES)[K]['fallback'] };

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
  const config = assemble(values as Values, url, environment, problems);
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

function assemble(values: Values, url: string, environment: Environment, problems: string[]): Config {
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
    operations:
      values.operationsPort === null
        ? null
        : { host: values.operationsHost ?? values.host, port: values.operationsPort },
    reflection: values.reflection,
    uiEnabled: values.uiEnabled,
    trustedProxies: values.trustProxy,
    tls,
    apiPrefix: values.apiPrefix,
    apiBase: `${values.apiPrefix}/${values.apiVersion}`,
    databaseUrl: url,
    databaseVariable: databaseVariable(environment),
    databaseExpected: values.databaseExpected,
    migration: { mode: values.migrate, url: migrationUrl(values.migrateDatabaseUrl, url, problems) },
    lastKnownGood: fileSetting(values.lastKnownGood),
    auth: {
      enabled: values.authEnabled,
      keys: values.keys,
      adminKeys: values.adminKeys,
      keysFile: values.keysFile,
      sessionSecret: values.sessionSecret,
      sessionSeconds: values.sessionHours * 60 * 60,
      oidc,
    },
    cors: { origins: values.corsOrigins, methods: values.corsMethods, headers: values.corsHeaders },
    workers: values.workers === 'auto' ? availableParallelism() : values.workers,
    strictDefinitions: values.strictDefinitions,
    duplicateMembers: values.duplicateMembers,
    agentsWithoutControls: values.agentsWithoutControls,
    stepSchemas: values.stepSchemas,
    grpcLane: values.grpcLane,
    restLane: values.restLane,
    webLane: values.webLane,
    metricsPrefix: values.metricsPrefix.replace(/_+$/, ''),
    log: { level: logLevel(values.logLevel ?? (values.debug ? 'debug' : 'info')), json: values.logJson },
    limits: {
      bodyBytes: values.maxBodyBytes,
      streamsPerConnection: values.maxStreamsPerConnection,
      admission: admissionLimits(values),
      shedDelayMs: values.shedEventLoopDelayMs,
      requestTimeoutMs: values.requestTimeoutSeconds * 1000,
      drainMs: values.drainSeconds * 1000,
      maxConnectionAgeMs: ageMs(values.maxConnectionAgeSeconds),
      maxAgeGraceMs: values.maxConnectionAgeGraceSeconds * 1000,
      maxStreamAgeMs: ageMs(values.maxStreamAgeSeconds),
      snapshotAgents: values.snapshotAgents,
      preloadAgents: values.preloadAgents,
      minRevisionWaitMs: values.minRevisionWaitSeconds * 1000,
      maxStalenessMs: values.maxStalenessSeconds === null ? null : values.maxStalenessSeconds * 1000,
      snapshotBytes: values.snapshotMemoryMb * 1024 * 1024,
    },
    evaluators: {
      timeoutMs: values.evaluatorTimeoutSeconds * 1000,
      modules: values.evaluators,
      workers: Math.min(values.maxConcurrentEvaluations, MAX_WORKERS),
      environment: foreignVariables(environment),
      cacheSize: values.evaluatorCacheSize,
      vendorApiKey: values.vendorApiKey,
      vendorApiUrl: values.vendorApiUrl,
    },
    observability: {
      enabled: values.observabilityEnabled,
      store: values.eventStore,
      spool: { directory: values.eventSpoolDirectory, maxOctets: values.eventSpoolOctets },
      takeoverDelayMs: values.eventTakeoverSeconds * 1000,
      stdout: values.observabilityStdout,
      record: values.observabilityRecord,
      flushIntervalSeconds: values.flushIntervalSeconds,
      readerThreads: values.eventReaderThreads,
      retentionDays: values.eventRetentionDays,
    },
    eventSinks: sinksConfig(values, problems),
    audit: { retentionDays: values.auditRetentionDays },
    telemetry: {
      endpoint: otlpEndpoint(values),
      headers: values.otlpHeaders,
      signals: values.otlpSignals,
      sampleRatio: values.otlpSampleRatio,
      metricIntervalMs: values.otlpMetricSeconds * 1000,
      serviceName: values.otlpServiceName,
      resource: values.otlpResource,
    },
    unknownVariables: unknownVariables(environment),
  };
}

function admissionLimits(values: Values): AdmissionLimits {
  // The largest message must fit along with the data received after it.
  const bytes = (setting: number): number => Math.max(setting, 2 * values.maxBodyBytes);
  return {
    connections: values.maxConnections,
    connectionsPerAddress: values.maxConnectionsPerAddress,
    publicCalls: values.maxPublicCalls,
    publicCallsPerAddress: values.maxPublicCallsPerAddress,
    publicCallsPerConnection: values.maxPublicCallsPerConnection,
    publicCallsPerSecond: values.publicCallsPerSecond,
    publicCallsPerSecondPerAddress: values.publicCallsPerSecondPerAddress,
    callsPerKey: values.maxCallsPerKey,
    callsPerSecondPerKey: values.maxCallsPerSecondPerKey,
    connectionBytes: bytes(values.maxConnectionBufferBytes),
    addressBytes: bytes(values.maxAddressBufferBytes),
    keyBytes: bytes(values.maxKeyBufferBytes),
    totalBytes: bytes(values.maxBufferBytes),
  };
}

function fileSetting(value: string | null): string | null {
  return value?.toLowerCase() === 'off' ? 'off' : value;
}

function logLevel(word: (typeof LOG_LEVELS)[number]): Config['log']['level'] {
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
