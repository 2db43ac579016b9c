import { readFile } from 'node:fs/promises';
import { startRequestThread } from '../../supervised-worker/src/index.js';
import type { Messages, Settings } from './kafka-worker.js';

const ENTRY = new URL('./kafka-worker.js', import.meta.url);

/** Where messages go, and who sends them. */
export interface KafkaOptions {
  /** Hosts with ports. */
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly clientId: string;
  /** `caFile` is a PEM file; null for the certificate authorities of Node.js. */
  readonly tls: { readonly caFile: string | null } | null;
  readonly sasl: {
    readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
    readonly username: string;
    readonly password: string;
  } | null;
}

/** A producer in a thread of its own. Brokers drop what it sends again. The password is in no reason of a failure. */
export interface KafkaProducer {
  /** Rejects when there are no brokers or no topic: it must not be one that a broker creates with its defaults. */
  connect(): Promise<void>;
  /** Sends messages in order; resolves when the brokers have all of them for good. */
  send(messages: Messages): Promise<void>;
  /** Ends the thread, in the middle of its work if that takes longer than `limitMs`. Never rejects. */
  close(limitMs: number): Promise<void>;
}

export async function startKafkaProducer(options: KafkaOptions): Promise<KafkaProducer> {
  const { sasl } = options;
  const thread = startRequestThread({
    entry: ENTRY,
    data: await settingsOf(options),
    secrets: sasl === null ? [] : [sasl.password],
  });
  return {
    async connect() {
      await thread.request({ connect: true });
    },
    async send(messages) {
      await thread.request({ messages });
    },
    close: (limitMs) => thread.close(limitMs),
  };
}

async function settingsOf({ brokers, clientId, topic, tls, sasl }: KafkaOptions): Promise<Settings> {
  const ca = tls === null || tls.caFile === null ? null : await readFile(tls.caFile, 'utf8');
  return {
    brokers: [...brokers],
    clientId,
    topic,
    ...(tls === null ? {} : { tls: ca === null ? {} : { ca } }),
    ...(sasl === null ? {} : { sasl }),
  };
}
