/**
 * Ingestion of events over REST, and statistics and queries once many are stored, on both databases. The service runs
 * in a process of its own. Yardsticks: for ingestion the bare driver, which stores the same rows without any of the
 * sums; for statistics the query that counts the rows themselves.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import pg from 'pg';
import { startPostgresServer } from '../scripts/postgres-server.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { report } from './support/report.mjs';

/** Events that are stored before statistics are measured. */
const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const BATCH = Number(process.env.BENCH_BATCH ?? 500);
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 8);
const QUERIES = 200;
const YARDSTICK_EVENTS = 100_000;
const AGENTS = 10;
const CONTROLS = 20;
/** The events are spread over this many days, oldest first; most of a year is in rollups of hours and days. */
const DAYS = 360;
const AGENT = 'bench-agent-00';

function event(index, ageMs = 0) {
  const control = Math.floor(index / AGENTS) % CONTROLS;
  return {
    control_execution_id: randomUUID(),
    trace_id: randomBytes(16).toString('hex'),
    span_id: randomBytes(8).toString('hex'),
    agent_name: `bench-agent-0${index % AGENTS}`,
    control_id: control,
    control_name: `bench-control-${control}`,
    check_stage: index % 2 === 0 ? 'pre' : 'post',
    applies_to: index % 3 === 0 ? 'llm_call' : 'tool_call',
    action: ['deny', 'steer', 'observe'][index % 3],
    matched: index % 4 === 0,
    confidence: Math.random(),
    timestamp: new Date(Date.now() - ageMs).toISOString(),
    execution_duration_ms: Math.random() * 10,
    evaluator_name: 'regex',
    selector_path: 'input.text',
    error_message: null,
    metadata: {},
  };
}

const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
function call(url, method, path, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(url + path, {
      method,
      agent,
      headers: { 'content-type': 'application/json' },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode >= 300)
          reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        else resolve(text);
      });
    });
    request.end(body);
  });
}

const metricsOf = async (url) => {
  const text = await call(url, 'GET', '/metrics');
  const read = (name) => Number(new RegExp(`_${name}(?:\\{[^}]*\\})? ([\\d.e+-]+)`).exec(text)?.[1]);
  return {
    cpu: read('process_cpu_seconds_total'),
    delayP99: read('nodejs_eventloop_lag_p99_seconds') * 1000,
    delayMax: read('nodejs_eventloop_lag_max_seconds') * 1000,
  };
};

const spread = (index) => event(index, ((EVENTS - index) / EVENTS) * DAYS * 86_400_000);

/** Sends events over several connections, each with the next batch ready before the reply to the last one. */
async function ingest(url, from, to, make) {
  const before = await metricsOf(url);
  const started = performance.now();
  let next = from;
  let delayMax = 0;
  const watch = setInterval(() => {
    metricsOf(url).then(
      ({ delayMax: max }) => {
        delayMax = Math.max(delayMax, max);
      },
      () => {},
    );
  }, 1_000);
  const batch = () => {
    if (next >= to) return undefined;
    const first = next;
    next = Math.min(to, next + BATCH);
    return JSON.stringify({
      events: Array.from({ length: next - first }, (_, index) => make(first + index)),
    });
  };
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let body = batch(); body !== undefined; ) {
        const sent = call(url, 'POST', '/api/v1/observability/events', body);
        body = batch();
        const reply = JSON.parse(await sent);
        if (reply.status !== 'queued') throw new Error(`not stored: ${JSON.stringify(reply)}`);
      }
    }),
  );
  clearInterval(watch);
  const seconds = (performance.now() - started) / 1000;
  const after = await metricsOf(url);
  const count = to - from;
  return {
    perSecond: count / seconds,
    cpuUs: ((after.cpu - before.cpu) * 1e6) / count,
    delayMax: Math.max(delayMax, after.delayMax),
    delayP99: after.delayP99,
  };
}

