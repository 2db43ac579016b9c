import type { Config } from '../config/config.js';
import type { EvaluationTracer } from '../decisions/traced-evaluations.js';
import type { MeasuredMetric } from '../operations/metrics.js';
import type { RepeatLog } from '../process/repeat-log.js';

export interface TelemetryOptions {
  readonly config: Config['telemetry'];
  readonly version: string;
  /** Tells the processes of a service from each other. */
  readonly instanceId: string;
  readonly measure: () => Promise<MeasuredMetric[]>;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What is sent to a receiver of OpenTelemetry. */
export interface Telemetry {
  /** Undefined without traces. */
  readonly tracer: EvaluationTracer | undefined;
  /** Sends what waits, for some seconds at most. Never rejects. */
  close(): Promise<void>;
}
