import { stringifyJson } from '../../../../packages/exact-json/src/index.js';
import { type Messages, startKafkaProducer } from '../../../../packages/kafka-producer/src/index.js';
import { namespaceOfKey } from '../../../contract/call/namespace.js';
import type { KafkaConfig } from '../../../contract/config/config-sinks.js';
import type { TailEvent } from '../store/event-tail.js';
import type { EventSink } from './event-sink.js';
import { cloudEvent } from './formats/cloud-event.js';
import { controlOutcome } from './formats/control-outcome.js';
import { ocsfEvent } from './formats/ocsf-event.js';
import { type ExportSource, plainData } from './formats/plain-event.js';
import { openForwarding } from './forwarding-session.js';

/**
 * A topic of Kafka. Each event is a message with the key of the agent as its key, so that the events of an agent are in the order
 * of their commits. Delivery is at least once: brokers drop what one producer sends again, but after a failure or a
 * crash the events since the last stored position are sent by a new producer.
 */
export function createKafkaSink({ format, ...config }: KafkaConfig, source: () => ExportSource): EventSink {
  return {
    name: 'kafka',
    async open(stored, first, signal) {
      const producer = await startKafkaProducer(config);
      const connect = async () => {
        await producer.connect();
        return stored ?? first();
      };
      const write = VALUES[format];
      const from = source();
      const send = (events: readonly TailEvent[]) =>
        producer.send(
          messagesOf(events, write.contentType, (event) => stringifyJson(write.value(event, from))),
        );
      return openForwarding({ sender: producer, connect, send }, signal);
    },
  };
}

/**
 * The value of a message by the format. CloudEvents are in structured mode
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md, 3.3).
 */
const VALUES = {
  json: { contentType: 'application/json', value: plainData },
  cloudevents: { contentType: 'application/cloudevents+json', value: cloudEvent },
  ocsf: { contentType: 'application/json', value: ocsfEvent },
} as const;

function messagesOf(
  events: readonly TailEvent[],
  contentType: string,
  textOf: (event: TailEvent) => string,
): Messages {
  return {
    keys: events.map(({ event }) => event.agent_name),
    values: events.map(textOf),
    headers: events.map(({ event }) => ({
      'content-type': contentType,
      action: event.action,
      matched: String(event.matched),
      outcome: controlOutcome(event),
      namespace: namespaceOfKey(event.agent_name),
    })),
  };
}
