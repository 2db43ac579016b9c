/**
 * Decisions with memory: history controls on one agent, steps of 10,000 sessions, each decision durable before it is answered.
 * For each store, number of controls and mix: decisions a second with as many calls as the service takes (closed loop, unary
 * and streams) beside the same load on an agent without controls, and the times from when a call was due (open loop) at half of
 * that rate. With `all`, every control applies to every step; with `tenth`, one in ten does. Published figures are of another
 * engine's local store on 16 cores of a Xeon, one fsync an event: 246 decisions a second with 100 policies, 97 with 1,000.
 * Durability here: PostgreSQL with fsync and synchronous_commit, Redis with appendfsync always, SQLite with synchronous FULL.
 * Then the rate of one key after more and more events, and over more and more keys; last the time of one check after more events.
 */
import { createCaller } from '../scripts/demo-data/load.mjs';
import { startPostgresServer } from '../scripts/postgres-server.mjs';
import { startRedisServer } from '../scripts/redis-server.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { createSeries, rowOf } from './support/measure.mjs';
import { timeChecks } from './support/memory-checks.mjs';
import { closedStream, closedUnary, openUnary, stepsOf, TOOLS } from './support/memory-load.mjs';
import { quantile, report, singleRow } from './support/report.mjs';

/** @import { Row } from './support/report.mjs' */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 10_000);
const COUNTS = (process.env.BENCH_CONTROLS ?? '10,100,1000').split(',').map(Number);
const STORES = (process.env.BENCH_STORES ?? 'sqlite,postgresql,redis').split(',');
/** Events in one key, and keys, at which the rate is measured. */
const EVENTS = (process.env.BENCH_EVENTS ?? '1000,100000').split(',').map(Number);
/** Events of one key after which a check is timed in the process. */
const KEPT = (process.env.BENCH_KEPT ?? '1000,100000,10000000').split(',').map(Number);
const MIXES = ['all', 'tenth'];
/** Decisions a second with so many policies. */
const PUBLISHED = new Map([
  [100, 246],
  [1000, 97],
]);
const BARE = 'bench-memory-bare';
/** @type {Row[]} */
const rows = [];

/** @param {string} name */
async function startStore(name) {
  if (name === 'postgresql') {
    const server = await startPostgresServer({ survivesCrash: true });
    return { environment: { DATABASE_URL: server.url }, stop: () => server.stop() };
  }
  if (name === 'redis') {
    const server = await startRedisServer({ flags: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    return { environment: { SERVICE_MEMORY_STORE: server.url }, stop: () => server.stop() };
  }
  return { environment: {}, stop: async () => {} };
}

/**
 * A control that remembers calls of one tool, and never denies.
 * @param {number} index
 * @param {string} mix
 */
function controlOf(index, mix) {
  const tool = `tool_${index % TOOLS}`;
  return {
    execution: 'server',
    ...(mix === 'all' ? {} : { scope: { step_names: [tool] } }),
    condition: {
      selector: { path: '*' },
      evaluator: {
        name: 'history',
        config: {
          op: 'sum',
          value: 'input.amount',
          // Windows differ, so that no two controls can share all of their state.
          within: `${3_600 + index}s`,
          event: { kinds: ['request'], step_names: [tool] },
          compare: { gt: 1_000_000_000 },
          key: ['session'],
        },
      },
    },
    action: { decision: 'deny' },
  };
}

/** @param {ReturnType<typeof createCaller>} call @param {string} agent @param {object[]} controls */
async function addAgent(call, agent, controls) {
  await call('POST', '/agents/initAgent', { agent: { agent_name: agent } });
  for (const [index, data] of controls.entries()) {
    const { control_id: id } = await call('PUT', '/controls', { name: `${agent}-${index}`, data });
    await call('POST', `/agents/${agent}/controls/${id}`);
  }
}

/** @param {string} url @param {string} agent @param {number} [sessions] */
const loadsOf = (url, agent, sessions = SESSIONS) => ({
  unary: () => closedUnary(url, stepsOf(agent, sessions, false), SECONDS),
  stream: () => closedStream(url, stepsOf(agent, sessions, true), SECONDS),
});

/** @param {string} store @param {string} url @param {string} agent @param {string} what @param {number} count */
async function measure(store, url, agent, what, count) {
  const series = createSeries();
  const [loads, bare] = [loadsOf(url, agent), loadsOf(url, BARE)];
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const kind of /** @type {const} */ (['unary', 'stream'])) {
      const figures = [await loads[kind](), await bare[kind]()];
      if (round < 0) continue;
      series.add(kind, figures[0] ?? Number.NaN);
      series.add(`${kind} bare`, figures[1] ?? Number.NaN);
    }
  }
  const name = `memory ${store} ${count} history controls, ${what}`;
  for (const kind of ['unary', 'stream']) {
    rows.push(
      rowOf(`${name}, ${kind} / no controls`, 'decisions/s', series.of(kind), series.of(`${kind} bare`)),
    );
    const published = PUBLISHED.get(count);
    if (published === undefined) continue;
    const yardsticks = series.of(kind).map(() => published);
    rows.push(rowOf(`${name}, ${kind} / published`, 'decisions/s', series.of(kind), yardsticks));
  }
  const half = Math.max(1, Math.min(...series.of('unary')) / 2);
  const times = await openUnary(url, stepsOf(agent, SESSIONS, false), half, SECONDS);
  rows.push(singleRow(`${name}, unary at half of its rate, median`, quantile(times, 0.5), 'ms'));
  rows.push(singleRow(`${name}, unary at half of its rate, p99`, quantile(times, 0.99), 'ms'));
}

