import type { Telemetry, TelemetryOptions } from './telemetry.js';

/** Loads the SDK only when telemetry is configured: it takes time and memory. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  if (options.config.endpoint === null) return { tracer: undefined, close: async () => {} };
  const { createOtlp } = await import('./otlp.js');
  return createOtlp(options);
}
