import {
  BOOLEAN,
  commaList,
  integerIn,
  integerOr,
  listSetting,
  numberIn,
  oneOfWords,
  type Reader,
  textLike,
  textSetting,
  textWhere,
} from './config-readers.js';
import { type ClickHouseLocation, EVENT_STORE } from './event-store-location.js';
import { isIssuer, isSafeUrl } from './oidc-settings.js';
import {
  type NamedValues,
  OTLP_ENDPOINT,
  OTLP_HEADERS,
  type OtlpSignal,
  RESOURCE_ATTRIBUTES,
  SIGNALS,
  TELEMETRY_SIGNALS,
} from './telemetry-settings.js';
import { isTrustableNetwork } from './trusted-proxies.js';

/** One variable: its names (the first one set is used), its reader, and its `--help` text. */
export interface Variable<T = unknown> {
  readonly names: readonly [string, ...string[]];
  readonly read: Reader<T>;
  readonly fallback: T;
  readonly shownDefault: string;
  readonly help: string;
  /** The value if the variable is set but blank; by default that is the same as unset. */
  readonly blank?: T;
  /** Whether the value is a secret, which can then also come from a file. */
  readonly isSecret?: boolean;
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

/** A variable for which a blank value has a meaning. */
function blankMeans<T>(blank: T, definition: Variable<T>): Variable<T> {
  return { ...definition, blank };
}

/** A variable with a secret: `NAME_FILE` can name a file that contains it, see `secret-files.ts`. */
function secret<T>(definition: Variable<T>): Variable<T> {
  return { ...definition, isSecret: true };
}

const MIB = 1024 * 1024;
const HOST_AND_PORT = /^(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}$/;
const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
export const LOG_LEVELS = ['debug', 'info', 'warn', 'warning', 'error', 'critical', 'fatal'] as const;

/** Every variable the service reads. A test compares the table in docs/configuration.md with it. */
export const VARIABLES = {
  host: variable(['SERVICE_HOST', 'HOST'], textSetting(), '0.0.0.0', 'Address to listen on.'),
  port: variable(
    ['SERVICE_PORT', 'PORT'],
    integerIn(0, 65_535, '8000'),
    8000,
    'Port to listen on; 0 picks a free one.',
  ),
  operationsPort: variable<number | null>(
    ['SERVICE_OPERATIONS_PORT'],
    integerIn(0, 65_535, '9000'),
    null,
    'Port for health, readiness and metrics, which then are not on the public one; 0 picks a free one.',
  ),
  operationsHost: variable<string | null>(
    ['SERVICE_OPERATIONS_HOST'],
    textSetting(),
    null,
    'Address of the operations port.',
    'that of SERVICE_HOST',
  ),
  reflection: variable(
    ['SERVICE_REFLECTION'],
    oneOfWords(['public', 'operations', 'off']),
    'public',
    'Where gRPC reflection is served: on the public port, on the operations port only, or nowhere.',
  ),
  debug: variable(
    ['SERVICE_DEBUG', 'DEBUG'],
    BOOLEAN,
    false,
    'Debug mode: more logging, and browsers may log in over plain http from any host.',
  ),
  tlsCertFile: variable<string | null>(
    ['SERVICE_TLS_CERT_FILE'],
    textSetting(),
    null,
    'PEM file with the certificate chain. With SERVICE_TLS_KEY_FILE it turns TLS on.',
  ),
  tlsKeyFile: variable<string | null>(
    ['SERVICE_TLS_KEY_FILE'],
    textSetting(),
    null,
    'PEM file with the private key.',
  ),
  tlsClientCaFile: variable<string | null>(
    ['SERVICE_TLS_CLIENT_CA_FILE'],
    textSetting(),
    null,
    'PEM file with the authorities of client certificates, whose names the keys file gives rights. Turns mutual TLS on.',
  ),
  tlsClientCertificates: variable(
    ['SERVICE_TLS_CLIENT_CERTIFICATES'],
    oneOfWords(['optional', 'required']),
    'optional',
    'Whether a client without a certificate of these authorities can connect, with a key for example.',
  ),
  uiEnabled: variable(['SERVICE_UI_ENABLED'], BOOLEAN, true, 'Serve the dashboard at /ui/.'),
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
  keys: secret(
    variable<readonly string[]>(['SERVICE_API_KEYS'], commaList(), [], 'Regular keys, separated by commas.'),
  ),
  adminKeys: secret(
    variable<readonly string[]>(
      ['SERVICE_ADMIN_API_KEYS'],
      commaList(),
      [],
      'Admin keys, separated by commas.',
    ),
  ),
  keysFile: variable<string | null>(
    ['SERVICE_KEYS_FILE'],
    textSetting(),
    null,
    'JSON file with keys that have names, roles, agents and times of expiry. Read again whenever it changes.',
  ),
  sessionSecret: secret(
    variable<string | null>(
      ['SERVICE_SESSION_SECRET'],
      textSetting(),
      null,
      'Signs browser sessions: a long random text, the same for every instance. A random one ends them at a restart.',
      'random',
    ),
  ),
  sessionHours: variable(
    ['SERVICE_SESSION_HOURS'],
    integerIn(1, 720, '12'),
    720,
    'How long a browser session lasts, in hours. A logout ends it earlier, in every instance.',
  ),
  oidcIssuer: variable<string | null>(
    ['SERVICE_OIDC_ISSUER'],
    textWhere(
      isIssuer,
      'an https URL without a query, exactly as in the tokens',
      'https://login.example.com',
    ),
    null,
    'Issuer of bearer tokens that are taken beside API keys, exactly as in the tokens. http only on localhost.',
  ),
  oidcAudience: variable<string | null>(
    ['SERVICE_OIDC_AUDIENCE'],
    textSetting(),
    null,
    'The audience that bearer tokens must have.',
  ),
  oidcRolesClaim: variable(
    ['SERVICE_OIDC_ROLES_CLAIM'],
    textSetting(),
    'roles',
    'Claim with the roles of a token, or the path of one, such as realm_access.roles.',
  ),
  oidcAdminRoles: variable<readonly string[]>(
    ['SERVICE_OIDC_ADMIN_ROLES'],
    commaList(),
    [],
    'Values of that claim that stand for the role admin, separated by commas.',
  ),
  oidcRegularRoles: variable<readonly string[] | '*'>(
    ['SERVICE_OIDC_REGULAR_ROLES'],
    commaList('*'),
    [],
    'Values that stand for the role regular, separated by commas, or * for every token.',
  ),
  oidcAgentsClaim: variable<string | null>(
    ['SERVICE_OIDC_AGENTS_CLAIM'],
    textSetting(),
    null,
    'Claim with the agents a token is limited to, or the path of one. Tokens without it are then refused; * in it stands for all agents.',
  ),
  oidcNameClaim: variable(
    ['SERVICE_OIDC_NAME_CLAIM'],
    textSetting(),
    'sub',
    'Claim with the name of a caller in logs and the audit log, or the path of one.',
  ),
  oidcClockToleranceSeconds: variable(
    ['SERVICE_OIDC_CLOCK_TOLERANCE_SECONDS'],
    integerIn(0, 300, '30'),
    30,
    'How far the clocks of issuer and service may differ.',
  ),
  oidcClientId: variable<string | null>(
    ['SERVICE_OIDC_CLIENT_ID'],
    textSetting(),
    null,
    'The client that browsers log in with at the issuer. Without it, the dashboard takes keys only.',
  ),
  oidcClientSecret: secret(
    variable<string | null>(
      ['SERVICE_OIDC_CLIENT_SECRET'],
      textSetting(),
      null,
      'Secret of that client. Without it, it is a public client.',
    ),
  ),
  oidcScopes: variable<readonly string[]>(
    ['SERVICE_OIDC_SCOPES'],
    commaList(),
    ['openid', 'profile'],
    'Scopes of a login, separated by commas; openid is always one.',
    'openid,profile',
  ),
  oidcName: variable<string | null>(
    ['SERVICE_OIDC_NAME'],
    textSetting(),
    null,
    'Name of the issuer at the login.',
    'host of the issuer',
  ),
  oidcRedirectUrl: variable<string | null>(
    ['SERVICE_OIDC_REDIRECT_URL'],
    textWhere(isSafeUrl, 'an https URL', 'https://controls.example.com/api/oidc/callback'),
    null,
    'Address of the callback as registered at the issuer, which ends with /oidc/callback.',
    'that of the request',
  ),
  corsOrigins: variable<readonly string[] | '*'>(
    ['SERVICE_CORS_ORIGINS', 'CORS_ORIGINS'],
    commaList('*'),
    '*',
    'Origins that browsers may call from, separated by commas, or *. Credentials only for listed origins; without API keys, changes too, but for pages on localhost.',
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
  strictDefinitions: variable(
    ['SERVICE_STRICT_DEFINITIONS'],
    BOOLEAN,
    false,
    'Refuse definitions and query parameters that would otherwise be accepted with warnings; a request can ask for it too.',
  ),
  agentsWithoutControls: variable<'warn' | 'deny'>(
    ['SERVICE_AGENTS_WITHOUT_CONTROLS'],
    oneOfWords(['warn', 'deny']),
    'warn',
    'Steps of agents without an enabled control of the service: warn allows them with a line in the log, deny denies them.',
  ),
  stepSchemas: variable<'off' | 'warn' | 'enforce'>(
    ['SERVICE_STEP_SCHEMAS'],
    oneOfWords(['off', 'warn', 'enforce']),
    'warn',
    'Steps are compared with the schemas that their agent registered: off does not, warn reports a difference, enforce denies the step. An administrator can set it for one agent too.',
  ),
  duplicateMembers: variable<'refuse' | 'last'>(
    ['SERVICE_DUPLICATE_MEMBERS'],
    oneOfWords(['refuse', 'last']),
    'refuse',
    'JSON requests in which an object has a member twice: refused, or the last one counts. What then runs the step may read the other one.',
  ),
  maxBodyBytes: variable(
    ['SERVICE_MAX_BODY_BYTES'],
    integerIn(1024, 256 * MIB, '8388608'),
    8 * MIB,
    'Largest request body and gRPC message, in bytes.',
  ),
  maxStreamsPerConnection: variable(
    ['SERVICE_MAX_STREAMS_PER_CONNECTION'],
    integerIn(1, 100_000, '256'),
    256,
    'Calls a client may have running on one HTTP/2 connection, streams among them.',
  ),
  maxCallsPerKey: variable(
    ['SERVICE_MAX_CALLS_PER_KEY'],
    integerIn(0, 1_000_000, '10000'),
    10_000,
    'Calls of one API key that may run at the same time, streams among them; 0 for any number.',
  ),
  maxConnections: variable(
    ['SERVICE_MAX_CONNECTIONS'],
    integerIn(1, 1_000_000, '10000'),
    10_000,
    'Open connections of each process; further ones are closed at once.',
  ),
  maxConnectionsPerAddress: variable(
    ['SERVICE_MAX_CONNECTIONS_PER_ADDRESS'],
    integerIn(1, 1_000_000, '5000'),
    5_000,
    'Open connections from one address (of IPv6, one /64 network), so that no address takes them all; trusted proxies are not bounded.',
  ),
  maxPublicCalls: variable(
    ['SERVICE_MAX_PUBLIC_CALLS'],
    integerIn(1, 1_000_000, '1024'),
    1_024,
    'Calls without a key that may run at the same time, such as health watches and reflection; each holds memory.',
  ),
  maxPublicCallsPerAddress: variable(
    ['SERVICE_MAX_PUBLIC_CALLS_PER_ADDRESS'],
    integerIn(1, 1_000_000, '256'),
    256,
    'The same for one address.',
  ),
  maxPublicCallsPerConnection: variable(
    ['SERVICE_MAX_PUBLIC_CALLS_PER_CONNECTION'],
    integerIn(1, 1_000_000, '32'),
    32,
    'The same for one connection.',
  ),
  publicCallsPerSecond: variable(
    ['SERVICE_PUBLIC_CALLS_PER_SECOND'],
    integerIn(1, 1_000_000, '4000'),
    4_000,
    'Calls a second without a valid key; metrics and public RPCs count as five. About a fifth of what one process can answer.',
  ),
  publicCallsPerSecondPerAddress: variable(
    ['SERVICE_PUBLIC_CALLS_PER_SECOND_PER_ADDRESS'],
    integerIn(1, 1_000_000, '1000'),
    1_000,
    'The same for one address.',
  ),
  maxCallsPerSecondPerKey: variable(
    ['SERVICE_MAX_CALLS_PER_SECOND_PER_KEY'],
    integerIn(0, 10_000_000, '5000'),
    0,
    'Calls of one API key a second, each evaluation of a batch or stream counted; 0 for any number.',
  ),
  trustProxy: variable<readonly string[]>(
    ['SERVICE_TRUST_PROXY'],
    listSetting(
      isTrustableNetwork,
      'addresses, networks, loopback or private, separated by commas',
      '10.0.0.0/8',
    ),
    [],
    'Proxies whose X-Forwarded-For names the client: addresses, networks such as 10.0.0.0/8, loopback or private, separated by commas.',
  ),
  maxConnectionBufferBytes: variable(
    ['SERVICE_MAX_CONNECTION_BUFFER_BYTES'],
    integerIn(65_536, 4096 * MIB, '67108864'),
    64 * MIB,
    'Bytes of unanswered requests on one connection; two of the largest always fit.',
  ),
  maxAddressBufferBytes: variable(
    ['SERVICE_MAX_ADDRESS_BUFFER_BYTES'],
    integerIn(65_536, 1_048_576 * MIB, '100663296'),
    96 * MIB,
    'Bytes of unanswered requests of one address, so that no address takes all of the process; two of the largest always fit.',
  ),
  maxKeyBufferBytes: variable(
    ['SERVICE_MAX_KEY_BUFFER_BYTES'],
    integerIn(65_536, 1_048_576 * MIB, '100663296'),
    96 * MIB,
    'The same for one API key.',
  ),
  maxBufferBytes: variable(
    ['SERVICE_MAX_BUFFER_BYTES'],
    integerIn(65_536, 1_048_576 * MIB, '134217728'),
    128 * MIB,
    'Bytes of unanswered requests in each process, which take up to three times as much memory; two of the largest always fit.',
  ),
  shedEventLoopDelayMs: variable(
    ['SERVICE_SHED_EVENT_LOOP_DELAY_MS'],
    integerIn(0, 60_000, '1000'),
    1_000,
    'Turn evaluations away while the process is this late, in milliseconds, other calls with a key at half of it, those without at an eighth; 0 for never.',
  ),
  grpcLane: variable(
    ['SERVICE_GRPC_LANE', 'SERVICE_GRPC_HOT_LANE'],
    BOOLEAN,
    true,
    'Serve plain gRPC evaluations on the HTTP/2 stream itself, beneath the general server. Off: through Connect. Clients see no difference.',
  ),
  restLane: variable(
    ['SERVICE_REST_LANE'],
    BOOLEAN,
    true,
    'Serve REST evaluations on the HTTP/1.1 request itself, beneath the general server. Off: through Fastify. Clients see no difference.',
  ),
  webLane: variable(
    ['SERVICE_WEB_LANE'],
    BOOLEAN,
    true,
    'Serve unary evaluations over gRPC-Web and Connect on the request itself, beneath the general server. Off: through Connect. Clients see no difference.',
  ),
  workers: variable<number | 'auto'>(
    ['SERVICE_WORKERS'],
    integerOr('auto', 1, 256, '2'),
    1,
    'Processes that serve the port together; auto: one for each core.',
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
  maxConnectionAgeSeconds: variable(
    ['SERVICE_MAX_CONNECTION_AGE_SECONDS'],
    numberIn(0, 604_800, '1800'),
    1_800,
    'Age, ±10 %, at which a connection is closed without losing a call, so that clients spread over all processes; 0 for never.',
  ),
  maxConnectionAgeGraceSeconds: variable(
    ['SERVICE_MAX_CONNECTION_AGE_GRACE_SECONDS'],
    numberIn(0, 3600, '30'),
    30,
    'Longest time streams get to end, after the notice, once they or their connection have reached the maximum age.',
  ),
  maxStreamAgeSeconds: variable(
    ['SERVICE_MAX_STREAM_AGE_SECONDS'],
    numberIn(0, 604_800, '1800'),
    1_800,
    'Age, ±10 %, at which a stream of evaluations, events or controls gets a notice and ends; 0 for never.',
  ),
  snapshotAgents: variable(
    ['SERVICE_SNAPSHOT_MAX_AGENTS'],
    integerIn(1, 10_000_000, '1000000'),
    1_000_000,
    'Agents kept in memory, a few hundred bytes each; the least recently used ones go first.',
  ),
  preloadAgents: variable(
    ['SERVICE_PRELOAD_AGENTS'],
    integerIn(0, 1_000_000, '0'),
    0,
    'Agents used last that a process loads at its start, before it is ready; after 30 seconds, readiness waits no longer. 0 loads each agent at its first evaluation.',
  ),
  snapshotMemoryMb: variable(
    ['SERVICE_SNAPSHOT_MAX_MEMORY_MB'],
    integerIn(1, 1_000_000, '512'),
    512,
    'About how much memory agents and their compiled controls may take; the least recently used agents go first.',
  ),
  lastKnownGood: blankMeans(
    'off',
    variable<string | null>(
      ['SERVICE_LAST_KNOWN_GOOD'],
      textSetting(),
      null,
      'File with the last known controls of all agents, for times without the database. Empty or off: none.',
      'beside the SQLite file; for PostgreSQL in ./data',
    ),
  ),
  databaseExpected: variable(
    ['SERVICE_DATABASE_EXPECTED'],
    oneOfWords(['any', 'existing']),
    'any',
    'existing: never create a database. Until there is one, evaluate by the last known controls or refuse.',
  ),
  migrate: variable(
    ['SERVICE_MIGRATE'],
    oneOfWords(['auto', 'check', 'off']),
    'auto',
    'At the start, auto applies missing migrations, check refuses a database that lacks any, off does not look.',
  ),
  migrateDatabaseUrl: secret(
    variable<string | null>(
      ['SERVICE_MIGRATE_DB_URL'],
      textSetting(),
      null,
      'Address of the PostgreSQL database with the user that may change its structure; only migrations use it.',
    ),
  ),
  minRevisionWaitSeconds: variable(
    ['SERVICE_MIN_REVISION_WAIT_SECONDS'],
    numberIn(0, 60, '2'),
    2,
    'Longest time an evaluation waits for the revision that its caller demands.',
  ),
  maxStalenessSeconds: variable<number | null>(
    ['SERVICE_MAX_STALENESS_SECONDS'],
    // Twice the polling interval: with less, a healthy process would refuse.
    numberIn(2, 31_536_000, '60'),
    null,
    'Refuse to evaluate by controls that were last known to be the latest longer ago than this. Not set: never refuse.',
  ),
  evaluators: variable<readonly string[]>(
    ['SERVICE_EVALUATORS'],
    commaList(),
    [],
    'Custom evaluators, separated by commas: npm packages, or files and folders by paths that begin with ./ or /.',
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
    'Checks of one custom evaluator at the same time, each in a process of its own; at most 64.',
  ),
  evaluatorCacheSize: variable(
    ['EVALUATOR_CACHE_SIZE'],
    integerIn(1, 10_000_000, '10000'),
    10_000,
    'Compiled evaluators kept for controls that no loaded agent has any more. Agents always share equal ones.',
  ),
  vendorApiKey: secret(
    variable<string | null>(
      ['VENDOR_API_KEY'],
      textSetting(),
      null,
      'Key of the external model evaluator, vendor.model. Without it, its controls cannot be evaluated.',
    ),
  ),
  vendorApiUrl: variable<string | null>(
    ['VENDOR_API_URL'],
    textLike(/^https?:\/\/\S+$/, 'an http or https URL', 'https://models.example.com'),
    null,
    'Endpoint of the external model evaluator; it is asked at /v1/score below this address.',
  ),
  observabilityEnabled: variable(
    ['SERVICE_OBSERVABILITY_ENABLED', 'OBSERVABILITY_ENABLED'],
    BOOLEAN,
    true,
    'Event store on or off.',
  ),
  eventStore: secret(
    variable<ClickHouseLocation | null>(
      ['SERVICE_EVENT_STORE'],
      EVENT_STORE,
      null,
      'Where events are stored: `database`, with the controls, or `clickhouse://user:password@host:8123/database`.',
      'database',
    ),
  ),
  eventSpoolDirectory: variable(
    ['SERVICE_EVENT_SPOOL_DIR'],
    textSetting(),
    'data/event-spool',
    'Directory for events while ClickHouse is away. Processes may share it. Not used with `SERVICE_EVENT_STORE=database`.',
  ),
  eventSpoolOctets: variable(
    ['SERVICE_EVENT_SPOOL_BYTES'],
    integerIn(MIB, 1_048_576 * MIB, '1073741824'),
    1024 * MIB,
    'Most bytes of events that a process keeps there. Further events are refused with 503.',
  ),
  eventTakeoverSeconds: variable(
    ['SERVICE_EVENT_TAKEOVER_SECONDS'],
    integerIn(0, 86_400, '0'),
    600,
    'How long after its start a process leaves the table of events as it found it in the database of a version before 7.8: longer than processes of that version run beside it.',
  ),
  observabilityStdout: variable(['SERVICE_OBSERVABILITY_STDOUT'], BOOLEAN, false, 'Log each ingested event.'),
  observabilityRecord: variable(
    ['SERVICE_OBSERVABILITY_RECORD'],
    oneOfWords(['none', 'matches', 'all']),
    'matches',
    'What the service records itself: none, matches (and errors), or all (non-matches too).',
  ),
  flushIntervalSeconds: variable(
    ['SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS', 'OBSERVABILITY_FLUSH_INTERVAL_SECONDS'],
    numberIn(0.01, 3600, '10'),
    10,
    'How often the service writes the events that it records itself. While a process has streams of `WatchEvents`, it writes at least every 0.25 seconds.',
  ),
  eventReaderThreads: variable(
    ['SERVICE_EVENT_READER_THREADS'],
    integerIn(0, 16, '2'),
    1,
    'Threads of each process that read and check large messages with events, so that evaluations do not wait for them; 0 reads them in the thread that evaluates. One reads about 60,000 events a second.',
  ),
  eventRetentionDays: variable(
    ['SERVICE_EVENT_RETENTION_DAYS'],
    integerIn(0, 36_500, '90'),
    30,
    'Days that events are kept; 0 keeps them for ever. Statistics cover a year in any case.',
  ),
  kafkaBrokers: variable<readonly string[]>(
    ['SERVICE_EVENT_KAFKA_BROKERS'],
    listSetting(
      (entry) => HOST_AND_PORT.test(entry),
      'hosts with ports, separated by commas',
      'kafka-1:9092',
    ),
    [],
    'Kafka brokers that every stored event is sent to: hosts with ports, separated by commas.',
    'none',
  ),
  kafkaTopic: variable(
    ['SERVICE_EVENT_KAFKA_TOPIC'],
    textLike(/^[A-Za-z0-9._-]{1,249}$/, 'a name of letters, digits, ., _ and -', 'control-events'),
    'control-events',
    'Topic for events. It must exist.',
  ),
  kafkaClientId: variable(
    ['SERVICE_EVENT_KAFKA_CLIENT_ID'],
    textLike(/^\S+$/, 'a text without spaces', 'control-enforcement-service'),
    'control-enforcement-service',
    'Name of the service in the logs and quotas of brokers.',
  ),
  kafkaTls: variable(['SERVICE_EVENT_KAFKA_TLS'], BOOLEAN, false, 'Use TLS to the brokers.'),
  kafkaCaFile: variable<string | null>(
    ['SERVICE_EVENT_KAFKA_CA_FILE'],
    textSetting(),
    null,
    'PEM file with the certificate authorities of the brokers.',
    'those of Node.js',
  ),
  kafkaSaslMechanism: variable<(typeof SASL_MECHANISMS)[number] | null>(
    ['SERVICE_EVENT_KAFKA_SASL_MECHANISM'],
    oneOfWords(SASL_MECHANISMS),
    null,
    'How to authenticate to the brokers: plain, scram-sha-256 or scram-sha-512.',
    'none',
  ),
  kafkaUsername: variable<string | null>(
    ['SERVICE_EVENT_KAFKA_USERNAME'],
    textSetting(),
    null,
    'Name to authenticate with.',
  ),
  kafkaPassword: secret(
    variable<string | null>(
      ['SERVICE_EVENT_KAFKA_PASSWORD'],
      textSetting(),
      null,
      'Password to authenticate with.',
    ),
  ),
  kafkaFrom: variable(
    ['SERVICE_EVENT_KAFKA_FROM'],
    oneOfWords(['oldest', 'now']),
    'oldest',
    'Where the first delivery begins: with the oldest stored event, or with those stored from now on.',
  ),
  parquet: variable<string | null>(
    ['SERVICE_EVENT_PARQUET'],
    textLike(
      /^(?!s3:)|^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[^?#]*)?$/,
      'a folder, or s3://BUCKET/PREFIX',
      's3://audit/events',
    ),
    null,
    'Folder, or s3://BUCKET/PREFIX, that every stored event is written to as Parquet files.',
    'none',
  ),
  parquetFrom: variable(
    ['SERVICE_EVENT_PARQUET_FROM'],
    oneOfWords(['oldest', 'now']),
    'oldest',
    'Where an empty folder begins: with the oldest stored event, or with those stored from now on.',
  ),
  parquetIntervalSeconds: variable(
    ['SERVICE_EVENT_PARQUET_INTERVAL_SECONDS'],
    integerIn(1, 3600, '3600'),
    3600,
    'Longest time that a file collects events before it is written; at the end of each hour it is written in any case.',
  ),
  parquetMaxRows: variable(
    ['SERVICE_EVENT_PARQUET_MAX_ROWS'],
    integerIn(1, 10_000_000, '1000000'),
    1_000_000,
    'Events after which a file is written earlier.',
  ),
  parquetMaxBytes: variable(
    ['SERVICE_EVENT_PARQUET_MAX_BYTES'],
    integerIn(65_536, 1024 * MIB, '67108864'),
    64 * MIB,
    'Bytes after which a file is written earlier. They are kept in memory until then.',
  ),
  s3Endpoint: variable<string | null>(
    ['SERVICE_EVENT_S3_ENDPOINT'],
    textLike(/^https?:\/\/[^\s/?#]+\/?$/, 'an http or https URL without a path', 'http://minio:9000'),
    null,
    'Address of an S3-compatible store.',
    'that of AWS in the region',
  ),
  s3Region: variable(
    ['SERVICE_EVENT_S3_REGION'],
    textLike(/^[a-z0-9-]+$/, 'the name of a region', 'eu-central-1'),
    'us-east-1',
    'Region of the bucket.',
  ),
  s3PathStyle: variable(
    ['SERVICE_EVENT_S3_PATH_STYLE'],
    BOOLEAN,
    false,
    'Name the bucket in the path of requests instead of the host, as many S3-compatible stores need it.',
  ),
  s3AccessKeyId: variable<string | null>(
    ['SERVICE_EVENT_S3_ACCESS_KEY_ID'],
    textSetting(),
    null,
    'Id of the key for the bucket.',
  ),
  s3SecretAccessKey: secret(
    variable<string | null>(
      ['SERVICE_EVENT_S3_SECRET_ACCESS_KEY'],
      textSetting(),
      null,
      'The key for the bucket.',
    ),
  ),
  s3SessionToken: secret(
    variable<string | null>(
      ['SERVICE_EVENT_S3_SESSION_TOKEN'],
      textSetting(),
      null,
      'Token of a temporary key.',
    ),
  ),
  auditRetentionDays: variable(
    ['SERVICE_AUDIT_RETENTION_DAYS'],
    integerIn(0, 36_500, '400'),
    0,
    'Days that entries of the audit log are kept; 0 keeps them for ever.',
  ),
  otlpEndpoint: variable<string | null>(
    ['SERVICE_OTLP_ENDPOINT'],
    textLike(
      OTLP_ENDPOINT,
      'an http or https URL without a name, password and query',
      'http://localhost:4318',
    ),
    null,
    'Receiver of OpenTelemetry (OTLP over HTTP), without `/v1/…`. Without it, nothing is traced or sent.',
  ),
  otlpHeaders: secret(
    variable<NamedValues>(
      ['SERVICE_OTLP_HEADERS'],
      OTLP_HEADERS,
      {},
      'Headers for that receiver: `name=value`, separated by commas, with %-encoded values.',
      '',
    ),
  ),
  otlpSignals: variable<readonly OtlpSignal[]>(
    ['SERVICE_OTLP_SIGNALS'],
    SIGNALS,
    TELEMETRY_SIGNALS,
    'What is sent to it: some of `traces,metrics,events`. Stored events are sent as log records.',
  ),
  otlpSampleRatio: variable(
    ['SERVICE_OTLP_SAMPLE_RATIO'],
    numberIn(0, 1, '0.01'),
    1,
    'Part of the evaluations without a `traceparent` that have a span, 0 to 1; with one, its flag decides.',
  ),
  otlpMetricSeconds: variable(
    ['SERVICE_OTLP_METRIC_SECONDS'],
    numberIn(1, 3600, '15'),
    60,
    'Seconds between two sets of metrics that are sent.',
  ),
  otlpServiceName: variable(
    ['SERVICE_OTLP_SERVICE_NAME'],
    textSetting(),
    'control-enforcement',
    'Name of the service in traces and metrics.',
  ),
  otlpResource: variable<NamedValues>(
    ['SERVICE_OTLP_RESOURCE_ATTRIBUTES'],
    RESOURCE_ATTRIBUTES,
    {},
    'Further attributes of the service in traces and metrics: `name=value`, separated by commas, with %-encoded values.',
    '',
  ),
} as const satisfies Record<string, Variable<never> | Variable>;

/** What the variables are set to, by their keys. */
export type SettingValues = { readonly [Key in keyof typeof VARIABLES]: (typeof VARIABLES)[Key]['fallback'] };
