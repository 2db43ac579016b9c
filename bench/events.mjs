/**
 * Ingestion of events over REST, statistics and queries once many are stored, and what evaluations over gRPC feel of it,
 * on every event store. The service and the evaluations run in processes of their own, the load in a thread of its own.
 * Yardsticks: for ingestion the
 * bare driver, which stores the same rows without any of the sums; for statistics the query that counts the rows
 * themselves; for evaluations the same ones without ingestion.
 *
 * Arguments are numbers of stored events (1000000); BENCH_EVENTS gives them too, separated by commas. BENCH_DATABASES
 * chooses stores (sqlite,postgresql,clickhouse), BENCH_SECONDS how long each load lasts (10). BENCH_ROUNDS is the number
 * of rounds of evaluations (3), BENCH_QUERIES that of queries of each kind (200), BENCH_BARE_EVENTS that of events that
 * the bare driver stores.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startClickHouse } from '../scripts/clickhouse-server.mjs';
import { startPostgresServer } from '../scripts/postgres-server.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { bareIngestRate, naiveCountMs } from './support/bare-events.mjs';
import { fillClickHouse, openClickHouse } from './support/clickhouse-events.mjs';
import { startProbe } from './support/evaluation-probe.mjs';
import { AGENTS, CONTROLS, checkFill, DAYS, fillEvents, openRaw } from './support/event-fill.mjs';
import { median, quantile, report, singleRow } from './support/report.mjs';
import { metricsOf } from './support/service-metrics.mjs';

/**
 * @import { Kind } from './support/event-fill.mjs'
 * @import { EventLoad } from './support/event-load.mjs'
 * @import { Row } from './support/report.mjs'
 */

/** @typedef {(agentName: string, days: number) => Promise<number>} NaiveMs */
/**
 * A filled store with its yardsticks.
 * @typedef {{
 *   environment: Record<string, string>, bareRate: () => Promise<number>, naiveMs: NaiveMs, close: () => Promise<void>,
 * }} Filled
 */

const given =
  process.argv.length > 2 ? process.argv.slice(2) : (process.env.BENCH_EVENTS ?? '1000000').split(',');
const SIZES = given.map(Number);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const BATCH = Number(process.env.BENCH_BATCH ?? 500);
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 8);
/** Interval of the timer whose lateness Node.js reports; it counts from one to the next. */
const LOOP_INTERVAL_MS = 10;
const QUERIES = Number(process.env.BENCH_QUERIES ?? 200);
/** So many queries are made even when they take longer than a load may last. */
const FEWEST = 20;
/** Rounds of evaluations with and without ingestion. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** Size of the fill that is checked. */
const CHECKED = Number(process.env.BENCH_CHECKED_EVENTS ?? 20_000);
const AGENT = 'bench-agent-00';
const EVALUATED = 'bench-evaluated';

const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
/**
 * @param {string} url
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<string>}
 */
function call(url, method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const request = http.request(url + path, { method, agent, headers });
    request.on('error', reject);
    request.on('response', (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if ((response.statusCode ?? 500) < 300) resolve(text);
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
      });
    });
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** @param {string} url */
async function loopMetrics(url) {
  const read = await metricsOf(url);
  return {
    cpu: read('process_cpu_seconds_total'),
    // Since they were read last.
    delayMs: read('nodejs_eventloop_lag_max_seconds') * 1000,
    delayP99Ms: Math.max(0, read('nodejs_eventloop_lag_p99_seconds') * 1000 - LOOP_INTERVAL_MS),
  };
}

/**
 * Runs `work` and gives its result, and the longest delay of the service's event loop meanwhile.
 * @template T
 * @param {string} url
 * @param {() => Promise<T>} work
 */
async function watched(url, work) {
  // It also sets the longest delay back.
  const { cpu } = await loopMetrics(url);
  let longest = 0;
  const look = async () => {
    const { cpu: now, delayMs } = await loopMetrics(url);
    longest = Math.max(longest, delayMs);
    return now;
  };
  const timer = setInterval(() => look().catch(() => {}), 1_000);
  const result = await work();
  clearInterval(timer);
  const after = await look();
  return { result, delayMs: longest, cpuSeconds: after - cpu };
}

/**
 * Starts to send events; `stop` resolves with how many were stored in how many seconds.
 * @param {string} url
 */
function startLoad(url, spreadDays = 0) {
  /** @type {EventLoad} */
  const workerData = {
    url,
    batch: BATCH,
    connections: CONNECTIONS,
    agents: AGENTS,
    controls: CONTROLS,
    spreadDays,
  };
  const worker = new Worker(new URL('./support/event-load.mjs', import.meta.url), { workerData });
  /** @type {Promise<{ stored: number, seconds: number }>} */
  const ended = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  ended.catch(() => {});
  return {
    stop() {
      worker.postMessage('stop');
      return ended;
    },
  };
}

