/**
 * What the gateway for MCP adds to a call of a tool: CPU time of its process and latency, with the decisions before and after the
 * call, beside a proxy of the same SDK that only passes calls on, in turns; and the memory of the gateway with many sessions that
 * are open at the same time, each with its stream of messages.
 *
 * BENCH_CALLS is the number of calls in a round (1000), BENCH_AT_ONCE that of calls at the same time (4), BENCH_ROUNDS the number of
 * rounds (5), BENCH_SESSIONS that of sessions (1000). CPU time and memory are read from /proc, so it runs on Linux only.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { agentOf } from './support/grpc-messages.mjs';
import { createSeries, rowOf } from './support/measure.mjs';
import { median, quantile, report, singleRow } from './support/report.mjs';
import { startService } from './support/service-server.mjs';

const CALLS = Number(process.env.BENCH_CALLS ?? 1_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 1_000);
const VERSIONS = ['2026-07-28', '2025-11-25'];
const AT_ONCE = Number(process.env.BENCH_AT_ONCE ?? 4);
const CONTROLS = 2;
const COMMAND = join(import.meta.dirname, '..', 'packages', 'cli', 'bin', 'control-enforcement.js');
const folder = mkdtempSync(join(tmpdir(), 'bench-mcp-'));
/** @type {import('./support/report.mjs').Row[]} */
const rows = [];
/** @type {(() => unknown)[]} */
const ends = [() => rmSync(folder, { recursive: true, force: true })];

/**
 * A server that is measured.
 * @typedef {{ url: string, pid: number }} Measured
 */

/**
 * CPU time of all threads, which the kernel counts in nanoseconds.
 * @param {number} pid
 */
function cpuMsOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ofThread = (/** @type {string} */ id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]);
  return threads.reduce((sum, id) => sum + ofThread(id), 0) / 1e6;
}

/** @param {number} pid */
function residentMbOf(pid) {
  return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

/** @param {string[]} words @returns {Promise<Measured>} */
async function startPlain(...words) {
  const child = fork(join(import.meta.dirname, 'support', 'mcp-plain.mjs'), words, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  ends.push(() => child.kill());
  const [{ url }] = await once(child, 'message');
  return { url, pid: Number(child.pid) };
}

/** @param {string} service @param {string} upstream @returns {Promise<Measured>} */
async function startGateway(service, upstream) {
  const file = join(folder, 'gateway.yaml');
  const settings = {
    listen: { port: 0 },
    service: { url: service },
    upstreams: [{ name: 'bench', url: upstream }],
    mapping: { agent: { fixed: agentOf(CONTROLS) }, tool_names: 'plain' },
  };
  writeFileSync(file, JSON.stringify(settings));
  const child = spawn(process.execPath, [COMMAND, 'mcp', '--config', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  ends.push(() => child.kill());
  let text = '';
  child.stderr.setEncoding('utf8');
  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    // Read on: a process cannot write into a pipe that is closed.
    child.stderr.on('data', (chunk) => {
      text += chunk;
      const [, found] = /serves MCP at (http\S+?)"/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', () => reject(new Error(`the gateway has ended: ${text}`)));
  });
  child.stderr.on('data', (chunk) => process.stderr.write(chunk));
  return { url, pid: Number(child.pid) };
}

/** @param {string} url @param {string} version */
async function connected(url, version) {
  const mode = version === VERSIONS[0] ? { pin: version } : /** @type {const} */ ('legacy');
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** @param {Client} client @param {string} text */
async function call(client, text) {
  const result = await client.callTool({ name: 'echo', arguments: { text } });
  const [first] = /** @type {{ text?: string }[]} */ (result.content);
  if (first?.text !== text) throw new Error(`a call has not passed: ${JSON.stringify(result)}`);
}

/** @param {Client} client @param {Measured} server */
async function roundOf(client, { pid }) {
  const before = cpuMsOf(pid);
  /** @type {number[]} */
  const times = [];
  let left = CALLS;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      const begun = performance.now();
      await call(client, `hello ${left}`);
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { cpuMs: (cpuMsOf(pid) - before) / CALLS, p50: median(times), p99: quantile(times, 0.99) };
}

try {
  const service = await startService({ DATABASE_URL: `file:${join(folder, 'service.db')}` }, [CONTROLS]);
  ends.push(service.stop);
  const upstream = await startPlain('upstream');
  const servers = {
    gateway: await startGateway(service.url, upstream.url),
    plain: await startPlain('proxy', upstream.url),
  };

  for (const version of VERSIONS) {
    const series = createSeries();
    const clients = {
      gateway: await connected(servers.gateway.url, version),
      plain: await connected(servers.plain.url, version),
    };
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const name of /** @type {const} */ (['gateway', 'plain'])) {
        const figures = await roundOf(clients[name], servers[name]);
        // The first round compiles.
        if (round >= 0)
          for (const [figure, value] of Object.entries(figures)) series.add(`${name} ${figure}`, value);
      }
    }
    for (const figure of ['cpuMs', 'p50', 'p99']) {
      const [values, yardsticks] = [series.of(`gateway ${figure}`), series.of(`plain ${figure}`)];
      const what = figure === 'cpuMs' ? 'CPU time' : figure;
      rows.push(rowOf(`mcp-gateway ${version} ${what} of a call / plain proxy`, 'ms', values, yardsticks));
    }
    await Promise.all(Object.values(clients).map((client) => client.close()));
  }

  for (const name of /** @type {const} */ (['gateway', 'plain'])) {
    const { url, pid } = servers[name];
    const before = residentMbOf(pid);
    /** @type {Client[]} */
    const open = [];
    for (let count = 0; count < SESSIONS; count += 10)
      open.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(10, SESSIONS - count) }, () => connected(url, '2025-11-25')),
        )),
      );
    await Promise.all(open.map((client, index) => call(client, `hello ${index}`)));
    await pause(1_000);
    const resident = residentMbOf(pid);
    rows.push(
      singleRow(
        `mcp-gateway memory of the ${name === 'plain' ? 'plain proxy' : name} with ${SESSIONS} sessions`,
        resident,
        'MB',
      ),
    );
    rows.push(
      singleRow(
        `mcp-gateway memory of the ${name === 'plain' ? 'plain proxy' : name} for them`,
        resident - before,
        'MB',
      ),
    );
    await Promise.all(open.map((client) => client.close().catch(() => {})));
  }
} finally {
  for (const end of ends.reverse()) await end();
}
report('mcp-gateway', rows);
process.exit();
