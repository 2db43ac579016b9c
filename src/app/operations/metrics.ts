import { type Aggregator, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { AdapterMeter } from '../../../packages/adapters/src/index.js';
import { VERSION } from '../../contract/runtime/package-root.js';
import type { ApprovalMeter } from '../../decide/approvals/approval-meter.js';
import type { VerdictLabel } from '../../decide/decisions/revised-verdict.js';
import type { MemoryMeter } from '../../decide/memory/memory-meter.js';
import type { Evaluator } from '../../kernel/core/evaluator.js';
import type { Stage } from '../../kernel/core/types.js';
import type { EvaluatorMeter } from '../../kernel/evaluators/metered.js';
import type { CountMeter } from '../../observe/events/counts/count-meter.js';
import type { ObservabilityMeter } from '../../observe/events/observability-meter.js';
import type { SinkMeter } from '../../observe/events/sinks/sink-meter.js';
import type { SampleMeter } from '../../observe/samples/sample-meter.js';
import type { RefusalMeter } from '../../serve/admission/refusals.js';
import type { CallMeter } from '../../serve/call/call-host.js';
import type { DatabaseOperation } from '../../storage/database/metered-database.js';
import { createApprovalMetrics } from './approval-metrics.js';
import { createCountMetrics } from './count-metrics.js';
import { createEvaluatorMetrics } from './evaluator-metrics.js';
import { createDatabaseMetrics, createEventMetrics } from './event-metrics.js';
import { createMemoryMetrics } from './memory-metrics.js';
import { createMetricKinds } from './metric-kinds.js';
import { addSources, type MetricSources } from './metric-sources.js';
import { addOpenStreams, createRefusalMetrics } from './refusal-metrics.js';
import { createSampleMetrics } from './sample-metrics.js';
import { createSinkMetrics } from './sink-metrics.js';

/**
 * Upper bounds in seconds: from well below a millisecond, for evaluations, up to the longest requests. Each is a line for
 * each RPC and status.
 */
const BUCKETS = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10, 30];

/** One metric as data, for aggregation over several processes. */
export interface MeasuredMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** How the values of several processes are combined; see the `Aggregator` of prom-client. */
  readonly aggregator: Aggregator;
  readonly values: readonly MeasuredValue[];
}

export interface MeasuredValue {
  /** Null if it is not a number. */
  readonly value: number | null;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Set for the parts of a histogram. */
  readonly metricName?: string;
}

/** Prometheus metrics of the service. */
export interface Metrics extends CallMeter, RefusalMeter {
  readonly contentType: string;
  /** Adds the values that are read on each scrape. Must be called once. */
  observe(sources: MetricSources): void;
  /** All metrics in the Prometheus text format. */
  text(): Promise<string>;
  /** All metrics as data. */
  measure(): Promise<MeasuredMetric[]>;
  evaluated(label: VerdictLabel, stage: Stage, protocol: string): void;
  /** Counts a step that differs from its registered schemas. */
  mismatched(stage: Stage, mode: 'warn' | 'enforce'): void;
  /** Creates the meter of an evaluator; once for each. */
  meterOf(evaluator: Evaluator): EvaluatorMeter;
  /** The meter of the event store. */
  readonly events: ObservabilityMeter;
  /** The meter of the counts of evaluations. */
  readonly evaluationCounts: CountMeter;
  /** Counts a keys file or TLS files that were read again. */
  reloaded(file: 'keys' | 'tls', result: 'used' | 'refused'): void;
  /** The meter of the event sinks. */
  readonly eventSinks: SinkMeter;
  /** The meter of the memory of controls. */
  readonly memory: MemoryMeter;
  /** The meter of approvals. */
  readonly approvals: ApprovalMeter;
  /** The meter of samples. */
  readonly samples: SampleMeter;
  /** The meter of adapters. */
  readonly adapters: AdapterMeter;
  /** Counts what was to be sent over OTLP. */
  telemetry(signal: 'traces' | 'metrics', result: 'sent' | 'failed' | 'dropped', count: number): void;
  /** Records a finished database operation. */
  databaseTimed(operation: DatabaseOperation, seconds: number): void;
}

const APP_NAME = 'control-enforcement-service';

