import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { type Messages, startKafkaProducer } from '../../../packages/kafka-producer/src/index.js';
import type { KafkaConfig } from '../../config/config-sinks.js';
import { namespaceOfKey } from '../../contract/call/namespace.js';
import { forwardedEvent } from '../store/event.js';
import type { TailEvent } from '../store/event-tail.js';
import type { EventSink } from './event-sink.js';
import { openForwarding } from './forwarding-session.js';

/**
 * A topic of Kafka. Each event is a message with the key of the agent as its key, so that the events of an agent are in the order
 * of their commits. Delivery is at least once: brokers drop what one producer sends again, but after a failure or a
 * crash the events since the last stored position are sent by a new producer.
 */
export function createKafkaSink(config: KafkaConfig): EventSink {
  return {
    name: 'kafka',
    async open(stored, first, signal) {
      const producer = await startKafkaProducer(config);
      const connect = async () => {
        await producer.connect();
        return stored ?? first();
      };
      const send = (events: readonly TailEvent[]) => producer.send(messagesOf(events));
      return openForwarding({ sender: producer, connect, send }, signal);
    },
  };
}

function messagesOf(events: readonly TailEvent[]): Messages {
  return {
    keys: events.map(({ event }) => event.agent_name),
    values: events.map(messageOf),
    headers: events.map(({ event }) => ({
      'content-type': 'application/json',
      action: event.action,
      matched: String(event.matched),
      namespace: namespaceOfKey(event.agent_name),
    })),
  };
}

/** The event as clients get it, its namespace, and its position in the log. */
function messageOf({ position, event }: TailEvent): string {
  return `{"position":${position},${stringifyJson(forwardedEvent(event) as JsonObject).slice(1)}`;
}
