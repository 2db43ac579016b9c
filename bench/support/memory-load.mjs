/** Steps of many sessions, each with an id of its own, as gRPC messages, and loads that send them. */
import { setImmediate } from 'node:timers/promises';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Stage } from '../../dist/gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  EvaluateResponseSchema,
  EvaluateStreamRequestSchema,
  EvaluateStreamResponseSchema,
} from '../../dist/gen/proto/enforcement/v1/evaluation_service_pb.js';
import { Http2Client } from './http2-client.mjs';

/** @import { EvaluateResponse } from '../../dist/gen/proto/enforcement/v1/evaluation_service_pb.js' */

const EVALUATE = '/enforcement.v1.EvaluationService/Evaluate';
const CONNECTIONS = 4;
/** Unary calls at the same time on each connection. */
const UNARY_AT_ONCE = 32;
const STREAMS = 2;
/** Messages of one stream that wait for their answer. */
const WINDOW = 64;
/** Tools that the steps call, in turn. */
export const TOOLS = 10;
const SESSION = 'session-00000000';
const STEP = 'step-000000000000';
const PREFIX = 5;

/**
 * Messages of an agent: the next step of a random session. `wrap` is for streams.
 * @param {string} agentName
 * @param {number} sessions
 * @param {boolean} isStreamed
 */
export function stepsOf(agentName, sessions, isStreamed) {
  const templates = Array.from({ length: TOOLS }, (_, tool) => {
    const step = { type: 'tool', name: `tool_${tool}`, input: { to: 'someone@example.org', amount: 12 } };
    const request = create(EvaluateRequestSchema, {
      agentName,
      stage: Stage.PRE,
      stepForm: { case: 'stepJson', value: Buffer.from(JSON.stringify(step)) },
      sessionId: SESSION,
      stepId: STEP,
    });
    const streamed = create(EvaluateStreamRequestSchema, { id: '1', evaluations: [request] });
    const body = Buffer.from(
      isStreamed ? toBinary(EvaluateStreamRequestSchema, streamed) : toBinary(EvaluateRequestSchema, request),
    );
    const message = Buffer.alloc(PREFIX + body.length);
    message.writeUInt32BE(body.length, 1);
    message.set(body, PREFIX);
    return { message, session: message.indexOf(SESSION), step: message.indexOf(STEP) };
  });
  // Of one run of the benchmark.
  const first = Math.floor(Math.random() * 1e11) * 10;
  let sent = 0;
  return () => {
    const { message, session, step } = templates[sent % TOOLS] ?? {
      message: Buffer.alloc(0),
      session: 0,
      step: 0,
    };
    const copy = Buffer.from(message);
    copy.write(
      String(Math.floor(Math.random() * sessions)).padStart(8, '0'),
      session + SESSION.length - 8,
      'latin1',
    );
    copy.write(String(first + sent).padStart(12, '0'), step + STEP.length - 12, 'latin1');
    sent += 1;
    return copy;
  };
}

/** Every step has to be allowed, by all of its controls. @param {EvaluateResponse | undefined} response */
function demandAllowed(response) {
  if (response?.isSafe === true && response.errors.length === 0) return;
  throw new Error(
    `a step was not allowed: ${response?.reason ?? response?.errors[0]?.result?.error ?? 'no response'}`,
  );
}

/** @param {string} url @param {string} path */
async function connected(url, path) {
  /** @type {(error: Error) => void} */
  let failed = () => {};
  /** @type {Promise<never>} */
  const failure = new Promise((_, reject) => {
    failed = reject;
  });
  failure.catch(() => {});
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => Http2Client.connect(url, path, (error) => failed(error))),
  );
  return { clients, failure };
}

/**
 * A unary call. Resolves once it is answered; every hundredth answer is read.
 * @param {Http2Client} client
 * @param {Buffer} message
 * @param {boolean} isRead
 * @returns {Promise<void>}
 */
function call(client, message, isRead) {
  return new Promise((resolve, reject) => {
    let reply = Buffer.alloc(0);
    const onData = (/** @type {Buffer} */ bytes) => {
      reply = Buffer.concat([reply, bytes]);
    };
    const stream = client.open(onData, () => {
      try {
        if (reply.length < PREFIX) throw new Error('a call failed');
        if (isRead) demandAllowed(fromBinary(EvaluateResponseSchema, reply.subarray(PREFIX)));
        resolve();
      } catch (error) {
        reject(error);
      }
    });
    client.write(stream, message, true);
  });
}