async function p99(work) {
  const times = [];
  for (let index = 0; index < QUERIES; index += 1) {
    const start = performance.now();
    await work(index);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return { p50: times[times.length >> 1], p99: times[Math.floor(times.length * 0.99)] };
}

/** The bare driver: the same rows with the same indexes, in transactions of 1,000. */
async function yardstickRate(bare) {
  const rows = Array.from({ length: YARDSTICK_EVENTS }, (_, index) => event(index));
  await bare.prepare();
  const started = performance.now();
  for (let at = 0; at < rows.length; at += 1_000) await bare.insert(rows.slice(at, at + 1_000));
  const seconds = (performance.now() - started) / 1000;
  await bare.clear();
  return YARDSTICK_EVENTS / seconds;
}

const MEMBERS = Object.keys(event(0));
const CREATE = (float) =>
  `CREATE TABLE bare (${MEMBERS.map((name) => `${name} ${name === 'confidence' || name.endsWith('_ms') ? float : 'TEXT'}`)});
   CREATE UNIQUE INDEX bare_id ON bare (control_execution_id); CREATE INDEX bare_trace ON bare (trace_id);
   CREATE INDEX bare_span ON bare (span_id); CREATE INDEX bare_time ON bare (timestamp);
   CREATE INDEX bare_agent ON bare (agent_name, timestamp); CREATE INDEX bare_control ON bare (control_id, timestamp);`;
const NAIVE = (agentName, fromUs) =>
  `SELECT control_id, control_name, COUNT(*), SUM(confidence), SUM(duration_ms), COUNT(error_message)
   FROM events WHERE agent_name = '${agentName}' AND time_us >= ${fromUs} GROUP BY 1, 2`;

function bareSqlite(file) {
  const database = new Libsql(file, { timeout: 10_000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536');
  const elements = MEMBERS.map((_, index) => `value ->> ${index}`).join(', ');
  return {
    async prepare() {
      database.exec(CREATE('REAL'));
    },
    async insert(rows) {
      const json = JSON.stringify(rows.map((row) => Object.values({ ...row, metadata: '{}' })));
      database.exec('BEGIN IMMEDIATE');
      database.prepare(`INSERT INTO bare SELECT ${elements} FROM json_each(?)`).run([json]);
      database.exec('COMMIT');
    },
    async clear() {
      database.exec('DROP TABLE bare');
    },
    query: async (sql) => database.prepare(sql).all([]),
    close: async () => database.close(),
  };
}

async function barePostgresql(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const values = MEMBERS.map(
    (name, index) => `(v ->> ${index})${name === 'confidence' || name.endsWith('_ms') ? '::float8' : ''}`,
  ).join(', ');
  return {
    prepare: () => client.query(CREATE('DOUBLE PRECISION')),
    async insert(rows) {
      const json = JSON.stringify(rows.map((row) => Object.values({ ...row, metadata: '{}' })));
      await client.query(`INSERT INTO bare SELECT ${values} FROM jsonb_array_elements($1::jsonb) AS v`, [
        json,
      ]);
    },
    clear: () => client.query('DROP TABLE bare'),
    query: (sql) => client.query(sql),
    close: () => client.end(),
  };
}

const rows = [];
async function measure(kind, databaseUrl, openBare) {
  const service = await startServiceProcess({ DATABASE_URL: databaseUrl, SERVICE_LOG_LEVEL: 'info' });
  const bare = await openBare();
  try {
    const rate = await yardstickRate(bare);
    const name = `service events ${kind}`;
    for (const [what, load] of [
      // What happens now, and what is spread over a year: then nearly every event has rollups of its own.
      ['live', await ingest(service.url, 0, YARDSTICK_EVENTS, event)],
      ['spread', await ingest(service.url, 0, EVENTS, spread)],
    ]) {
      rows.push(
        {
          name: `${name} ingest ${what} rate`,
          value: load.perSecond,
          unit: 'events/s',
          yardstick: rate,
          ratio: load.perSecond / rate,
        },
        { name: `${name} ingest ${what} cpu`, value: load.cpuUs, unit: 'µs of all threads per event' },
        { name: `${name} ingest ${what} loop delay max`, value: load.delayMax, unit: 'ms' },
      );
    }
    if (kind === 'postgresql') await bare.query('VACUUM ANALYZE');
    for (const [range, days] of [
      ['1h', 1 / 24],
      ['24h', 1],
      ['365d', 365],
    ]) {
      const query = `agent_name=${AGENT}&time_range=${range}&include_timeseries=true`;
      const ours = await p99(() => call(service.url, 'GET', `/api/v1/observability/stats?${query}`));
      const fromUs = (Date.now() - days * 86_400_000) * 1000;
      const start = performance.now();
      await bare.query(NAIVE(AGENT, fromUs));
      const naive = performance.now() - start;
      rows.push({ name: `${name} stats ${range} p50`, value: ours.p50, unit: 'ms' });
      rows.push({
        name: `${name} stats ${range} p99`,
        value: ours.p99,
        unit: 'ms',
        yardstick: naive,
        ratio: ours.p99 / naive,
      });
    }
    const overview = await p99(() =>
      call(service.url, 'GET', '/api/v1/observability/stats/overview?time_range=365d'),
    );
    rows.push({ name: `${name} overview 365d p99`, value: overview.p99, unit: 'ms' });
    for (const [what, filter] of [
      ['latest', {}],
      ['of an agent', { agent_name: AGENT }],
      ['denies', { actions: ['deny'], matched: true }],
      ['by trace', { trace_id: 'none' }],
    ]) {
      const found = await p99(() =>
        call(
          service.url,
          'POST',
          '/api/v1/observability/events/query',
          JSON.stringify({ ...filter, limit: 100 }),
        ),
      );
      rows.push({ name: `${name} query ${what} p99`, value: found.p99, unit: 'ms' });
    }
  } finally {
    await bare.close();
    await service.stop();
  }
}

const wanted = (process.env.BENCH_DATABASES ?? 'sqlite,postgresql').split(',');
if (wanted.includes('sqlite')) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-events-'));
  const file = join(folder, 'service.db');
  await measure('sqlite', `file:${file}`, () => bareSqlite(file));
  rmSync(folder, { recursive: true, force: true });
}
if (wanted.includes('postgresql')) {
  const server = await startPostgresServer();
  try {
    await measure('postgresql', server.url, () => barePostgresql(server.url));
  } finally {
    await server.stop();
  }
}
agent.destroy();
report('events', rows);
