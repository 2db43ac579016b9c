import { startRequestThread } from '../../../../packages/supervised-worker/src/index.js';
import type { OtlpSinkConfig } from '../../../contract/config/config-sinks.js';
import { VERSION } from '../../../contract/runtime/package-root.js';
import type { TailEvent } from '../store/event-tail.js';
import type { EventSink } from './event-sink.js';
import { openForwarding } from './forwarding-session.js';
import { otlpRecord } from './otlp-record.js';
import type { Settings } from './otlp-worker.js';

const ENTRY = new URL('./otlp-worker.js', import.meta.url);

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
    open(stored, first, signal) {
      const thread = startRequestThread({
        entry: ENTRY,
        data: settings,
        secrets: Object.values(headers),
      });
      const connect = async () => stored ?? first();
      const send = (events: readonly TailEvent[]) => thread.request({ records: events.map(otlpRecord) });
      return openForwarding({ sender: thread, connect, send }, signal);
    },
  };
}