/**
 * As many unary calls as are answered in so many seconds, a fixed number at the same time. Returns the rate.
 * @param {string} url
 * @param {() => Buffer} next
 * @param {number} seconds
 */
export async function closedUnary(url, next, seconds) {
  const { clients, failure } = await connected(url, EVALUATE);
  const start = performance.now();
  const end = start + seconds * 1_000;
  let answered = 0;
  const work = clients.flatMap((client) =>
    Array.from({ length: UNARY_AT_ONCE }, async () => {
      while (performance.now() < end) {
        await call(client, next(), answered % 100 === 0);
        answered += 1;
      }
    }),
  );
  await Promise.race([failure, Promise.all(work)]);
  for (const client of clients) client.close();
  return (answered * 1_000) / (performance.now() - start);
}

/**
 * The same over streams.
 * @param {string} url
 * @param {() => Buffer} next
 * @param {number} seconds
 */
export async function closedStream(url, next, seconds) {
  const { clients, failure } = await connected(url, `${EVALUATE}Stream`);
  const start = performance.now();
  const end = start + seconds * 1_000;
  let all = 0;
  /** @param {Http2Client} client @returns {Promise<void>} */
  const streamOf = (client) =>
    new Promise((resolve, reject) => {
      let [sent, answered, isEnded] = [0, 0, false];
      /** @type {Buffer} */
      let rest = Buffer.alloc(0);
      const send = () => {
        for (; !isEnded && sent - answered < WINDOW; sent += 1) {
          isEnded = performance.now() >= end;
          client.write(stream, next(), isEnded);
        }
      };
      const onData = (/** @type {Buffer} */ bytes) => {
        rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
        let at = 0;
        while (rest.length - at >= PREFIX) {
          const stop = at + PREFIX + rest.readUInt32BE(at + 1);
          if (stop > rest.length) break;
          if (answered % 100 === 0) {
            const [first] = fromBinary(
              EvaluateStreamResponseSchema,
              rest.subarray(at + PREFIX, stop),
            ).results;
            try {
              demandAllowed(first?.outcome.case === 'verdict' ? first.outcome.value : undefined);
            } catch (error) {
              reject(error);
            }
          }
          at = stop;
          answered += 1;
          all += 1;
        }
        rest = rest.subarray(at);
        if (sent - answered <= WINDOW / 2) send();
      };
      const stream = client.open(onData, () => {
        if (answered === sent) resolve();
        else reject(new Error(`${answered} of ${sent} messages were answered`));
      });
      send();
    });
  const work = clients.flatMap((client) => Array.from({ length: STREAMS }, () => streamOf(client)));
  await Promise.race([failure, Promise.all(work)]);
  for (const client of clients) client.close();
  return (all * 1_000) / (performance.now() - start);
}

/**
 * Unary calls at a fixed rate, whether or not earlier ones are answered. Returns the times from when a call was due to its
 * answer, in milliseconds: calls that a slow answer has delayed count as slow, too.
 * @param {string} url
 * @param {() => Buffer} next
 * @param {number} rate
 * @param {number} seconds
 */
export async function openUnary(url, next, rate, seconds) {
  const { clients, failure } = await connected(url, EVALUATE);
  const total = Math.ceil(rate * seconds);
  /** @type {number[]} */
  const times = [];
  /** @type {Promise<void>[]} */
  const calls = [];
  const start = performance.now();
  const sending = (async () => {
    while (calls.length < total) {
      const due = Math.min(total, Math.floor(((performance.now() - start) * rate) / 1_000));
      while (calls.length < due) {
        const dueMs = start + (calls.length * 1_000) / rate;
        const client = clients[calls.length % CONNECTIONS];
        if (client === undefined) throw new Error('there is no connection');
        const answered = () => {
          times.push(performance.now() - dueMs);
        };
        calls.push(call(client, next(), calls.length % 100 === 0).then(answered));
      }
      await setImmediate();
    }
    await Promise.all(calls);
  })();
  await Promise.race([failure, sending]);
  for (const client of clients) client.close();
  return times;
}
