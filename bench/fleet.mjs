/**
 * What a fleet costs: many agents, a handful of policies. Memory of a further agent, the first evaluation of each
 * agent after a start, and what evaluations feel of a change of a control that all agents share, on both databases. The
 * yardstick of evaluations during changes is the same load without changes, in the same run. At the end, a start that
 * loads all agents before it is ready.
 *
 * BENCH_AGENTS is the number of agents (10000), BENCH_POLICIES that of policies (20), BENCH_CONTROLS that of controls
 * of each (50), BENCH_DATABASES chooses databases, BENCH_SECONDS how long each load lasts (10), and BENCH_ROUNDS is how
 * many changes are timed on their way to another process, and how often the heap is read for one figure (20).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { startPostgresServer } from '../scripts/postgres-server.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { definitionOf, fillAgents, fillPolicies, nameOf } from './support/fleet-fill.mjs';
import { evaluateEach } from './support/fleet-load.mjs';
import { median, quantile, report, singleRow } from './support/report.mjs';
import { metricOf } from './support/service-metrics.mjs';

/**
 * @import { Kind } from './support/event-fill.mjs'
 * @import { Row } from './support/report.mjs'
 */

const AGENTS = Number(process.env.BENCH_AGENTS ?? 10_000);
const POLICIES = Number(process.env.BENCH_POLICIES ?? 20);
const CONTROLS = Number(process.env.BENCH_CONTROLS ?? 50);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const DATABASES = (process.env.BENCH_DATABASES ?? 'sqlite,postgresql').split(',');
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);
/** Agents that are evaluated before memory is measured for the first time: some of each policy. */
const FIRST = Math.min(1_000, AGENTS / 10);
const CHANGES_PER_SECOND = 5;
/** Agents that are asked again after a change. */
const ASKED = 200;

/**
 * Changes the control that all policies have. Resolves with the revision of the change.
 * @param {string} url
 * @param {number} controlId
 * @param {string} word
 */
async function changeControl(url, controlId, word) {
  const reply = await fetch(`${url}/api/v1/controls/${controlId}/data`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: definitionOf(`changed-${word}`) }),
  });
  if (!reply.ok) throw new Error(`a change: ${reply.status} ${await reply.text()}`);
  await reply.arrayBuffer();
  return Number(reply.headers.get('x-service-revision'));
}

/** @param {string} url */
const heapMb = async (url) => {
  // The least of some: garbage is not what an agent costs.
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < ROUNDS; look += 1) {
    least = Math.min(least, await metricOf(url, 'nodejs_heap_size_used_bytes'));
    await pause(100);
  }
  return least / 1e6;
};

/** @param {number} from @param {number} to */
function* each(from, to) {
  for (let index = from; index < to; index += 1) yield nameOf(index);
}

/** @param {number} end */
function* anyUntil(end) {
  while (performance.now() < end) yield nameOf(Math.floor(Math.random() * AGENTS));
}

/** @param {string} url @param {number} seconds */
const loadFor = (url, seconds) => evaluateEach(url, anyUntil(performance.now() + seconds * 1_000));

/**
 * Time until one agent of each policy decides by a revision; other agents must do so from then on.
 * @param {string} url
 * @param {number} revision
 * @param {number} begun
 */
async function toldWithin(url, revision, begun) {
  /** @param {Iterator<string>} names */
  const older = async (names) => {
    let count = 0;
    await evaluateEach(url, names, {
      connections: 2,
      onReply(found) {
        if (found < revision) count += 1;
      },
    });
    return count;
  };
  while ((await older(each(0, POLICIES))) > 0);
  const ms = performance.now() - begun;
  const others = Array.from({ length: ASKED }, () => nameOf(Math.floor(Math.random() * AGENTS)));
  if ((await older(others.values())) > 0) throw new Error('agents of one policy differ');
  return ms;
}

/** @param {Kind} kind @param {string} url */
async function measure(kind, url) {
  /** @param {string} name @param {number} value @param {string} unit @param {number} [yardstick] */
  const row = (name, value, unit, yardstick) => singleRow(`${kind} ${name}`, value, unit, yardstick);
  /** @type {Row[]} */
  const rows = [];
  // No uses are recorded before the first start.
  const environment = { DATABASE_URL: url, SERVICE_PRELOAD_AGENTS: String(AGENTS) };
  let service = await startServiceProcess(environment);
  const setUp = createCaller(service.url, undefined);
  await setUp('POST', '/agents/initAgent', { agent: { agent_name: 'fleet-template' } });
  const policies = await fillPolicies(setUp, { policies: POLICIES, controls: CONTROLS });
  const shared = policies[0]?.controlIds[0];
  if (shared === undefined) throw new Error('a fleet needs a policy with a control');
  for (const { policyId } of policies.slice(1)) {
    await setUp('POST', `/policies/${policyId}/controls/${shared}`);
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
  const { url: changedAt } = service;
  /** @param {string} word */
  const change = (word) => changeControl(changedAt, shared, word);
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
      row('resident memory', (await metricOf(service.url, 'process_resident_memory_bytes')) / 1e6, 'MB'),
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
    await metricOf(service.url, 'nodejs_eventloop_lag_max_seconds');
    const loaded = loadFor(service.url, SECONDS);
    /** @type {number[]} */
    const acknowledged = [];
    for (let count = 0; count < Math.max(1, SECONDS * CHANGES_PER_SECOND - 2); count += 1) {
      const started = performance.now();
      await change(String(count));
      acknowledged.push(performance.now() - started);
      await pause(1_000 / CHANGES_PER_SECOND);
    }
    const during = await loaded;
    const delay = await metricOf(service.url, 'nodejs_eventloop_lag_max_seconds');
    rows.push(row('p99 during changes', quantile(during, 0.99), 'ms', quantile(quiet, 0.99)));
    rows.push(
      row('worst during changes, against quiet p99', Math.max(...during), 'ms', quantile(quiet, 0.99)),
    );
    rows.push(row('longest delay of the event loop', delay * 1_000, 'ms'));
    rows.push(row('a change', median(acknowledged), 'ms'));

    const other = await startServiceProcess(environment);
    try {
      await evaluateEach(other.url, each(0, AGENTS));
      /** @type {number[]} */
      const here = [];
      /** @type {number[]} */
      const elsewhere = [];
      for (let count = 0; count < ROUNDS; count += 1) {
        const revision = await change(`told-${count}`);
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

/** @type {Row[]} */
const rows = [];
for (const kind of DATABASES) {
  if (kind === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'bench-fleet-'));
    rows.push(...(await measure(kind, `file:${join(folder, 'fleet.db')}`)));
    rmSync(folder, { recursive: true, force: true });
  } else {
    const server = await startPostgresServer();
    rows.push(...(await measure('postgresql', server.url)));
    await server.stop();
  }
}
report('fleet', rows);
