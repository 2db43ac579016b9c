import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT, KEYS } from '../attack/attacks.js';
import { type AttackedService, startAttacked } from '../attack/under-attack.js';
import { compiled } from '../support/service-process.js';

const SECONDS = Number(process.env.VERIFY_SECONDS ?? 15);
const CONNECTIONS = 64;
/** A reply that comes later than this is of no use to an agent. */
const LIMIT_MS = 1_000;
/** Between the calls of the callers that overload nothing. */
const PACE_MS = 150;
const OVERLOAD = 3;

interface LoadReport {
  readonly sent: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly inTimePerSecond: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly lost: number;
}

const BODY = JSON.stringify({
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input: 'a harmless sentence '.repeat(25) },
});
const REQUEST = [
  'POST /api/v1/evaluation HTTP/1.1',
  'Host: localhost',
  `X-API-Key: ${KEYS.attacker}`,
  'Content-Type: application/json',
  `Content-Length: ${BODY.length}`,
  '',
  BODY,
].join('\r\n');

let attacked: AttackedService;
beforeAll(async () => {
  attacked = await startAttacked(compiled);
});
afterAll(() => attacked?.dispose());

async function load(perSecond?: number): Promise<LoadReport> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'overload-load.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { port } = new URL(attacked.url);
  const options = { port: Number(port), request: REQUEST, seconds: SECONDS, perSecond };
  child.stdin.end(JSON.stringify({ ...options, connections: CONNECTIONS, limitMs: LIMIT_MS }));
  return JSON.parse(await text(child.stdout));
}

/** Statuses of a caller that asks a few times a second, until the load is over. */
async function paced(running: Promise<unknown>, url: string, options: RequestInit) {
  const statuses: Record<string, number> = {};
  let isOver = false;
  void running.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const { status } = await fetch(attacked.url + url, options);
    statuses[status] = (statuses[status] ?? 0) + 1;
    await sleep(PACE_MS);
  }
  return statuses;
}

it(`under ${OVERLOAD} times the load that it can answer, it answers as much as it can, and others are served`, async () => {
  await load();
  const capacity = await load();
  const running = load((OVERLOAD * (capacity.statuses[200] ?? 0)) / SECONDS);
  const headers = { 'content-type': 'application/json', 'x-api-key': KEYS.victim };
  const [overloaded, keyed, anonymous] = await Promise.all([
    running,
    paced(running, '/api/v1/evaluation', { method: 'POST', headers, body: BODY }),
    paced(running, '/health', {}),
  ]);
  const answered = ({ statuses }: LoadReport) => (statuses[200] ?? 0) / SECONDS;
  const share = answered(overloaded) / answered(capacity);
  console.log(
    [
      `capacity ${answered(capacity).toFixed(0)}/s ${JSON.stringify(capacity)}`,
      `overload ${JSON.stringify(overloaded)}`,
      `goodput ${(100 * share).toFixed(0)} % of capacity`,
      `another key ${JSON.stringify(keyed)}, without a key ${JSON.stringify(anonymous)}`,
    ].join('\n'),
  );
  expect(Object.keys(keyed)).toEqual(['200']);
}, 600_000);
