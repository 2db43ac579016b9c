import { readFile } from 'node:fs/promises';
import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { KafkaConfig } from '../../config/config-sinks.js';
import { shownEvent } from '../event.js';
import type { TailEvent } from '../store/event-tail.js';
import type { EventSink } from './event-sink.js';
import type { Messages, Reply, Settings } from './kafka-worker.js';
import { startSinkThread } from './sink-thread.js';

const ENTRY = new URL('./kafka-worker.js', import.meta.url);

/** Time for requests that are under way when the producer is closed, in milliseconds. */
const CLOSE_MS = 2_000;

/**
 * A topic of Kafka. Each event is a message with the agent as its key, so that the events of an agent are in the order
 * of their commits. Delivery is at least once: brokers drop what one producer sends again, but after a failure or a
 * crash the events since the last stored position are sent by a new producer.
 */
export function createKafkaSink(config: KafkaConfig): EventSink {
  return {
    name: 'kafka',
    async open(stored, first, signal) {
      const thread = startSinkThread<Reply>({
        entry: ENTRY,
        data: await settingsOf(config),
        secrets: config.sasl === null ? [] : [config.sasl.password],
      });
      signal.addEventListener('abort', () => void thread.close(0));
      let durable: bigint;
      try {
        await thread.request({ connect: true });
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
          if (events.length > 0) await thread.request({ messages: messagesOf(events) });
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

async function settingsOf({ brokers, clientId, topic, tls, sasl }: KafkaConfig): Promise<Settings> {
  const ca = tls === null || tls.caFile === null ? null : await readFile(tls.caFile, 'utf8');
  return {
    brokers: [...brokers],
    clientId,
    topic,
    ...(tls === null ? {} : { tls: ca === null ? {} : { ca } }),
    ...(sasl === null ? {} : { sasl }),
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
    })),
  };
}

/** The event as clients get it, and its position in the log. */
function messageOf({ position, event }: TailEvent): string {
  return `{"position":${position},${stringifyJson(shownEvent(event) as JsonObject).slice(1)}`;
}
