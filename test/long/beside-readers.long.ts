import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DescMessage, type DescMethod, toJsonString } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../packages/exact-json/src/index.js';
import { messageMapper } from '../../src/serve/connect/message-mapper.js';
import { rpcMethods } from '../../src/serve/descriptors/rpc-methods.js';
import { STEPS } from '../e2e/every-rpc.steps.js';
import { ADMIN_KEY, READER_KEY, TOKEN_SETTINGS } from '../e2e/every-rpc.support.js';
import { envelope, plainEvent } from '../serve/event-reading/messages.support.js';
import { restClient } from '../support/http.js';
import { methodNamed } from '../support/protocol-clients.js';
import { seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';

const SECONDS = Number(process.env.VERIFY_SECONDS ?? 3);
/** Only calls with this in their names. */
const ONLY = process.env.VERIFY_ONLY ?? '';
const PACE_MS = 4;
const THREAD_START_MS = 10_000;
const AGENT = 'agent-beside-readers';
const KEY_OF_OTHERS = 'key-of-evaluations';
const MANY = 200_000;
const LISTED = 1_000;

/** The RPCs of the script that evaluate nothing and answer, with the first request of each that is served. */
const RPCS = new Map(
  STEPS.filter(({ expected }) => 'reply' in expected)
    .flatMap(({ rpc, input }) => {
      const desc = methodNamed(rpc);
      const { isEvaluation = true } = rpcMethods(desc.parent).find(({ desc: one }) => one === desc) ?? {};
      const isStream = desc.methodKind === 'client_streaming' || desc.methodKind === 'bidi_streaming';
      return isEvaluation || isStream || rpc.includes('.Watch') ? [] : [[rpc, { desc, input }] as const];
    })
    .toReversed(),
);

/** A request with as much of everything as its message has a place for, and lists of so many. */
function grown({ fields }: DescMessage, plain: JsonObject, limit: number): JsonObject {
  const large: JsonObject = { ...plain };
  for (const { name, fieldKind, message } of fields) {
    const sent = large[name];
    if (fieldKind === 'message' && message?.name === 'Step' && sent !== undefined)
      large[name] = {
        type: 'llm',
        name: 'answer',
        input: Array.from({ length: MANY }, (_, at) => `item-${at}`),
      };
    else if (fieldKind === 'list' && Array.isArray(sent) && sent.length > 0)
      large[name] = Array.from({ length: LISTED }, (_, at) => numbered(sent[at % sent.length] ?? null, at));
    else if (name === 'limit') large[name] = limit;
  }
  return large;
}

function numbered(item: JsonValue, at: number): JsonValue {
  return typeof item === 'object' && item !== null && 'name' in item
    ? { ...(item as JsonObject), name: `${String(item.name)}-${at}` }
    : item;
}

interface Load {
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  /** In base64. */
  readonly body?: string;
}

function loadOf(desc: DescMethod, plain: JsonObject): Load {
  const message = Buffer.from(toJsonString(desc.input, messageMapper(desc.input).fromPlain(plain) as never));
  const isUnary = desc.methodKind === 'unary';
  return {
    path: `/${desc.parent.typeName}/${desc.name}`,
    method: 'POST',
    headers: {
      'x-api-key': ADMIN_KEY,
      'content-type': isUnary ? 'application/json' : 'application/connect+json',
    },
    body: (isUnary ? message : envelope(message)).toString('base64'),
  };
}

/** The largest request of these that is served; the last one if none is. */
async function servedLoad(desc: DescMethod, plain: JsonObject): Promise<Load> {
  const loads = [
    ...[LISTED, 100].map((limit) => loadOf(desc, grown(desc.input, plain, limit))),
    loadOf(desc, plain),
  ];
  for (const load of loads) {
    const { path: route, method, headers, body = '' } = load;
    const reply = await fetch(`${url}${route}`, { method, headers, body: Buffer.from(body, 'base64') });
    await reply.arrayBuffer();
    if (reply.ok) return load;
  }
  return loads.at(-1) as Load;
}

const get = (url: string): Load => ({ path: url, method: 'GET', headers: {} });

let service: ServiceProcess;
let url: string;
beforeAll(async () => {
  service = await spawnService(compiled, {
    environment: {
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: `${READER_KEY},${KEY_OF_OTHERS}`,
      SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
      ...TOKEN_SETTINGS,
    },
  });
  url = await service.listening();
  const call = restClient(url, { 'x-api-key': ADMIN_KEY });
  await seeder(call).linked(AGENT, 'beside-readers');
  for (let part = 0; part < 20; part += 1) {
    const events = Array.from({ length: LISTED }, (_, at) =>
      plainEvent(`${part}-${at}`, { agent_name: AGENT }),
    );
    expect((await call('POST', '/api/v1/observability/events', { events })).status).toBeLessThan(300);
  }
  // The thread for large steps starts with the first one.
  const step = { type: 'llm', name: 'answer', input: 'x'.repeat(100_000) };
  await call('POST', '/api/v1/evaluation', { agent_name: AGENT, stage: 'pre', step });
  await sleep(THREAD_START_MS);
}, 600_000);
afterAll(() => service?.dispose());

const EVALUATION = JSON.stringify({
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input: { text: 'good words' } },
});
const connection = new Agent({ keepAlive: true, maxSockets: 1 });

