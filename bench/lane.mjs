/**
 * What the hot lane costs: CPU of the server for 10,000 evaluations with 10 controls (half regex, half list) and a
 * step of about 600 bytes, against Connect in the same service and against the bare HTTP/2 stack with a canned reply.
 * `npm run --silent build && node bench/lane.mjs [rounds]`
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  EvaluateBatchRequestSchema,
  EvaluateRequestSchema,
  EvaluateStreamRequestSchema,
} from '../dist/gen/proto/enforcement/v1/evaluation_service_pb.js';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { streamLoad, unaryLoad } from './support/grpc-load.mjs';
import { median, report } from './support/report.mjs';

const ROUNDS = Number(process.argv[2] ?? 5);
const AGENT = 'measured-agent';
const CONTROLS = 10;
const BATCH = 32;
const SERVICE = '/enforcement.v1.EvaluationService';
/** Clock ticks of Linux in a second, as /proc counts CPU time. */
const TICKS = 100;

const text = 'Please refund the order of last week to the card that it was paid with. '.repeat(7);
const step = Buffer.from(
  JSON.stringify({ type: 'llm', name: 'answer', input: text, context: { user: 'u-1' } }),
);
const request = { agentName: AGENT, stage: 1, stepForm: { case: 'stepJson', value: step } };
const EVALUATE = framed(toBinary(EvaluateRequestSchema, create(EvaluateRequestSchema, request)));
const many = { evaluations: Array(BATCH).fill(request) };
const BATCHED = framed(toBinary(EvaluateBatchRequestSchema, create(EvaluateBatchRequestSchema, many)));
const SINGLE = streamed({ id: '1', evaluations: [request] });
const BATCHES = streamed({ id: '1', ...many });

/** Name, load, calls or messages of one round, evaluations in each. */
const LOADS = [
  ['unary', (url, count) => unaryLoad(url, `${SERVICE}/Evaluate`, EVALUATE, count), 8_000, 1],
  [
    'unary batch of 32',
    (url, count) => unaryLoad(url, `${SERVICE}/EvaluateBatch`, BATCHED, count),
    1_000,
    BATCH,
  ],
  [
    'stream of singles',
    (url, count) => streamLoad(url, `${SERVICE}/EvaluateStream`, SINGLE, count),
    24_000,
    1,
  ],
  [
    'stream of 32',
    (url, count) => streamLoad(url, `${SERVICE}/EvaluateStream`, BATCHES, count),
    1_600,
    BATCH,
  ],
];

const lane = await startServiceProcess({ SERVICE_OBSERVABILITY_RECORD: 'none' });
const connect = await startServiceProcess({
  SERVICE_OBSERVABILITY_RECORD: 'none',
  SERVICE_GRPC_HOT_LANE: 'false',
});
await Promise.all([seed(lane.url), seed(connect.url)]);
const rows = [];
for (const [name, load, count, evaluations] of LOADS) {
  // Warm, and learn the size of a reply, for the yardstick to send as much.
  const size = await load(lane.url, count);
  await load(connect.url, count / 4);
  const raw = await startRaw(size - 5);
  await load(raw.url, count);
  const found = { raw: [], lane: [], connect: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    found.raw.push(await costOf(raw, load, count, evaluations));
    found.lane.push(await costOf(lane, load, count, evaluations));
    found.connect.push(await costOf(connect, load, count / 4, evaluations));
  }
  raw.stop();
  const yardstick = median(found.raw);
  const ratio = (costs) => median(costs.map((cost, round) => cost / found.raw[round]));
  const unit = 'CPU s per 10,000 evaluations';
  rows.push({ name: `raw ${name}`, value: yardstick, unit });
  rows.push({ name: `lane ${name}`, value: median(found.lane), yardstick, ratio: ratio(found.lane), unit });
  rows.push({
    name: `connect ${name}`,
    value: median(found.connect),
    yardstick,
    ratio: ratio(found.connect),
    unit,
  });
}
report('lane', rows);
await lane.stop();
await connect.stop();

async function costOf({ url, pid }, load, count, evaluations) {
  const before = cpuSeconds(pid);
  await load(url, count);
  return ((cpuSeconds(pid) - before) * 10_000) / (count * evaluations);
}

function cpuSeconds(pid) {
  // Behind the name, which may hold blanks: fields 14 and 15 are user and system time.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

async function startRaw(replyBytes) {
  const script = join(import.meta.dirname, 'support', 'raw-http2.mjs');
  const child = spawn(process.execPath, [script, String(replyBytes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [first] = await new Promise((resolve) => child.stdout.once('data', (data) => resolve([data])));
  return { url: String(first).trim(), pid: child.pid, stop: () => child.kill() };
}

async function seed(url) {
  const call = async (method, path, body) => {
    const reply = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  await call('POST', '/agents/initAgent', { agent: { agent_name: AGENT } });
  for (let at = 0; at < CONTROLS; at += 1) {
    const evaluator =
      at % 2 === 0
        ? { name: 'regex', config: { pattern: `forbidden-${at}\\s+\\d{4}` } }
        : { name: 'list', config: { values: [`secret-${at}`, `token-${at}`], match_mode: 'contains' } };
    const condition = { selector: { path: 'input' }, evaluator };
    const data = { execution: 'server', condition, action: { decision: 'deny' } };
    const { control_id } = await call('PUT', '/controls', { name: `control-${at}`, data });
    await call('POST', `/agents/${AGENT}/controls/${control_id}`);
  }
}

function streamed(message) {
  return framed(toBinary(EvaluateStreamRequestSchema, create(EvaluateStreamRequestSchema, message)));
}

function framed(message) {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
