/**
 * What a fleet costs: many agents, a handful of policies. Memory of a further agent, the first evaluation of each
 * agent after a start, and what evaluations feel of a change of a control that all agents share, on both databases. The
 * yardstick of evaluations during changes is the same load without changes, in the same run. At the end, a start that
 * loads all agents before it is ready.
 *
 * BENCH_AGENTS is the number of agents (10000), BENCH_POLICIES that of policies (20), BENCH_CONTROLS that of controls
 * of each (50), BENCH_DATABASES chooses databases, BENCH_SECONDS how long each load lasts (10).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgresServer } from '../scripts/postgres-server.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { definitionOf, fillAgents, fillPolicies, nameOf } from './support/fleet-fill.mjs';
import { evaluateEach } from './support/fleet-load.mjs';
import { median, report } from './support/report.mjs';

const AGENTS = Number(process.env.BENCH_AGENTS ?? 10_000);
const POLICIES = Number(process.env.BENCH_POLICIES ?? 20);
const CONTROLS = Number(process.env.BENCH_CONTROLS ?? 50);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const DATABASES = (process.env.BENCH_DATABASES ?? 'sqlite,postgresql').split(',');
/** Agents that are evaluated before memory is measured for the first time: some of each policy. */
const FIRST = Math.min(1_000, AGENTS / 10);
const CHANGES_PER_SECOND = 5;
/** Changes whose way to another process is timed. */
const TOLD = 20;
/** Agents that are asked again after a change. */
const ASKED = 200;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const quantile = (all, part) =>
  [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * part))];

function callerOf(url) {
  return async (method, path, body) => {
    const reply = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    const revision = Number(reply.headers.get('x-service-revision'));
    return Object.assign(await reply.json(), { revision });
  };
}

async function metric(url, name) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`_${name}(?:\\{[^}]*\\})? ([\\d.e+-]+)`).exec(text)?.[1]);
}

const heapMb = async (url) => {
  // The least of some: garbage is not what an agent costs.
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 20; look += 1) {
    least = Math.min(least, await metric(url, 'nodejs_heap_size_used_bytes'));
    await pause(100);
  }
  return least / 1e6;
};

function* each(from, to) {
  for (let index = from; index < to; index += 1) yield nameOf(index);
}

function* anyUntil(end) {
  while (performance.now() < end) yield nameOf(Math.floor(Math.random() * AGENTS));
}

const loadFor = (url, seconds) => evaluateEach(url, anyUntil(performance.now() + seconds * 1_000));

/** Time until one agent of each policy decides by a revision; other agents must do so from then on. */
async function toldWithin(url, revision, begun) {
  const older = async (names) => {
    let count = 0;
    await evaluateEach(url, names, {
      connections: 2,
      onReply: (found) => (count += found < revision ? 1 : 0),
    });
    return count;
  };
  while ((await older(each(0, POLICIES))) > 0);
  const ms = performance.now() - begun;
  const others = Array.from({ length: ASKED }, () => nameOf(Math.floor(Math.random() * AGENTS)));
  if ((await older(others.values())) > 0) throw new Error('agents of one policy differ');
  return ms;
}

