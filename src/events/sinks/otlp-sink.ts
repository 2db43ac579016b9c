import type { OtlpSinkConfig } from '../../config/config-sinks.js';
import { VERSION } from '../../process/package-root.js';
import type { EventSink } from './event-sink.js';
import { otlpRecord } from './otlp-record.js';
import type { Reply, Settings } from './otlp-worker.js';
import { startSinkThread } from './sink-thread.js';

const ENTRY = new URL('./otlp-worker.js', import.meta.url);
/** Time for a request that is under way when the sink is closed, in milliseconds. */
const CLOSE_MS = 2_000;

/**
 * A receiver of OpenTelemetry, which gets each event as a log record. Delivery is at least once: after a failure or a
 * crash the events since the last stored position are sent again, with the same `control_enforcement.event.id`.
 */
export function createOtlpSink({ endpoint, headers, serviceName, resource }: OtlpSinkConfig): EventSink {
  const settings: Settings = {
    url: `${endpoint}/v1/logs`,
    headers: { ...headers },
    resource: { ...resource, 'service.name': serviceName, 'service.version': VERSION },
    version: VERSION,
  };
  return {
    name: 'otlp',
    async open(stored, first, signal) {
      const thread = startSinkThread<Reply>({
        entry: ENTRY,
        data: settings,
        secrets: Object.values(headers),
      });
      signal.addEventListener('abort', () => void thread.close(0));
      let durable: bigint;
      try {
        durable = stored ?? (await first());
      } catch (error) {
        await thread.close(CLOSE_MS);
        throw error;
      }
      return {
        start: durable,
        get durable() {
          return durable;
        },
        async take(events, upTo) {
          if (events.length > 0) await thread.request({ records: events.map(otlpRecord) });
          durable = upTo;
        },
        rest: async () => {},
        async rewind(position) {
          durable = position;
        },
        finish: async () => {},
        close: () => thread.close(CLOSE_MS),
      };
    },
  };
}
