/**
 * Memory and processor time of one process: idle, and while it evaluates at fixed rates. Linux only. The figures of
 * docs/operations.md are from here: `npm run build && node bench/sizing.mjs`.
 */
import { readFileSync } from 'node:fs';
import { startPostgresServer } from '../scripts/postgres-server.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';

const { createClient } = await import('../dist/packages/client/src/node.js');

const CONTROLS = 10;
const SETTLE_MS = 3_000;
const MEASURE_MS = 10_000;
const RATES = [0, 200, 1_000];
const TICK_MS = 10;
const TICKS_PER_SECOND = 100;
const AGENT = 'sized-agent';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Seconds of processor time of a process so far, and its resident memory in MB. */
function usageOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const [utime, stime] = [Number(fields[11]), Number(fields[12])];
  const rss = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { seconds: (utime + stime) / TICKS_PER_SECOND, megabytes: Math.round(Number(rss) / 1024) };
}

async function seed(url) {
  const send = async (method, path, body) => {
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  await send('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } });
  for (let index = 0; index < CONTROLS; index += 1) {
    const { control_id: id } = await send('PUT', '/api/v1/controls', {
      name: `sized-${index}`,
      data: {
        execution: 'server',
        condition: {
          selector: { path: 'input' },
          evaluator: { name: 'regex', config: { pattern: `word-${index}\\b` } },
        },
        action: { decision: 'deny' },
      },
    });
    await send('POST', `/api/v1/agents/${AGENT}/controls/${id}`);
  }
}

/** Evaluates at a rate; one step in ten matches a control. Returns how many were answered. */
async function load(client, rate, forMs) {
  const startedAt = performance.now();
  const open = new Set();
  let sent = 0;
  while (performance.now() - startedAt < forMs) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * rate);
    for (; sent < due; sent += 1) {
      const input = sent % 10 === 0 ? 'it has word-3 in it' : 'it has nothing in it';
      const one = client.evaluate({
        agent: AGENT,
        stage: 'pre',
        step: { type: 'llm', name: 'answer', input },
      });
      open.add(one);
      one.finally(() => open.delete(one)).catch(() => {});
    }
    await pause(TICK_MS);
  }
  await Promise.all(open);
  return sent;
}

async function measure(name, environment) {
  const service = await startServiceProcess({ SERVICE_LOG_LEVEL: 'warn', ...environment });
  const client = createClient({ baseUrl: service.url });
  try {
    await seed(service.url);
    for (const rate of RATES) {
      await load(client, rate, SETTLE_MS);
      const before = usageOf(service.pid);
      const startedAt = performance.now();
      const answered = await load(client, rate, MEASURE_MS);
      const seconds = (performance.now() - startedAt) / 1_000;
      const after = usageOf(service.pid);
      const share = Math.round(((after.seconds - before.seconds) / seconds) * 1_000) / 10;
      console.log(
        `| ${name} | ${Math.round(answered / seconds)} | ${share} % of a core | ${after.megabytes} MB |`,
      );
    }
  } finally {
    client.close();
    await service.stop();
  }
}

console.log('| database, events | evaluations/s | processor | memory |\n|---|---|---|---|');
const server = await startPostgresServer();
try {
  for (const record of ['matches', 'all']) {
    const settings = { SERVICE_OBSERVABILITY_RECORD: record };
    await measure(`SQLite, ${record}`, settings);
    await measure(`PostgreSQL, ${record}`, { ...settings, DATABASE_URL: server.url });
  }
} finally {
  await server.stop();
}
