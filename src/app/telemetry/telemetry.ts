import type { Config } from '../../contract/config/config.js';
import type { FactsLog, RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { EvaluationTracer } from '../../decide/decisions/traced-evaluations.js';
import type { TraceFacts } from '../../serve/call/call-host.js';
import type { MeasuredMetric, Metrics } from '../operations/metrics.js';

export interface TelemetryOptions {
  readonly config: Config['telemetry'];
  /** Of the service. */
  readonly version: string;
  readonly measure: () => Promise<MeasuredMetric[]>;
  readonly meter: Metrics['telemetry'];
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
