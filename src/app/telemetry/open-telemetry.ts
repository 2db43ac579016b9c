import { TELEMETRY_SIGNALS } from '../../contract/config/telemetry-settings.js';
import type { Telemetry, TelemetryOptions } from './telemetry.js';

/** Without an endpoint no package of OpenTelemetry is loaded: they take time and memory. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { endpoint, signals } = options.config;
  const isSent = TELEMETRY_SIGNALS.some((signal) => signals.includes(signal));
  if (endpoint === null || !isSent)
    return { tracer: undefined, traceFacts: undefined, close: async () => {} };
  const { createOtlp } = await import('./otlp.js');
  const telemetry = createOtlp(endpoint, options);
  options.log.info({ endpoint, signals }, 'telemetry is sent over OTLP');
  return telemetry;
}
