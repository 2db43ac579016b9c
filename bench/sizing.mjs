/**
 * Memory and processor time of one process: idle, and while it evaluates at fixed rates. Linux only. The figures of
 * docs/operations.md are from here: `npm run bench:sizing`; `-- all` or `-- matches` selects what is recorded.
 * `BENCH_SECONDS` is how long each rate is measured (5).
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '../dist/packages/client/src/node.js';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { startPostgresServer } from '../scripts/postgres-server.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { report, singleRow } from './support/report.mjs';

/**
 * @import { Client } from '../dist/packages/client/src/node.js'
 * @import { Row } from './support/report.mjs'
 */

const CONTROLS = 10;
const MEASURE_MS = Number(process.env.BENCH_SECONDS ?? 5) * 1_000;
const SETTLE_MS = 0.4 * MEASURE_MS;
const RATES = [0, 200, 1_000];
const TICK_MS = 10;
const TICKS_PER_SECOND = 100;
const AGENT = 'sized-agent';

/**
 * Seconds of processor time of a process so far, and its resident memory in MB.
 * @param {number} pid
 */
function usageOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const [utime, stime] = [Number(fields[11]), Number(fields[12])];
  const rss = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { seconds: (utime + stime) / TICKS_PER_SECOND, megabytes: Math.round(Number(rss) / 1024) };
}

/** @param {string} url */
async function seed(url) {
  const send = createCaller(url, undefined);
  await send('POST', '/agents/initAgent', { agent: { agent_name: AGENT } });
  for (let index = 0; index < CONTROLS; index += 1) {
    const { control_id: id } = await send('PUT', '/controls', {
      name: `sized-${randomUUID()}`,
      data: {
        execution: 'server',
        condition: {
          selector: { path: 'input' },
          evaluator: { name: 'regex', config: { pattern: `word-${index}\\b` } },
        },
        action: { decision: 'deny' },
      },
    });
    await send('POST', `/agents/${AGENT}/controls/${id}`);
  }
}

/**
 * Evaluates at a rate; one step in ten matches a control. Returns how many were answered.
 * @param {Client} client
 * @param {number} rate
 * @param {number} forMs
 */
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

/** @type {Row[]} */
const rows = [];

/** @param {string} name @param {Record<string, string>} environment */
async function measure(name, environment) {
  const service = await startServiceProcess(environment);
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
      const of = `${name}, ${rate}/s`;
      rows.push(
        singleRow(`${of}: rate`, answered / seconds, 'evaluations/s'),
        singleRow(`${of}: processor`, ((after.seconds - before.seconds) / seconds) * 100, '% of a core'),
        singleRow(`${of}: memory`, after.megabytes, 'MB'),
      );
    }
  } finally {
    client.close();
    await service.stop();
  }
}

const recorded = process.argv.length > 2 ? process.argv.slice(2) : ['matches', 'all'];
const server = await startPostgresServer();
try {
  for (const record of recorded) {
    const settings = { SERVICE_OBSERVABILITY_RECORD: record };
    await measure(`SQLite, ${record}`, settings);
    await measure(`PostgreSQL, ${record}`, { ...settings, DATABASE_URL: server.url });
  }
} finally {
  await server.stop();
}
report('sizing', rows);
