import { randomUUID } from 'node:crypto';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { AlwaysOnSampler, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { timeLimited } from '../../contract/call/time-limited.js';
import type { TelemetrySignal } from '../../contract/config/telemetry-settings.js';
import { createEvaluationTracer } from './evaluation-tracer.js';
import { createMetricExport } from './metric-export.js';
import { createSender } from './sender.js';
import { SpanQueue } from './span-queue.js';
import type { Telemetry, TelemetryOptions } from './telemetry.js';
import { createTraceNotes } from './trace-notes.js';

const SCOPE_NAME = 'control-enforcement-service';
/** About 10 MB of memory. */
const MAX_WAITING_SPANS = 8_192;
/** They are encoded without a break, in the thread that serves: about 2 ms. */
const SPANS_IN_REQUEST = 256;
/** Longest time that a span waits for others, in milliseconds. */
const SPAN_DELAY_MS = 500;
/** Time limit of a request with all its repetitions, in milliseconds. */
const EXPORT_LIMIT_MS = 10_000;

/** Sends traces and metrics over OTLP (https://opentelemetry.io/docs/specs/otlp/), as protobuf over HTTP. */
export function createOtlp(endpoint: string, options: TelemetryOptions): Telemetry {
  const { config, version, log, measure, meter, failures, now } = options;
  const resource = resourceFromAttributes({
    ...config.resource,
    'service.name': config.serviceName,
    'service.version': version,
    // Tells the processes of a service apart.
    'service.instance.id': randomUUID(),
  });
  const exporterOf = (signal: TelemetrySignal) => ({
    url: `${endpoint}/v1/${signal}`,
    headers: { ...config.headers },
    timeoutMillis: EXPORT_LIMIT_MS,
  });

  function tracing() {
    const exporter = new OTLPTraceExporter(exporterOf('traces'));
    const queue = new SpanQueue({
      send: createSender<ReadableSpan[]>('traces', exporter, options),
      maxWaiting: MAX_WAITING_SPANS,
      batch: SPANS_IN_REQUEST,
      delayMs: SPAN_DELAY_MS,
      meter,
      failures,
    });
    const provider = new TracerProvider({
      resource,
      // Only what is sampled comes to the SDK.
      sampler: new AlwaysOnSampler(),
      spanProcessors: [queue],
    });
    const notes = createTraceNotes();
    const tracer = createEvaluationTracer({
      tracer: provider.getTracer(SCOPE_NAME, version),
      ratio: config.sampleRatio,
      random: Math.random,
      genAi: config.genAi,
      notes,
    });
    return { tracer, traceFacts: notes.facts, queue };
  }

  function metering() {
    const exporter = new OTLPMetricExporter(exporterOf('metrics'));
    return createMetricExport({
      send: createSender<ResourceMetrics>('metrics', exporter, options),
      resource,
      scope: { name: SCOPE_NAME, version },
      intervalMs: config.metricIntervalMs,
      measure,
      now,
      failures,
    });
  }

  const traces = config.signals.includes('traces') ? tracing() : undefined;
  const metrics = config.signals.includes('metrics') ? metering() : undefined;
  return {
    tracer: traces?.tracer,
    traceFacts: traces?.traceFacts,
    async close(limitMs) {
      await timeLimited(Promise.all([traces?.queue.shutdown(), metrics?.close()]), limitMs, () => {});
      const lost = traces?.queue.drop() ?? 0;
      if (lost > 0) log.warn({ lost }, 'spans were lost at shutdown');
    },
  };
}