async function measure(kind, url) {
  const row = (name, value, unit, yardstick) => ({
    name: `${kind} ${name}`,
    value,
    unit,
    ...(yardstick === undefined ? {} : { yardstick, ratio: value / yardstick }),
  });
  const rows = [];
  // No uses are recorded before the first start.
  const environment = { DATABASE_URL: url, SERVICE_PRELOAD_AGENTS: String(AGENTS) };
  let service = await startServiceProcess(environment);
  const setUp = callerOf(service.url);
  await setUp('POST', '/api/v1/agents/initAgent', { agent: { agent_name: 'fleet-template' } });
  const policies = await fillPolicies(setUp, { policies: POLICIES, controls: CONTROLS });
  const shared = policies[0].controlIds[0];
  for (const { policyId } of policies.slice(1)) {
    await setUp('POST', `/api/v1/policies/${policyId}/controls/${shared}`);
  }
  await service.stop();
  await fillAgents(
    kind,
    url,
    policies.map(({ policyId }) => policyId),
    0,
    AGENTS,
  );

  const before = performance.now();
  service = await startServiceProcess(environment);
  rows.push(row('start', performance.now() - before, 'ms'));
  const call = callerOf(service.url);
  const change = (word) =>
    call('PUT', `/api/v1/controls/${shared}/data`, { data: definitionOf(`changed-${word}`) });
  try {
    const emptyMb = await heapMb(service.url);
    await evaluateEach(service.url, each(0, FIRST));
    const firstMb = await heapMb(service.url);
    const begun = performance.now();
    const cold = await evaluateEach(service.url, each(FIRST, AGENTS));
    const coldMs = performance.now() - begun;
    const allMb = await heapMb(service.url);
    rows.push(row(`heap of ${FIRST} agents`, firstMb - emptyMb, 'MB'));
    rows.push(row('a further agent', ((allMb - firstMb) * 1e6) / (AGENTS - FIRST), 'bytes'));
    rows.push(
      row('resident memory', (await metric(service.url, 'process_resident_memory_bytes')) / 1e6, 'MB'),
    );
    const warmBegun = performance.now();
    const warm = await evaluateEach(service.url, each(FIRST, AGENTS));
    const warmMs = performance.now() - warmBegun;
    rows.push(row(`first evaluation of ${AGENTS - FIRST} agents`, coldMs, 'ms in all', warmMs));
    rows.push(row('first evaluation p99', quantile(cold, 0.99), 'ms', quantile(warm, 0.99)));

    // The first change of a process costs its query compiler much.
    await change('first');
    await loadFor(service.url, SECONDS / 2);
    const quiet = await loadFor(service.url, SECONDS);
    await metric(service.url, 'nodejs_eventloop_lag_max_seconds');
    const loaded = loadFor(service.url, SECONDS);
    const acknowledged = [];
    for (let count = 0; count < SECONDS * CHANGES_PER_SECOND - 2; count += 1) {
      const started = performance.now();
      await change(count);
      acknowledged.push(performance.now() - started);
      await pause(1_000 / CHANGES_PER_SECOND);
    }
    const during = await loaded;
    const delay = await metric(service.url, 'nodejs_eventloop_lag_max_seconds');
    rows.push(row('p99 during changes', quantile(during, 0.99), 'ms', quantile(quiet, 0.99)));
    rows.push(
      row('worst during changes, against quiet p99', Math.max(...during), 'ms', quantile(quiet, 0.99)),
    );
    rows.push(row('longest delay of the event loop', delay * 1_000, 'ms'));
    rows.push(row('a change', median(acknowledged), 'ms'));

    const other = await startServiceProcess(environment);
    try {
      await evaluateEach(other.url, each(0, AGENTS));
      const here = [];
      const elsewhere = [];
      for (let count = 0; count < TOLD; count += 1) {
        const { revision } = await change(`told-${count}`);
        const at = performance.now();
        const both = await Promise.all([
          toldWithin(service.url, revision, at),
          toldWithin(other.url, revision, at),
        ]);
        here.push(both[0]);
        elsewhere.push(both[1]);
      }
      rows.push(row('all policies decide by a change here', Math.max(...here), 'ms, worst'));
      rows.push(row('all policies decide by a change elsewhere', Math.max(...elsewhere), 'ms, worst'));
    } finally {
      await other.stop();
    }
    const stopping = performance.now();
    await service.stop();
    rows.push(row('stop, with the record of uses', performance.now() - stopping, 'ms'));
    const starting = performance.now();
    service = await startServiceProcess(environment);
    while (!(await fetch(`${service.url}/ready`)).ok) await pause(10);
    rows.push(row(`start with ${AGENTS} agents loaded`, performance.now() - starting, 'ms'));
    const first = await evaluateEach(service.url, each(0, AGENTS));
    rows.push(row('first evaluation p99 after it', quantile(first, 0.99), 'ms', quantile(warm, 0.99)));
  } finally {
    await service.stop();
  }
  return rows;
}

const rows = [];
for (const kind of DATABASES) {
  if (kind === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'bench-fleet-'));
    rows.push(...(await measure(kind, `file:${join(folder, 'fleet.db')}`)));
    rmSync(folder, { recursive: true, force: true });
  } else {
    const server = await startPostgresServer();
    rows.push(...(await measure(kind, server.url)));
    await server.stop();
  }
}
report('fleet', rows);
