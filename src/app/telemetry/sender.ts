import type { TelemetrySignal } from '../../contract/config/telemetry-settings.js';
import type { TelemetryOptions } from './telemetry.js';

/** An exporter of the SDK. It tries again by itself, for the time limit of a request. */
export interface Exporter<Data> {
  export(data: Data, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/** `ExportResultCode.SUCCESS` of the SDK. */
const SUCCESS = 0;

/** Sends data, which consists of `count` items; resolves to whether the receiver took it. Never rejects. */
export type Sender<Data> = (data: Data, count: number) => Promise<boolean>;

/** Counts what an exporter sends, and logs its failures. */
export function createSender<Data>(
  signal: TelemetrySignal,
  exporter: Exporter<Data>,
  { meter, failures }: Pick<TelemetryOptions, 'meter' | 'failures'>,
): Sender<Data> {
  return async (data, count) => {
    try {
      await new Promise<void>((resolve, reject) => {
        exporter.export(data, ({ code, error }) => {
          if (code === SUCCESS) resolve();
          else reject(error ?? new Error('the exporter gave no reason'));
        });
      });
      meter(signal, 'sent', count);
      return true;
    } catch (error) {
      meter(signal, 'failed', count);
      failures.failed(`telemetry ${signal}`, `${signal} could not be sent over OTLP`, error);
      return false;
    }
  };
}
