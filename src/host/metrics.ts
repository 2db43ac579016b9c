import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Stage } from '../evaluation/types.js';
import type { VerdictLabel } from '../evaluation-api/evaluation-service.js';
import type { EvaluatorMeter } from '../evaluators/metered.js';
import type { Evaluator } from '../evaluators/types.js';
import { createEvaluatorMetrics } from './evaluator-metrics.js';

/** Upper bounds in seconds: from well below a millisecond, where evaluations are, up to the longest requests. */
const BUCKETS = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  10, 30,
];

/** Prometheus metrics of the service. */
export interface Metrics {
  readonly contentType: string;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
  restStarted(method: string, path: string): void;
  restEnded(method: string, path: string, status: number, seconds: number): void;
  rpcStarted(rpc: string, protocol: string): void;
  rpcEnded(rpc: string, protocol: string, code: string, seconds: number): void;
  evaluated(label: VerdictLabel, stage: Stage, protocol: string): void;
  /** A call was turned away before it started. */
  callRefused(why: 'overload' | 'key-limit'): void;
  /** The meter of an evaluator, once for each. */
  meterOf(evaluator: Evaluator): EvaluatorMeter;
}

/** Figures that are asked for only when the metrics are read. */
export interface MetricSources {
  snapshotAgents(): number;
  revision(): number;
  /** Seconds since the oldest controls that still decide were certainly the latest. */
  stalenessSeconds(): number;
  databaseUp(): boolean;
  /** How late the event loop is, in seconds. */
  eventLoopDelaySeconds(): number;
  /** Running calls that count for the limit of their API key. */
  countedCalls(): number;
}

const APP_NAME = 'control-enforcement-service';

export function createMetrics(prefix: string, sources: MetricSources): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ app_name: APP_NAME });
  collectDefaultMetrics({ register: registry, prefix: `${prefix}_` });
  const registers = [registry];
  const requests = new Counter({
    name: `${prefix}_requests_total`,
    help: 'JSON requests by method, path template and status.',
    labelNames: ['method', 'path', 'status_code'],
    registers,
  });
  const durations = new Histogram({
    name: `${prefix}_request_duration_seconds`,
    help: 'Time of a JSON request from its headers to the end of its reply.',
    labelNames: ['method', 'path', 'status_code'],
    buckets: BUCKETS,
    registers,
  });
  const inProgress = new Gauge({
    name: `${prefix}_requests_in_progress`,
    help: 'JSON requests that are running.',
    labelNames: ['method', 'path'],
    registers,
  });
  const rpcs = new Counter({
    name: `${prefix}_rpcs_total`,
    help: 'gRPC, gRPC-Web and Connect calls by method, protocol and status.',
    labelNames: ['rpc', 'protocol', 'code'],
    registers,
  });
  const rpcDurations = new Histogram({
    name: `${prefix}_rpc_duration_seconds`,
    help: 'Time of a gRPC, gRPC-Web or Connect call; of a stream, its whole life.',
    labelNames: ['rpc', 'protocol'],
    buckets: BUCKETS,
    registers,
  });
  const rpcsInProgress = new Gauge({
    name: `${prefix}_rpcs_in_progress`,
    help: 'gRPC, gRPC-Web and Connect calls that are running.',
    labelNames: ['rpc', 'protocol'],
    registers,
  });
  const evaluations = new Counter({
    name: `${prefix}_evaluations_total`,
    help: 'Evaluated steps by decision (deny, steer, observe, allow, error), stage and protocol.',
    labelNames: ['decision', 'stage', 'protocol'],
    registers,
  });
  const refusals = new Counter({
    name: `${prefix}_refused_calls_total`,
    help: 'Calls turned away before they started: the server was overloaded, or their key had too many running.',
    labelNames: ['reason'],
    registers,
  });
  addSources(prefix, sources, registers);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    restStarted: (method, path) => inProgress.inc({ method, path }),
    restEnded(method, path, status, seconds) {
      inProgress.dec({ method, path });
      const labels = { method, path, status_code: String(status) };
      requests.inc(labels);
      durations.observe(labels, seconds);
    },
    rpcStarted: (rpc, protocol) => rpcsInProgress.inc({ rpc, protocol }),
    rpcEnded(rpc, protocol, code, seconds) {
      rpcsInProgress.dec({ rpc, protocol });
      rpcs.inc({ rpc, protocol, code });
      rpcDurations.observe({ rpc, protocol }, seconds);
    },
    evaluated: (decision, stage, protocol) => evaluations.inc({ decision, stage, protocol }),
    callRefused: (reason) => refusals.inc({ reason }),
    meterOf: createEvaluatorMetrics(prefix, registers),
  };
}

function addSources(prefix: string, sources: MetricSources, registers: Registry[]): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name: `${prefix}_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge('snapshot_agents', 'Agents whose compiled controls are in memory.', sources.snapshotAgents);
  gauge('revision', 'Latest revision of the stored controls that this process knows.', sources.revision);
  gauge(
    'snapshot_staleness_seconds',
    'Seconds since the oldest controls that this process decides by were certainly the latest.',
    sources.stalenessSeconds,
  );
  gauge(
    'event_loop_delay_seconds',
    'How late the event loop got to a timer last time; new calls are shed above a limit.',
    sources.eventLoopDelaySeconds,
  );
  gauge('counted_calls', 'Running calls that count for the limit of their API key.', sources.countedCalls);
  gauge('database_up', 'Whether the database answered last time it was asked.', () =>
    sources.databaseUp() ? 1 : 0,
  );
}
