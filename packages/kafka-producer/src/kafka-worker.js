/**
 * A thread with a producer of Kafka, so that encoding and checksums do not delay the thread that serves requests. Plain
 * JavaScript, because a thread starts from a file and Node 20 does not read TypeScript.
 */
import { workerData } from 'node:worker_threads';
import { Producer, stringSerializers } from '@platformatic/kafka';
import { answerRequests } from '../../supervised-worker/src/thread-requests.js';

/**
 * @typedef {{ brokers: string[], clientId: string, topic: string, tls?: { ca?: string },
 *   sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512', username: string, password: string } }} Settings
 * Lists of the same length: one message each.
 * @typedef {{ keys: string[], values: string[], headers: Record<string, string>[] }} Messages
 * @typedef {{ id: number } & ({ connect: true } | { messages: Messages })} Request
 */

/** Bytes of one request to a broker; brokers refuse more than about a megabyte by default. One message is always sent. */
const MAX_REQUEST_BYTES = 512 * 1024;
/** Attempts of one request, each with the same sequence number, so that the broker stores it once. */
const RETRIES = 5;
const RETRY_DELAY_MS = 300;
const TIMEOUT_MS = 10_000;

/** @type {Settings} */
const { brokers, clientId, topic, tls, sasl } = workerData;

const producer = new Producer({
  clientId,
  bootstrapBrokers: brokers,
  idempotent: true,
  serializers: stringSerializers,
  retries: RETRIES,
  retryDelay: RETRY_DELAY_MS,
  timeout: TIMEOUT_MS,
  connectTimeout: TIMEOUT_MS,
  requestTimeout: 2 * TIMEOUT_MS,
  ...(tls === undefined ? {} : { tls }),
  ...(sasl === undefined ? {} : { sasl }),
});

/**
 * Sends messages in order, as many at once as a request may have.
 * @param {Messages} messages
 */
async function send({ keys, values, headers }) {
  let bytes = 0;
  /** @type {{ topic: string, key: string, value: string, headers: Record<string, string> }[]} */
  let group = [];
  for (const [index, value] of values.entries()) {
    const size = Buffer.byteLength(value);
    if (group.length > 0 && bytes + size > MAX_REQUEST_BYTES) {
      await producer.send({ messages: group });
      group = [];
      bytes = 0;
    }
    group.push({ topic, key: keys[index] ?? '', value, headers: headers[index] ?? {} });
    bytes += size;
  }
  if (group.length > 0) await producer.send({ messages: group });
}

/** Fails if there is no topic: events must not end up in one that a broker creates with its defaults. */
async function connect() {
  await producer.metadata({ topics: [topic], autocreateTopics: false });
}

answerRequests({
  answer: (/** @type {Request} */ request) => ('messages' in request ? send(request.messages) : connect()),
  close: async () => {
    await producer.close(true);
  },
});
