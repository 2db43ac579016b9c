/**
 * A thread with a producer of Kafka, so that encoding and checksums do not delay the thread that serves requests. Plain
 * JavaScript, because a thread starts from a file and Node 20 does not read TypeScript.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Producer, stringSerializers } from '@platformatic/kafka';

/**
 * @typedef {{ brokers: string[], clientId: string, topic: string, tls?: { ca?: string },
 *   sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512', username: string, password: string } }} Settings
 * Lists of the same length: one message each.
 * @typedef {{ keys: string[], values: string[], headers: Record<string, string>[] }} Messages
 * @typedef {{ id: number } & ({ connect: true } | { messages: Messages })} Request
 * @typedef {{ id: number, failure?: string }} Reply
 */

/** Bytes of one request to a broker; brokers refuse more than about a megabyte by default. One message is always sent. */
const MAX_REQUEST_BYTES = 512 * 1024;
/** Attempts of one request, each with the same sequence number, so that the broker stores it once. */
const RETRIES = 5;
const RETRY_DELAY_MS = 300;
const TIMEOUT_MS = 10_000;

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread');

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

async function closed() {
  try {
    await producer.close(true);
  } catch {
    // It ends with the thread.
  }
}

/**
 * The messages of an error and of all errors behind it.
 * @param {unknown} error
 * @returns {string}
 */
function reasonOf(error) {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors : [];
  const causes = error.cause === undefined ? inner : [...inner, error.cause];
  const { serverErrorMessage } = /** @type {{ serverErrorMessage?: unknown }} */ (error);
  const own = typeof serverErrorMessage === 'string' ? [serverErrorMessage] : [];
  return [error.message, ...own, ...new Set(causes.map(reasonOf))].join(' ');
}

port.on('message', async (/** @type {Request | 'close'} */ request) => {
  if (request === 'close') {
    await closed();
    port.close();
    return;
  }
  /** @type {Reply} */
  let reply = { id: request.id };
  try {
    await ('messages' in request ? send(request.messages) : connect());
  } catch (error) {
    reply = { id: request.id, failure: reasonOf(error) };
  }
  port.postMessage(reply);
});