export function createMetrics(prefix: string): Metrics {
  const ofProcess = createProcessRegistry(prefix);
  const registry = createRegistry();
  const registers = [registry];
  let streams: MetricSources['streams'] | null = null;
  const { counts, levels, durations } = createMetricKinds(prefix, registers);
  addInfo(prefix, registers);
  const requests = counts('requests_total', 'JSON requests by method, path template and status.', [
    'method',
    'path',
    'status_code',
  ]);
  const requestDurations = durations(
    'request_duration_seconds',
    'Time of a JSON request from its headers to the end of its reply.',
    ['method', 'path', 'status_code'],
    BUCKETS,
  );
  const inProgress = levels('requests_in_progress', 'JSON requests that are running.', ['method', 'path']);
  const rpcs = counts('rpcs_total', 'gRPC, gRPC-Web and Connect calls by method, protocol and status.', [
    'rpc',
    'protocol',
    'code',
  ]);
  const rpcDurations = durations(
    'rpc_duration_seconds',
    'Time of a gRPC, gRPC-Web or Connect call; of a stream, its whole life.',
    ['rpc', 'protocol'],
    BUCKETS,
  );
  const rpcsInProgress = levels('rpcs_in_progress', 'gRPC, gRPC-Web and Connect calls that are running.', [
    'rpc',
    'protocol',
  ]);
  const evaluations = counts(
    'evaluations_total',
    'Evaluated steps by decision (deny, steer, observe, allow, error), stage and protocol.',
    ['decision', 'stage', 'protocol'],
  );
  const mismatches = counts(
    'step_schema_mismatches_total',
    'Evaluated steps that differ from the schemas that their agent registered, by stage and mode (warn, enforce).',
    ['stage', 'mode'],
  );
  const adapted = counts(
    'adapter_steps_total',
    'Requests to adapters, by adapter and outcome (allow, deny, steer, ask, modify; error: not evaluated and denied; unchecked: not evaluated and allowed; refused: denied or answered with an error, because the request is invalid, its key or agent is not allowed, or a limit is reached).',
    ['adapter', 'outcome'],
  );
  const reloads = counts(
    'file_reloads_total',
    'Changed files that were read while serving, by what they contain (keys, tls) and result (used, refused).',
    ['file', 'result'],
  );
  const telemetry = counts(
    'telemetry_items_total',
    'Spans (signal traces) and sets of metrics (signal metrics) for the receiver of OTLP, by result: sent; failed, it did not take them; dropped, too many waited.',
    ['signal', 'result'],
  );
  const refusals = createRefusalMetrics(prefix, registers);
  addOpenStreams(prefix, registers, { rpcsInProgress, inProgress, streams: () => streams?.() ?? null });
  return {
    observe(sources) {
      streams = sources.streams;
      addSources(prefix, sources, registers);
    },
    contentType: registry.contentType,
    text: async () => (await ofProcess.metrics()) + (await registry.metrics()),
    measure: async () => [...(await measure(ofProcess)), ...(await measure(registry))],
    restStarted(method, path) {
      inProgress.of(method, path).value += 1;
    },
    restEnded(method, path, status, seconds) {
      inProgress.of(method, path).value -= 1;
      const code = String(status);
      requests.of(method, path, code).value += 1;
      requestDurations.of(method, path, code).add(seconds);
    },
    rpcStarted(rpc, protocol) {
      rpcsInProgress.of(rpc, protocol).value += 1;
    },
    rpcEnded(rpc, protocol, code, seconds) {
      rpcsInProgress.of(rpc, protocol).value -= 1;
      rpcs.of(rpc, protocol, code).value += 1;
      rpcDurations.of(rpc, protocol).add(seconds);
    },
    evaluated(decision, stage, protocol) {
      evaluations.of(decision, stage, protocol).value += 1;
    },
    mismatched(stage, mode) {
      mismatches.of(stage, mode).value += 1;
    },
    reloaded(file, result) {
      reloads.of(file, result).value += 1;
    },
    telemetry(signal, result, count) {
      telemetry.of(signal, result).value += count;
    },
    ...refusals,
    meterOf: createEvaluatorMetrics(prefix, registers),
    events: createEventMetrics(prefix, registers),
    evaluationCounts: createCountMetrics(prefix, registers),
    eventSinks: createSinkMetrics(prefix, registers),
    memory: createMemoryMetrics(prefix, registers),
    approvals: createApprovalMetrics(prefix, registers),
    samples: createSampleMetrics(prefix, registers),
    adapters: {
      adapted: (adapter, outcome) => {
        adapted.of(adapter, outcome).value += 1;
      },
    },
    databaseTimed: createDatabaseMetrics(prefix, registers),
  };
}

function addInfo(prefix: string, registers: Registry[]): void {
  const help = 'Processes that serve, by the version of the service.';
  new Gauge({ name: `${prefix}_info`, help, labelNames: ['version'], registers }).set(
    { version: VERSION },
    1,
  );
}

function createRegistry(): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ app_name: APP_NAME });
  return registry;
}

/**
 * A registry with the default metrics of a process. Their garbage collection observer, and therefore the
 * registry, lives as long as the process: metrics of a service that may be closed must not be added.
 */
function createProcessRegistry(prefix: string): Registry {
  const registry = createRegistry();
  collectDefaultMetrics({ register: registry, prefix: `${prefix}_` });
  // Gauges with the name of counters; each is the sum of one that has types as labels.
  for (const name of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`${prefix}_nodejs_active_${name}_total`);
  }
  return registry;
}

/** The metrics of a registry as data. */
export async function measure(registry: Registry): Promise<MeasuredMetric[]> {
  // The declared type of a metric is a number, but the value is a string.
  return (await registry.getMetricsAsJSON()) as unknown as MeasuredMetric[];
}

/** Values of the process that supervises others. */
export interface SupervisorSources {
  /** Processes that serve. */
  workers(): number;
  /** Processes that ended unexpectedly. */
  crashes(): number;
}

/**
 * Metrics of a process that supervises others and serves no requests: its CPU time and memory, which are part
 * of the service, but not values such as the delay of its event loop, which would distort those of the
 * others.
 */
export function createSupervisorMetrics(
  prefix: string,
  sources: SupervisorSources,
): () => Promise<MeasuredMetric[]> {
  const registry = createProcessRegistry(prefix);
  const { gauge, counter } = createMetricKinds(prefix, [registry]);
  gauge('workers', 'Processes that serve.', 'sum', sources.workers);
  counter('worker_crashes_total', 'Serving processes that ended unasked.', sources.crashes);
  const ofProcess = [`${prefix}_process_`, `${prefix}_worker`];
  const startTime = `${prefix}_process_start_time_seconds`;
  return async () => {
    const all = await measure(registry);
    return all
      .filter(({ name }) => ofProcess.some((start) => name.startsWith(start)))
      .map((metric) => (metric.name === startTime ? { ...metric, aggregator: 'min' } : metric));
  };
}