/** @param {string} url @param {number} spreadDays */
async function ingest(url, spreadDays) {
  const { result, delayMs, cpuSeconds } = await watched(url, async () => {
    const load = startLoad(url, spreadDays);
    await pause(SECONDS * 1000);
    return load.stop();
  });
  const { stored, seconds } = result;
  return { perSecond: stored / seconds, cpuUs: (cpuSeconds * 1e6) / stored, delayMs };
}

/** @param {() => Promise<unknown>} work */
async function times(work) {
  /** @type {number[]} */
  const all = [];
  const end = performance.now() + SECONDS * 1000;
  for (let index = 0; index < QUERIES && (index < FEWEST || performance.now() < end); index += 1) {
    const start = performance.now();
    await work();
    all.push(performance.now() - start);
  }
  return all;
}

/** @param {string} url */
async function prepareEvaluation(url) {
  await call(url, 'POST', '/api/v1/agents/initAgent', { agent: { agent_name: EVALUATED } });
  for (let index = 0; index < 10; index += 1) {
    const data = {
      execution: 'server',
      condition: {
        selector: { path: 'input' },
        evaluator: { name: 'regex', config: { pattern: `secret-${index}` } },
      },
      action: { decision: 'deny' },
    };
    const reply = await call(url, 'PUT', '/api/v1/controls', { name: `evaluated-${index}`, data });
    await call(url, 'POST', `/api/v1/agents/${EVALUATED}/controls/${JSON.parse(reply).control_id}`);
  }
}

/** @type {Row[]} */
const rows = [];
/** @param {Parameters<typeof singleRow>} row */
const add = (...row) => void rows.push(singleRow(...row));

/**
 * What there is to ask of many events.
 * @param {string} url
 * @param {NaiveMs} naiveMs
 * @param {string} name
 */
async function measureReading(url, naiveMs, name) {
  /** @param {string} what @param {() => Promise<unknown>} work @param {number} [yardstick] */
  const read = async (what, work, yardstick) => {
    const { result, delayMs } = await watched(url, () => times(work));
    add(`${name} ${what} p50`, quantile(result, 0.5), 'ms');
    add(`${name} ${what} p99`, quantile(result, 0.99), 'ms', yardstick);
    return delayMs;
  };
  let longest = 0;
  for (const { range, days } of [
    { range: '24h', days: 1 },
    { range: '365d', days: 365 },
  ]) {
    const query = `agent_name=${AGENT}&time_range=${range}&include_timeseries=true`;
    const naive = await naiveMs(AGENT, days);
    const stats = () => call(url, 'GET', `/api/v1/observability/stats?${query}`);
    longest = Math.max(longest, await read(`stats ${range}`, stats, naive));
  }
  const overview = () => call(url, 'GET', '/api/v1/observability/stats/overview?time_range=365d');
  longest = Math.max(longest, await read('overview 365d', overview));
  const latest = JSON.parse(await call(url, 'POST', '/api/v1/observability/events/query', { limit: 1 }));
  /** @type {[string, object][]} */
  const queries = [
    ['latest', {}],
    ['of an agent', { agent_name: AGENT }],
    ['denies', { actions: ['deny'], matched: true }],
    ['denies, estimated total', { actions: ['deny'], matched: true, total: 'estimate' }],
    ['denies, no total', { actions: ['deny'], matched: true, total: 'none' }],
    ['errors', { has_error: true }],
    [
      'of a control, a day',
      { control_ids: [3], start_time: new Date(Date.now() - 86_400_000).toISOString() },
    ],
    ['by trace', { trace_id: latest.events[0]?.trace_id ?? 'none' }],
  ];
  for (const [what, filter] of queries) {
    const found = () => call(url, 'POST', '/api/v1/observability/events/query', { ...filter, limit: 100 });
    longest = Math.max(longest, await read(`query ${what}`, found));
  }
  add(`${name} reading loop delay max`, longest, 'ms');
}

/** @param {string} url @param {string} name @param {number} yardstick */
async function measureWriting(url, name, yardstick) {
  let live = Number.NaN;
  for (const { what, spreadDays } of [
    // What happens now, and what is spread over a year: then nearly every event has rollups of its own.
    { what: 'live', spreadDays: 0 },
    { what: 'spread', spreadDays: DAYS },
  ]) {
    const { perSecond, cpuUs, delayMs } = await ingest(url, spreadDays);
    if (spreadDays === 0) live = perSecond;
    else add(`${name} ingest live over ${what}`, live / perSecond, 'times');
    add(`${name} ingest ${what} rate`, perSecond, 'events/s', yardstick);
    add(`${name} ingest ${what} cpu`, cpuUs, 'µs of all threads per event');
    add(`${name} ingest ${what} loop delay max`, delayMs, 'ms');
  }
}

/**
 * Evaluations with ingestion at full speed, and without; by turns.
 * @param {string} url
 * @param {string} name
 */
