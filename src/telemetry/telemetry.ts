import type { Config } from '../config/config.js';
import type { TelemetrySignal } from '../config/telemetry-settings.js';
import type { EvaluationTracer } from '../decisions/traced-evaluations.js';
import type { MeasuredMetric } from '../operations/metrics.js';
import type { FactsLog, RepeatLog } from '../process/repeat-log.js';
import type { TraceFacts } from '../transport/call/call-host.js';

/** What became of spans and sets of metrics. */
export type TelemetryResult = 'sent' | 'failed' | 'dropped';

/** Counts spans, and sets of metrics. */
export type TelemetryMeter = (signal: TelemetrySignal, result: TelemetryResult, count: number) => void;

export interface TelemetryOptions {
  readonly config: Config['telemetry'];
  /** Of the service. */
  readonly version: string;
  readonly measure: () => Promise<MeasuredMetric[]>;
  readonly meter: TelemetryMeter;
  readonly log: FactsLog<'info' | 'warn'>;
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What is sent to a receiver of OpenTelemetry. */
export interface Telemetry {
  /** Undefined without traces, like `traceFacts`. */
  readonly tracer: EvaluationTracer | undefined;
  readonly traceFacts: TraceFacts | undefined;
  /** Sends what waits, for `limitMs` at most. Never rejects. */
  close(limitMs: number): Promise<void>;
}
