import type { HrTime } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { metricData } from './metric-data.js';
import type { Sender } from './sender.js';
import type { TelemetryOptions } from './telemetry.js';

export interface MetricExportOptions extends Pick<TelemetryOptions, 'measure' | 'now' | 'failures'> {
  readonly send: Sender<ResourceMetrics>;
  readonly resource: Resource;
  readonly scope: { readonly name: string; readonly version: string };
  readonly intervalMs: number;
}

/** Sends the metrics of the process at an interval. */
export interface MetricExport {
  /** Sends them a last time. */
  close(): Promise<void>;
}

export function createMetricExport(options: MetricExportOptions): MetricExport {
  const { measure, now, failures, send, resource, scope, intervalMs } = options;
  const start = hrTime(now());
  let sending: Promise<void> | undefined;

  async function measureAndSend(): Promise<void> {
    try {
      const period = { start, end: hrTime(now()) };
      const measured = (await measure()).flatMap((metric) => metricData(metric, period) ?? []);
      const metrics = measured.filter(({ dataPoints }) => dataPoints.length > 0);
      await send({ resource, scopeMetrics: [{ scope, metrics }] }, 1);
    } catch (error) {
      failures.failed('telemetry measuring', 'metrics could not be read for OTLP', error);
    }
  }
  /** One at a time: the next set contains what an omitted one would. */
  function sendUnlessSending(): Promise<void> {
    sending ??= measureAndSend().finally(() => {
      sending = undefined;
    });
    return sending;
  }

  const timer = setInterval(() => void sendUnlessSending(), intervalMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await sending;
      await sendUnlessSending();
    },
  };
}

/** Seconds and nanoseconds of whole milliseconds since 1970. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