async function measureEvaluation(url, name) {
  await prepareEvaluation(url);
  const probe = await startProbe(url, EVALUATED);
  const p99 = async () => quantile(await probe.times(SECONDS / ROUNDS), 0.99);
  await p99();
  /** @type {Record<'without' | 'during' | 'delayP99Ms' | 'rate', number>[]} */
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const without = await p99();
    const load = startLoad(url);
    await pause(500);
    // It also sets the delays back.
    await loopMetrics(url);
    const during = await p99();
    const { delayP99Ms } = await loopMetrics(url);
    const { stored, seconds } = await load.stop();
    rounds.push({ without, during, delayP99Ms, rate: stored / seconds });
  }
  probe.stop();
  /** @param {'without' | 'during' | 'delayP99Ms' | 'rate'} figure */
  const middle = (figure) => median(rounds.map((one) => one[figure]));
  rows.push({
    name: `${name} evaluation p99 with ingestion`,
    value: middle('during'),
    unit: 'ms',
    yardstick: middle('without'),
    ratio: median(rounds.map((one) => one.during / one.without)),
  });
  add(`${name} ingest rate with evaluations`, middle('rate'), 'events/s');
  add(`${name} loop delay p99 with both`, middle('delayP99Ms'), 'ms');
}

/**
 * @param {Kind} kind
 * @param {string} url
 * @param {number} count
 * @returns {Promise<Filled>}
 */
async function openSql(kind, url, count) {
  await fillEvents({ kind, url, count, nowMs: Date.now() });
  const raw = await openRaw(kind, url);
  return {
    environment: { DATABASE_URL: url },
    bareRate: () => bareIngestRate(kind, raw),
    naiveMs: (agentName, days) => naiveCountMs(raw, agentName, days),
    close: () => raw.close(),
  };
}

/**
 * Measures a store at each size. `open` fills a new one.
 * @param {string} kind
 * @param {(count: number) => Promise<Filled>} open
 */
async function measure(kind, open) {
  for (const count of SIZES) {
    const name = `service events ${kind} ${count.toLocaleString('en')}`;
    const started = performance.now();
    const opened = await open(count);
    const filledSeconds = (performance.now() - started) / 1000;
    console.log(`${name}: filled in ${Math.round(filledSeconds)} s`);
    const yardstick = await opened.bareRate();
    const service = await startServiceProcess({
      ...opened.environment,
      SERVICE_LOG_LEVEL: 'info',
      SERVICE_EVENT_RETENTION_DAYS: '0',
      SERVICE_SHED_EVENT_LOOP_DELAY_MS: '0',
    });
    try {
      await measureReading(service.url, opened.naiveMs, name);
      await measureWriting(service.url, name, yardstick);
      await measureEvaluation(service.url, name);
    } finally {
      await service.stop();
      await opened.close();
    }
    console.log(`${name}: measured after ${Math.round((performance.now() - started) / 1000)} s`);
  }
}

/** @param {Kind} kind @param {() => Promise<string>} freshUrl */
async function measureSql(kind, freshUrl) {
  const checked = await freshUrl();
  await fillEvents({ kind, url: checked, count: CHECKED, nowMs: Date.now() });
  await checkFill(checked);
  await measure(kind, async (count) => openSql(kind, await freshUrl(), count));
}

const folder = mkdtempSync(join(tmpdir(), 'bench-events-'));
let files = 0;
function freshFile() {
  files += 1;
  return `file:${join(folder, `${files}.db`)}`;
}

const wanted = (process.env.BENCH_DATABASES ?? 'sqlite,postgresql').split(',');
if (wanted.includes('sqlite')) await measureSql('sqlite', async () => freshFile());
if (wanted.includes('postgresql')) {
  const server = await startPostgresServer();
  try {
    let databases = 0;
    await measureSql('postgresql', async () => {
      databases += 1;
      const admin = await openRaw('postgresql', server.url);
      await admin.execute(`CREATE DATABASE bench_${databases} TEMPLATE template0`);
      await admin.close();
      const url = new URL(server.url);
      url.pathname = `/bench_${databases}`;
      return String(url);
    });
  } finally {
    await server.stop();
  }
}
if (wanted.includes('clickhouse')) {
  const server = await startClickHouse();
  try {
    /** @param {number} count @returns {Promise<Filled>} */
    const fill = async (count) => {
      const databaseUrl = freshFile();
      const url = `${server.url}/bench_${files}`;
      await fillClickHouse({ url, databaseUrl, count, nowMs: Date.now() });
      const environment = {
        DATABASE_URL: databaseUrl,
        SERVICE_EVENT_STORE: url.replace(/^http:/, 'clickhouse:'),
        SERVICE_EVENT_SPOOL_DIR: join(folder, 'spool'),
      };
      return { environment, ...openClickHouse(url) };
    };
    // Its sums are compared with its rows.
    await (await fill(CHECKED)).close();
    await measure('clickhouse', fill);
  } finally {
    await server.stop();
  }
}
rmSync(folder, { recursive: true, force: true });
agent.destroy();
report('events', rows);
