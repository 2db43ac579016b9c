import { DiagLogLevel, diag, type HrTime } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { type CollectionResult, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { AlwaysOnSampler, BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createEvaluationTracer } from './evaluation-tracer.js';
import { metricData } from './metric-data.js';
import type { Telemetry, TelemetryOptions } from './telemetry.js';

const SCOPE = 'control-enforcement-service';
/** Spans that wait for the next export; further ones are dropped, so that a receiver that is away costs no memory. */
const MAX_WAITING_SPANS = 8_192;
const EXPORT_LIMIT_MS = 10_000;

/** Sends traces and metrics over OTLP (https://opentelemetry.io/docs/specs/otlp/), as protobuf over HTTP. */
export function createOtlp(options: TelemetryOptions): Telemetry {
  const { config, version, instanceId, measure, failures, now } = options;
  const { headers, signals, sampleRatio } = config;
  const resource = resourceFromAttributes({
    ...config.resource,
    'service.name': config.serviceName,
    'service.version': version,
    'service.instance.id': instanceId,
  });
  // The SDK reports failed exports nowhere else.
  const failed = (message: string) =>
    failures.failed('telemetry', 'telemetry cannot be sent now', new Error(message));
  diag.setLogger(
    { error: failed, warn: failed, info() {}, debug() {}, verbose() {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = (path: string) => ({
    url: `${config.endpoint}/v1/${path}`,
    headers,
    timeoutMillis: EXPORT_LIMIT_MS,
  });
  const closers: (() => Promise<void>)[] = [];

  function tracing(): Telemetry['tracer'] {
    const processor = new BatchSpanProcessor(new OTLPTraceExporter(exporter('traces')), {
      maxQueueSize: MAX_WAITING_SPANS,
    });
    const provider = new BasicTracerProvider({
      resource,
      sampler: new AlwaysOnSampler(),
      spanProcessors: [processor],
    });
    closers.push(() => provider.shutdown());
    const tracer = provider.getTracer(SCOPE, version);
    return createEvaluationTracer({ tracer, ratio: sampleRatio, random: Math.random });
  }

  function metering(): void {
    const start = hrTime(now());
    const reader = new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter(exporter('metrics')),
      exportIntervalMillis: config.metricIntervalMs,
      exportTimeoutMillis: Math.min(EXPORT_LIMIT_MS, config.metricIntervalMs),
    });
    reader.setMetricProducer({
      async collect(): Promise<CollectionResult> {
        const period = { start, end: hrTime(now()) };
        const metrics = (await measure()).flatMap((metric) => metricData(metric, period) ?? []);
        const scopeMetrics = [{ scope: { name: SCOPE, version }, metrics }];
        return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
      },
    });
    closers.push(() => reader.shutdown());
  }

  const tracer = signals.includes('traces') ? tracing() : undefined;
  if (signals.includes('metrics')) metering();
  return {
    tracer,
    async close() {
      for (const close of closers) await close().catch(() => {});
    },
  };
}

/** Seconds and nanoseconds of milliseconds since 1970. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