function evaluate(): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': KEY_OF_OTHERS, 'content-type': 'application/json' };
    const sent = request(
      `${url}/api/v1/evaluation`,
      { agent: connection, method: 'POST', headers },
      (reply) => {
        reply.resume();
        reply.once('end', () => resolve(reply.statusCode ?? 0));
      },
    );
    sent.once('error', reject);
    sent.end(EVALUATION);
  });
}

/** Times of evaluations of one caller at a steady pace, in milliseconds, and those that failed. */
async function paced(): Promise<{ readonly p50: number; readonly p99: number; readonly failed: number }> {
  const times: number[] = [];
  let failed = 0;
  for (const end = performance.now() + SECONDS * 1_000; performance.now() < end; await sleep(PACE_MS)) {
    const began = performance.now();
    if ((await evaluate()) !== 200) failed += 1;
    times.push(performance.now() - began);
  }
  times.sort((one, other) => one - other);
  const at = (part: number) => times[Math.floor(times.length * part)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), failed };
}

async function beside(load: Load) {
  const words = [path.join(import.meta.dirname, 'readers-load.mjs')];
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify({ url, ...load }));
  let told = '';
  child.stdout.on('data', (chunk: Buffer) => {
    told += String(chunk);
  });
  const closed = once(child, 'close');
  try {
    await sleep(500);
    return { ...(await paced()), statuses: () => told };
  } finally {
    child.kill('SIGTERM');
    await closed;
  }
}

it('evaluations of another key beside the largest requests of every other RPC, on four connections', async () => {
  await paced();
  const quiet = await paced();
  const loads = new Map<string, Load>(
    ['/metrics', '/openapi.json', '/docs/swagger-ui-bundle.js'].map((one) => [one, get(one)]),
  );
  for (const [rpc, { desc, input }] of RPCS)
    if (rpc.includes(ONLY)) loads.set(rpc, await servedLoad(desc, input as JsonObject));
  const rows: string[] = [];
  for (const [name, load] of loads) {
    if (!name.includes(ONLY)) continue;
    const { p50, p99, failed, statuses } = await beside(load);
    expect([name, failed]).toEqual([name, 0]);
    rows.push(
      `${name.padEnd(48)} ${p50.toFixed(1).padStart(7)} ${p99.toFixed(1).padStart(7)} ${(p99 / quiet.p99).toFixed(1).padStart(6)}  ${statuses()}`,
    );
  }
  console.log(`quiet: p50 ${quiet.p50.toFixed(1)} ms, p99 ${quiet.p99.toFixed(1)} ms\n${rows.join('\n')}`);
}, 3_600_000);
