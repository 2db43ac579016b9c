/**
 * What approvals cost: a step that waits for a person (joined), one that asks anew, and one that uses an approval, each beside an
 * evaluation that nothing matches, in the same rounds; and the memory of a process with many pending approvals in its database and
 * many calls that wait. On PostgreSQL also the round trips to the database of each, which no other work adds to: the median.
 *
 * BENCH_CALLS is the number of evaluations of a kind in a round (1000), BENCH_ASKS that of new approvals (200), BENCH_ROUNDS the
 * number of rounds (5), BENCH_PENDING the number of pending approvals (10000), BENCH_WAITING that of calls that wait (1000),
 * BENCH_LOOKS how often memory is read for one figure (10), and BENCH_DATABASES chooses databases.
 */
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { ApprovalService } from '../dist/gen/proto/enforcement/v1/approval_service_pb.js';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { startPostgresServer } from '../scripts/postgres-server.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { countedPostgres } from './support/counted-postgres.mjs';
import { createSeries, rowOf } from './support/measure.mjs';
import { median, quantile, report, singleRow } from './support/report.mjs';
import { metricOf } from './support/service-metrics.mjs';

/** @import { Row } from './support/report.mjs' */

const CALLS = Number(process.env.BENCH_CALLS ?? 1_000);
const ASKS = Number(process.env.BENCH_ASKS ?? 200);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const PENDING = Number(process.env.BENCH_PENDING ?? 10_000);
const WAITING = Number(process.env.BENCH_WAITING ?? 1_000);
const DATABASES = (process.env.BENCH_DATABASES ?? 'sqlite,postgresql').split(',');
const AT_ONCE = 8;
const STREAMS_PER_CONNECTION = 50;
/** Memory is read so often, and the least counts: garbage is not what an approval costs. */
const LOOKS = Number(process.env.BENCH_LOOKS ?? 10);
const LOOK_MS = 300;
const COUNTED = 11;
const MAX_ATTEMPTS = 20;
const TOO_SLOW = /cannot be used now/;
const AGENT = 'bench-approvals';
const BOUNDS = {
  SERVICE_APPROVALS_MAX: '1000000',
  SERVICE_APPROVALS_MAX_PER_AGENT: '1000000',
  SERVICE_APPROVALS_FATIGUE_LIMIT: '1000000',
  SERVICE_APPROVALS_KEY: Buffer.alloc(32, 7).toString('base64'),
};
/** @type {Row[]} */
const rows = [];

/** @param {string} stepName */
const asking = (stepName) => ({
  execution: 'server',
  scope: { step_names: [stepName], stages: ['pre'] },
  condition: { selector: { path: 'name' }, evaluator: { name: 'regex', config: { pattern: '^pay$' } } },
  action: {
    decision: 'deny',
    approval: { approvers: ['role:approver'], question: 'Pay {input.amount}?', expires_seconds: 86_400 },
  },
});

/** @param {string} name @param {number} amount */
const bodyOf = (name, amount) => ({
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'tool', name, input: { to: 'someone@example.org', amount } },
  accepts: ['ask'],
});

