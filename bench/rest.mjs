/**
 * REST evaluation against a bare Fastify route with the same request and reply bytes. Servers run in processes of
 * their own; the load generator is this one. Rounds alternate, ratios are medians over rounds. `BENCH_REQUESTS` is the
 * number of requests of a round, `BENCH_ROUNDS` that of rounds.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { rowOf } from './support/measure.mjs';
import { report } from './support/report.mjs';
import { restLoad } from './support/rest-load.mjs';
import { metricOf } from './support/service-metrics.mjs';

/** @import { Row } from './support/report.mjs' */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 20_000);
const CONNECTIONS = 16;
const AGENT = 'bench-agent-01';
const PATH = '/api/v1/evaluation';

const BODY = JSON.stringify({
  agent_name: AGENT,
  step: {
    type: 'tool',
    name: 'send_mail',
    input: { to: 'someone@example.org', text: 'The quick brown fox jumps over the lazy dog. '.repeat(12) },
  },
  stage: 'pre',
});

/**
 * Half regex, half list; none matches, so that the reply holds them all as non-matches.
 * @param {number} index
 */
function control(index) {
  const evaluator =
    index % 2 === 0
      ? { name: 'regex', config: { pattern: `\\bsecret-${index}-\\d{6}\\b` } }
      : { name: 'list', config: { values: [`blocked-${index}`, `denied-${index}`], match_mode: 'contains' } };
  return {
    name: `bench-control-${index}`,
    data: {
      execution: 'server',
      condition: { selector: { path: 'input.text' }, evaluator },
      action: { decision: 'deny' },
    },
  };
}

/**
 * @param {string} url
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
async function call(url, method, path, body) {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.text();
}

/** @param {string} url @param {number} controls */
async function prepare(url, controls) {
  await call(url, 'POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } });
  for (let index = 0; index < controls; index += 1) {
    const { control_id } = JSON.parse(await call(url, 'PUT', '/api/v1/controls', control(index)));
    await call(url, 'POST', `/api/v1/agents/${AGENT}/controls/${control_id}`);
  }
  return call(url, 'POST', PATH, BODY);
}

/** @param {string} reply */
async function startBare(reply) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'support', 'bare-fastify.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(reply);
  /** @type {string} */
  const url = await new Promise((resolve) =>
    child.stdout.setEncoding('utf8').once('data', (line) => resolve(line.trim())),
  );
  return { url, stop: () => void child.kill() };
}

/** @param {string} url */
const cpuOfService = (url) => metricOf(url, 'process_cpu_seconds_total');
/** @param {string} url @returns {Promise<number>} */
const cpuOfBare = async (url) => JSON.parse(await call(url, 'GET', '/cpu')).seconds;

/** @param {string} url @param {(url: string) => Promise<number>} readCpu */
async function round(url, readCpu) {
  const before = await readCpu(url);
  const start = performance.now();
  await restLoad(url, PATH, BODY, REQUESTS, CONNECTIONS);
  const seconds = (performance.now() - start) / 1000;
  const cpu = (await readCpu(url)) - before;
  return { cpuPer10k: (cpu / REQUESTS) * 10_000, perSecond: REQUESTS / seconds };
}

/** @type {Row[]} */
const rows = [];
for (const controls of [0, 10]) {
  const service = await startServiceProcess({ SERVICE_LOG_LEVEL: 'info' });
  const bare = await startBare(await prepare(service.url, controls));
  try {
    await round(service.url, cpuOfService);
    await round(bare.url, cpuOfBare);
    /** @type {Record<'service' | 'bare', Awaited<ReturnType<typeof round>>>[]} */
    const rounds = [];
    for (let index = 0; index < ROUNDS; index += 1) {
      rounds.push({
        service: await round(service.url, cpuOfService),
        bare: await round(bare.url, cpuOfBare),
      });
    }
    /** @param {string} what @param {'cpuPer10k' | 'perSecond'} figure @param {string} unit */
    const row = (what, figure, unit) =>
      rowOf(
        `service rest ${controls} controls ${what}`,
        unit,
        rounds.map((one) => one.service[figure]),
        rounds.map((one) => one.bare[figure]),
      );
    rows.push(
      row('cpu', 'cpuPer10k', 'server CPU s per 10k requests'),
      row('rate', 'perSecond', 'requests/s'),
    );
  } finally {
    bare.stop();
    await service.stop();
  }
}
report('rest', rows);