/** The rate after so many events in one key, and over so many keys, beside that at the start. @param {string} store @param {string} url */
async function measureSlopes(store, url) {
  const one = 'bench-memory-slopes';
  const [first = 0, ...later] = EVENTS;
  let events = 0;
  const next = stepsOf(one, 1, true);
  const counted = () => {
    events += 1;
    return next();
  };
  const rate = () => closedStream(url, counted, SECONDS);
  const grow = async (/** @type {number} */ until) => {
    while (events < until) await rate();
  };
  await grow(first);
  const start = await rate();
  rows.push(singleRow(`memory ${store} one key after ${first} events`, start, 'decisions/s'));
  for (const count of later) {
    await grow(count);
    rows.push(
      singleRow(
        `memory ${store} one key after ${count} events / ${first} events`,
        await rate(),
        'decisions/s',
        start,
      ),
    );
  }
  const few = await closedStream(url, stepsOf(one, first, true), SECONDS);
  rows.push(singleRow(`memory ${store} over ${first} keys`, few, 'decisions/s'));
  for (const count of later) {
    const many = await closedStream(url, stepsOf(one, count, true), SECONDS);
    rows.push(singleRow(`memory ${store} over ${count} keys / ${first} keys`, many, 'decisions/s', few));
  }
}

for (const name of STORES) {
  const store = await startStore(name);
  const service = await startServiceProcess(store.environment);
  const call = createCaller(service.url, undefined);
  try {
    await addAgent(call, BARE, []);
    for (const count of COUNTS) {
      for (const mix of MIXES) {
        const agent = `bench-memory-${count}-${mix}`;
        await addAgent(
          call,
          agent,
          Array.from({ length: count }, (_, index) => controlOf(index, mix)),
        );
        await measure(name, service.url, agent, mix, count);
      }
    }
    await addAgent(
      call,
      'bench-memory-slopes',
      Array.from({ length: 10 }, (_, index) => controlOf(index, 'all')),
    );
    await measureSlopes(name, service.url);
  } finally {
    await service.stop();
    await store.stop();
  }
}
for (const { op, times } of timeChecks(KEPT)) {
  const [first = Number.NaN] = times;
  for (const [index, time] of times.entries()) {
    if (index === 0) rows.push(singleRow(`memory check ${op} after ${KEPT[0]} events`, time, 'us'));
    else {
      rows.push(
        singleRow(`memory check ${op} after ${KEPT[index]} events / ${KEPT[0]} events`, time, 'us', first),
      );
    }
  }
}
report('memory', rows);
