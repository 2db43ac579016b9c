/**
 * What many teams cost: a service whose agents are in as many namespaces as there are teams, against one with the same
 * agents, controls and keys in one namespace, which is the yardstick, in the same run and by turns. Both databases.
 *
 * BENCH_NAMESPACES is the number of teams (1000), BENCH_AGENTS that of agents of each (100), BENCH_CONTROLS that of controls
 * of each (2), BENCH_ROUNDS how often each is measured (3), BENCH_SAMPLE how many agents are evaluated for each figure
 * (10000), and BENCH_DATABASES chooses databases.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { startPostgresServer } from '../scripts/postgres-server.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { definitionOf } from './support/fleet-fill.mjs';
import { evaluateEach } from './support/fleet-load.mjs';
import {
  agentName,
  fillTeams,
  TEMPLATE_AGENT,
  TEMPLATE_CONTROL,
  teamName,
} from './support/namespace-fill.mjs';
import { median, quantile, report } from './support/report.mjs';
import { metricOf } from './support/service-metrics.mjs';

/**
 * @import { Kind } from './support/event-fill.mjs'
 * @import { Row } from './support/report.mjs'
 */

const TEAMS = Number(process.env.BENCH_NAMESPACES ?? 1_000);
const AGENTS = Number(process.env.BENCH_AGENTS ?? 100);
const CONTROLS = Number(process.env.BENCH_CONTROLS ?? 2);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SAMPLE = Math.min(Number(process.env.BENCH_SAMPLE ?? 10_000), TEAMS * AGENTS);
const DATABASES = (process.env.BENCH_DATABASES ?? 'sqlite,postgresql').split(',');
const FIGURES = /** @type {const} */ ([
  ['start', 'ms'],
  ['first evaluation of the sample', 'ms in all'],
  ['first evaluation p99', 'ms'],
  ['evaluation of the sample', 'ms in all'],
  ['evaluation p99', 'ms'],
  ['resident memory', 'MB'],
]);

/** @typedef {{ areNamespaces: boolean, environment: Record<string, string> }} Side */

/** @param {number} team */
const keyOf = (team) => `the-key-of-${teamName(team)}`;

/** Agents of all teams, in an order that visits another team each time. */
function* sample() {
  for (let index = 0; index < SAMPLE; index += 1) yield String(index);
}

/**
 * @param {Kind} kind
 * @param {string} url
 * @param {string} folder
 * @param {boolean} areNamespaces
 * @returns {Promise<Side>}
 */
async function prepare(kind, url, folder, areNamespaces) {
  const empty = { DATABASE_URL: url, SERVICE_LAST_KNOWN_GOOD: 'off' };
  const service = await startServiceProcess(empty);
  const call = createCaller(service.url, undefined);
  await call('POST', '/agents/initAgent', { agent: { agent_name: TEMPLATE_AGENT } });
  await call('PUT', '/controls', { name: TEMPLATE_CONTROL, data: definitionOf('bench') });
  await service.stop();
  await fillTeams(kind, url, { teams: TEAMS, agents: AGENTS, controls: CONTROLS, areNamespaces });
  const keys = Array.from({ length: TEAMS }, (_one, team) => ({
    name: teamName(team),
    key: keyOf(team),
    role: 'regular',
    ...(areNamespaces ? { namespace: teamName(team) } : {}),
  }));
  const file = join(folder, `keys-${areNamespaces}.json`);
  writeFileSync(file, JSON.stringify({ keys }));
  const environment = { ...empty, SERVICE_API_KEY_ENABLED: 'true', SERVICE_KEYS_FILE: file };
  return { areNamespaces, environment };
}

/** @param {Side} side @returns {Promise<number[]>} in the order of the figures */
async function round({ areNamespaces, environment }) {
  const begun = performance.now();
  const service = await startServiceProcess(environment);
  try {
    while (!(await fetch(`${service.url}/ready`)).ok) await pause(10);
    const startMs = performance.now() - begun;
    /** @param {string} index */
    const callerOf = (index) => {
      const team = Number(index) % TEAMS;
      const agent = Math.floor(Number(index) / TEAMS);
      return { agent: agentName(areNamespaces ? agent : team * AGENTS + agent), key: keyOf(team) };
    };
    const timed = async () => {
      const started = performance.now();
      const times = await evaluateEach(service.url, sample(), { callerOf });
      return [performance.now() - started, quantile(times, 0.99)];
    };
    const cold = await timed();
    // Once more, so that the code is compiled on both sides.
    await timed();
    const warm = await timed();
    const residentMb = (await metricOf(service.url, 'process_resident_memory_bytes')) / 1e6;
    return [startMs, ...cold, ...warm, residentMb];
  } finally {
    await service.stop();
  }
}

/** @param {Kind} kind @param {readonly string[]} urls @returns {Promise<Row[]>} */
async function measure(kind, [one = '', many = '']) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-namespaces-'));
  try {
    const sides = [await prepare(kind, one, folder, false), await prepare(kind, many, folder, true)];
    /** @type {number[][][]} */
    const found = [[], []];
    for (let count = 0; count < ROUNDS; count += 1) {
      for (const [place, side] of sides.entries()) found[place]?.push(await round(side));
    }
    return FIGURES.map(([name, unit], place) => {
      const of = (/** @type {number} */ side) =>
        (found[side] ?? []).map((figures) => figures[place] ?? Number.NaN);
      const [yardsticks, values] = [of(0), of(1)];
      return {
        name: `${kind} ${name}`,
        value: median(values),
        unit,
        yardstick: median(yardsticks),
        ratio: median(values.map((value, index) => value / (yardsticks[index] ?? Number.NaN))),
      };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @type {Row[]} */
const rows = [];
for (const kind of DATABASES) {
  if (kind === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'bench-namespaces-'));
    rows.push(
      ...(await measure(
        kind,
        ['one', 'many'].map((name) => `file:${join(folder, `${name}.db`)}`),
      )),
    );
    rmSync(folder, { recursive: true, force: true });
  } else {
    const [one, many] = [await startPostgresServer(), await startPostgresServer()];
    rows.push(...(await measure('postgresql', [one.url, many.url])));
    await one.stop();
    await many.stop();
  }
}
report('namespaces', rows);