/** @param {string} name @param {Record<string, string>} database @param {(() => number) | undefined} trips */
async function measure(name, database, trips) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-approvals-'));
  const keysFile = join(folder, 'keys.json');
  const keys = [
    { name: 'boss', key: 'boss-key', role: 'admin' },
    { name: 'bot', key: 'bot-key', role: 'agent' },
    { name: 'ann', key: 'ann-key', role: 'approver' },
  ];
  writeFileSync(keysFile, JSON.stringify({ keys }));
  const service = await startServiceProcess({
    ...BOUNDS,
    ...database,
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_KEYS_FILE: keysFile,
  });
  try {
    const boss = createCaller(service.url, 'boss-key');
    await boss('POST', '/agents/initAgent', { agent: { agent_name: AGENT } });
    // The other step is evaluated by a control of its own, which does not match.
    for (const step of ['pay', 'look']) {
      const { control_id: id } = await boss('PUT', '/controls', { name: `asks-${step}`, data: asking(step) });
      await boss('POST', `/agents/${AGENT}/controls/${id}`);
    }
    const costs = costsOf(service.url);
    await measureCosts(name, costs);
    if (trips !== undefined) await measureTrips(name, costs, trips);
    await measureMemory(name, service.url, costs);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Evaluations of each kind. @param {string} url */
function costsOf(url) {
  const bot = createCaller(url, 'bot-key');
  const ann = createCaller(url, 'ann-key');
  let amount = 0;
  /** @param {string} step @param {number} of @param {string} outcome @returns {Promise<number>} */
  const evaluate = async (step, of, outcome) => {
    for (let attempt = 1; ; attempt += 1) {
      const reply = await bot('POST', '/evaluation', bodyOf(step, of));
      if (reply.outcome === outcome) return reply.approval?.id;
      // A busy machine is no failure.
      if (attempt < MAX_ATTEMPTS && TOO_SLOW.test(reply.reason)) continue;
      throw new Error(`${outcome} was expected: ${JSON.stringify(reply)}`);
    }
  };
  return {
    plain: () => evaluate('look', 0, 'allow'),
    joined: () => evaluate('pay', 0, 'ask'),
    /** Asks anew; returns the amount of the step, and the approval. */
    async ask() {
      amount += 1;
      const own = amount;
      return { amount: own, id: await evaluate('pay', own, 'ask') };
    },
    /** @param {number} id */
    approve: (id) => ann('POST', `/approvals/${id}/decide`, { decision: 'approve' }),
    /** @param {number} of */
    use: (of) => evaluate('pay', of, 'allow'),
    cpuSeconds: () => metricOf(url, 'process_cpu_seconds_total'),
  };
}

/**
 * Does each, some at the same time. Returns the times in milliseconds, the processor time of the service for one, and the results.
 * @template T, R
 * @param {readonly T[]} all
 * @param {(one: T) => Promise<R>} work
 * @param {() => Promise<number>} cpuSeconds
 */
async function timed(all, work, cpuSeconds) {
  /** @type {number[]} */
  const times = [];
  /** @type {R[]} */
  const results = [];
  const waiting = [...all];
  const before = await cpuSeconds();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        const start = performance.now();
        results.push(await work(one));
        times.push(performance.now() - start);
      }
    }),
  );
  const cpuMs = (((await cpuSeconds()) - before) * 1_000) / all.length;
  return { times, cpuMs, results };
}

/** @param {string} name @param {ReturnType<typeof costsOf>} costs */
async function measureCosts(name, costs) {
  const { plain, joined, ask, approve, use, cpuSeconds } = costs;
  const calls = Array.from({ length: CALLS }, (_, index) => index);
  const asks = calls.slice(0, ASKS);
  const series = createSeries();
  await joined();
  for (let round = -1; round < ROUNDS; round += 1) {
    const asked = await timed(asks, ask, cpuSeconds);
    await timed(asked.results, ({ id }) => approve(id), cpuSeconds);
    const kinds = {
      plain: await timed(calls, plain, cpuSeconds),
      'joined step': await timed(calls, joined, cpuSeconds),
      'new approval': asked,
      'use of an approval': await timed(asked.results, (one) => use(one.amount), cpuSeconds),
    };
    // The first round warms up.
    if (round < 0) continue;
    for (const [kind, { times, cpuMs }] of Object.entries(kinds)) {
      series.add(`${kind}, processor time`, cpuMs);
      series.add(`${kind}, median`, median(times));
      series.add(`${kind}, p99`, quantile(times, 0.99));
    }
  }
  for (const kind of ['joined step', 'new approval', 'use of an approval']) {
    for (const figure of ['processor time', 'median', 'p99']) {
      const [values, yardsticks] = [series.of(`${kind}, ${figure}`), series.of(`plain, ${figure}`)];
      rows.push(rowOf(`approvals ${name} ${kind} / plain, ${figure}`, 'ms', values, yardsticks));
    }
  }
}

