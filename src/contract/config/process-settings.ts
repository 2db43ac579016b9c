import { availableParallelism } from 'node:os';
import {
  BOOLEAN,
  converted,
  inMs,
  integerIn,
  MIB,
  numberIn,
  type Reader,
  textLike,
  wordOf,
} from './config-readers.js';
import { setting } from './setting.js';

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

const LOG_LEVEL = converted(
  wordOf('debug', 'info', 'warn', 'warning', 'error', 'critical', 'fatal'),
  (word): LogLevel => (word === 'warning' ? 'warn' : word === 'critical' ? 'fatal' : word),
);

/** What the process tells about itself. */
export const REPORTS = {
  metricsPrefix: setting(
    ['SERVICE_PROMETHEUS_METRICS_PREFIX', 'PROMETHEUS_METRICS_PREFIX'],
    'control_enforcement_server',
    converted(
      textLike(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/, 'letters, digits, _ and :, no digit first', 'enforcement'),
      (prefix) => prefix.replace(/_+$/, ''),
    ),
  ).help('Prefix of the metric names.'),
  log: {
    level: setting('SERVICE_LOG_LEVEL', null, LOG_LEVEL).help(
      'debug, info, warn, error or fatal, in any case.',
      'info (debug in debug mode)',
    ),
    json: setting('SERVICE_LOG_JSON', false, BOOLEAN).help('Log JSON lines instead of readable ones.'),
  },
};

const COUNT = integerIn(1, 256, '2');

/** A number of processes; auto for one for each core. */
const PROCESSES: Reader<number> = {
  ...COUNT,
  read: (text) => (text.toLowerCase() === 'auto' ? availableParallelism() : COUNT.read(text)),
  expected: `${COUNT.expected}, or auto`,
};

/** A maximum age in milliseconds; 0 stands for none. */
const AGE = converted(numberIn(0, 604_800), (seconds) =>
  seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000,
);

/** How many processes serve calls, in which way, for how long, and how much they keep in memory. */
export const PROCESS = {
  grpcLane: setting(['SERVICE_GRPC_LANE', 'SERVICE_GRPC_HOT_LANE'], true, BOOLEAN).help(
    'Serve plain gRPC evaluations on the HTTP/2 stream itself, beneath the general server. Off: through Connect. Clients see no difference.',
  ),
  restLane: setting('SERVICE_REST_LANE', true, BOOLEAN).help(
    'Serve REST evaluations on the HTTP/1.1 request itself, beneath the general server. Off: through Fastify. Clients see no difference.',
  ),
  webLane: setting('SERVICE_WEB_LANE', true, BOOLEAN).help(
    'Serve unary evaluations over gRPC-Web and Connect on the request itself, beneath the general server. Off: through Connect. Clients see no difference.',
  ),
  workers: setting('SERVICE_WORKERS', 1, PROCESSES).help(
    'Processes that serve the port together; auto: one for each core.',
  ),
  limits: {
    requestTimeoutMs: setting('SERVICE_REQUEST_TIMEOUT_SECONDS', 30, inMs(numberIn(0.1, 3600))).help(
      'Longest time a request may take.',
    ),
    drainMs: setting('SERVICE_DRAIN_SECONDS', 10, inMs(numberIn(0, 3600))).help(
      'Longest time running requests get at shutdown.',
    ),
    maxConnectionAgeMs: setting('SERVICE_MAX_CONNECTION_AGE_SECONDS', 1_800, AGE).help(
      'Age, ±10 %, at which a connection is closed without losing a call, so that clients spread over all processes; 0 for never.',
    ),
    maxAgeGraceMs: setting('SERVICE_MAX_CONNECTION_AGE_GRACE_SECONDS', 30, inMs(numberIn(0, 3600))).help(
      'Longest time streams get to end, after the notice, once they or their connection have reached the maximum age.',
    ),
    maxStreamAgeMs: setting('SERVICE_MAX_STREAM_AGE_SECONDS', 1_800, AGE).help(
      'Age, ±10 %, at which a stream of evaluations, events or controls gets a notice and ends; 0 for never.',
    ),
    snapshotAgents: setting('SERVICE_SNAPSHOT_MAX_AGENTS', 1_000_000, integerIn(1, 10_000_000)).help(
      'Agents kept in memory, a few hundred bytes each; the least recently used ones go first.',
    ),
    preloadAgents: setting('SERVICE_PRELOAD_AGENTS', 0, integerIn(0, 1_000_000)).help(
      'Agents used last that a process loads at its start, before it is ready; after 30 seconds, readiness waits no longer. 0 loads each agent at its first evaluation.',
    ),
    snapshotBytes: setting(
      'SERVICE_SNAPSHOT_MAX_MEMORY_MB',
      512,
      converted(integerIn(1, 1_000_000), (megabytes) => megabytes * MIB),
    ).help(
      'About how much memory agents and their compiled controls may take; the least recently used agents go first.',
    ),
  },
};
