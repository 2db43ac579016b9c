/**
 * Evaluations by unary gRPC, one after the other, from a process of its own: what an agent waits for. In the parent,
 * `startProbe` starts it; in the child, this file answers `{ seconds }` with the times in milliseconds.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { create, toBinary } from '@bufbuild/protobuf';
import { EvaluateRequestSchema } from '../../dist/gen/proto/enforcement/v1/evaluation_service_pb.js';
import { Http2Client } from './http2-client.mjs';

const PATH = '/enforcement.v1.EvaluationService/Evaluate';
const STEP = { type: 'llm', name: 'answer', input: 'a quick brown fox' };

/**
 * Evaluates for an agent of the service at `url`.
 * @param {string} url
 * @param {string} agentName
 */
export async function startProbe(url, agentName) {
  const child = fork(import.meta.filename, [url, agentName], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return {
    pid: child.pid,
    /**
     * The times of all evaluations within so many seconds.
     * @param {number} seconds
     * @returns {Promise<number[]>}
     */
    async times(seconds) {
      child.send({ seconds });
      const [times] = await once(child, 'message');
      return times;
    },
    stop: () => child.kill(),
  };
}

/** Prefix of a message: flags and length. */
const PREFIX = 5;

/** @param {string} agentName */
function messageFor(agentName) {
  const value = Buffer.from(JSON.stringify(STEP));
  const bytes = toBinary(
    EvaluateRequestSchema,
    create(EvaluateRequestSchema, { agentName, stage: 1, stepForm: { case: 'stepJson', value } }),
  );
  const message = Buffer.alloc(PREFIX + bytes.length);
  message.writeUInt32BE(bytes.length, 1);
  message.set(bytes, PREFIX);
  return message;
}

/** @param {string} url @param {string} agentName */
async function probe(url, agentName) {
  /** @param {Error} error */
  const fail = (error) => {
    throw error;
  };
  const client = await Http2Client.connect(url, PATH, fail);
  const message = messageFor(agentName);
  /** @returns {Promise<void>} */
  const evaluate = () =>
    new Promise((resolve) => {
      let received = 0;
      // Only an answer has a message.
      const onEnd = () => (received > PREFIX ? resolve() : fail(new Error('an evaluation failed')));
      const call = client.open((bytes) => {
        received += bytes.length;
      }, onEnd);
      client.write(call, message, true);
    });
  process.on('message', async (/** @type {{ seconds: number }} */ { seconds }) => {
    const times = [];
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      const start = performance.now();
      await evaluate();
      times.push(performance.now() - start);
    }
    process.send?.(times);
  });
  process.once('disconnect', () => process.exit());
  process.send?.('ready');
}

const [, main, url = '', agentName = ''] = process.argv;
if (main === import.meta.filename) await probe(url, agentName);