/** @param {string} name @param {ReturnType<typeof costsOf>} costs @param {() => number} trips */
async function measureTrips(name, { plain, joined, ask, approve, use }, trips) {
  const series = createSeries();
  /** @template R @param {string} kind @param {() => Promise<R>} work */
  const counted = async (kind, work) => {
    const before = trips();
    const result = await work();
    series.add(kind, trips() - before);
    return result;
  };
  for (let at = 0; at < COUNTED; at += 1) {
    await counted('plain', plain);
    await counted('joined step', joined);
    const { id, amount } = await counted('new approval', ask);
    await counted('decision', () => approve(id));
    await counted('use of an approval', () => use(amount));
  }
  for (const kind of ['plain', 'joined step', 'new approval', 'decision', 'use of an approval']) {
    rows.push(singleRow(`approvals ${name} ${kind}, round trips`, median(series.of(kind)), 'round trips'));
  }
}

/** @param {string} url */
async function memoryMb(url) {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look += 1) {
    least = Math.min(least, await metricOf(url, 'process_resident_memory_bytes'));
    await pause(LOOK_MS);
  }
  return least / 1e6;
}

/** @param {string} name @param {string} url @param {ReturnType<typeof costsOf>} costs */
async function measureMemory(name, url, { ask, cpuSeconds }) {
  const before = await memoryMb(url);
  const asks = Array.from({ length: PENDING }, (_, index) => index);
  const { results } = await timed(asks, ask, cpuSeconds);
  const filled = await memoryMb(url);
  const aborted = new AbortController();
  setMaxListeners(0, aborted.signal);
  /** @type {Http2SessionManager[]} */
  const managers = [];
  const reading = await Promise.all(
    Array.from({ length: WAITING }, async (_, index) => {
      if (index % STREAMS_PER_CONNECTION === 0) managers.push(new Http2SessionManager(url));
      const sessionManager = managers[Math.floor(index / STREAMS_PER_CONNECTION)];
      if (sessionManager === undefined) throw new Error('there is no connection');
      const transport = createGrpcTransport({ baseUrl: url, sessionManager });
      const stream = createClient(ApprovalService, transport).watchApprovals(
        { agentName: AGENT, approvalIds: [results[index % results.length]?.id ?? 0] },
        { headers: { 'x-api-key': 'bot-key' }, signal: aborted.signal },
      );
      const news = stream[Symbol.asyncIterator]();
      // Its approval, and the sign that it waits from now on.
      for (;;) {
        const { value, done } = await news.next();
        if (done === true) throw new Error('a stream has ended');
        if (value.news.case === 'heartbeat') return news;
      }
    }),
  );
  const waiting = await memoryMb(url);
  const ends = reading.map((news) => news.next().catch(() => {}));
  aborted.abort();
  for (const manager of managers) manager.abort();
  await Promise.all(ends);
  rows.push(
    singleRow(`approvals ${name} memory before`, before, 'MB'),
    singleRow(`approvals ${name} memory of ${PENDING} pending approvals`, filled - before, 'MB'),
    singleRow(`approvals ${name} memory of ${WAITING} waiting calls`, waiting - filled, 'MB'),
    singleRow(`approvals ${name} memory of both together`, waiting - before, 'MB'),
  );
}

for (const name of DATABASES) {
  if (name === 'sqlite') {
    await measure(name, {}, undefined);
    continue;
  }
  const server = await startPostgresServer({ survivesCrash: true });
  const counted = await countedPostgres(server.url);
  try {
    await measure(name, { DATABASE_URL: counted.url }, counted.trips);
  } finally {
    await counted.stop();
    await server.stop();
  }
}
report('approvals', rows);
