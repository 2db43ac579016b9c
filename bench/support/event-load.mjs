/**
 * Sends events as fast as they are taken, from a thread of its own: over several connections, each with the next batch
 * ready before the reply to the last one. `workerData` says where to and what; it ends with a word from outside.
 */
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import os from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

// Load comes from other machines: it must not take the processors from what is measured. A thread's own, on Linux.
if (process.platform === 'linux') os.setPriority(10);

/**
 * @typedef {{
 *   url: string, batch: number, connections: number, agents: number, controls: number, spreadDays: number
 * }} EventLoad
 */
/** @type {EventLoad} */
const { url, batch, connections, agents, controls, spreadDays } = workerData;
const DAY_MS = 86_400_000;

/** Everything but the id and the time, by the number of the event: a generator must not be what is measured. */
const REST = Array.from({ length: agents * controls }, (_, index) => {
  const control = Math.floor(index / agents) % controls;
  const rest = JSON.stringify({
    agent_name: `bench-agent-0${index % agents}`,
    control_id: control,
    control_name: `bench-control-${control}`,
    check_stage: index % 2 === 0 ? 'pre' : 'post',
    applies_to: index % 5 === 0 ? 'tool_call' : 'llm_call',
    action: ['deny', 'steer', 'observe'][index % 3],
    matched: index % 4 === 0,
    confidence: (index % 1000) / 1000,
    execution_duration_ms: (index % 100) / 8,
    evaluator_name: 'regex',
    selector_path: 'input.text',
    error_message: null,
    metadata: {},
  });
  return rest.slice(1);
});

let made = 0;
function event() {
  const id = randomUUID();
  const ageMs = spreadDays === 0 ? 0 : Math.random() * spreadDays * DAY_MS;
  const time = new Date(Date.now() - ageMs).toISOString();
  made += 1;
  const ids = `"control_execution_id":"${id}","trace_id":"${id.replaceAll('-', '')}","span_id":"${id.slice(0, 8)}"`;
  return `{${ids},"timestamp":"${time}",${REST[made % REST.length]}`;
}
const body = () => `{"events":[${Array.from({ length: batch }, event).join(',')}]}`;

const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
/**
 * @param {string} text
 * @returns {Promise<void>}
 */
function send(text) {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/api/v1/observability/events`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const reply = Buffer.concat(chunks).toString();
        if (response.statusCode === 202 && JSON.parse(reply).status === 'queued') resolve();
        else reject(new Error(`not stored: ${response.statusCode} ${reply}`));
      });
    });
    request.end(text);
  });
}

let stopping = false;
parentPort?.once('message', () => {
  stopping = true;
});
let stored = 0;
const started = performance.now();
await Promise.all(
  Array.from({ length: connections }, async () => {
    for (let text = body(); !stopping; ) {
      const sent = send(text);
      text = body();
      await sent;
      stored += batch;
    }
  }),
);
agent.destroy();
parentPort?.postMessage({ stored, seconds: (performance.now() - started) / 1000 });
