/**
 * What detectors cost: milliseconds of CPU time for each megabyte of an ordinary text, of each detector and of all at
 * once, against JSON.parse of a string of the same size; and of hostile texts, with the exponent by which their time
 * grows with the size, over four sizes: 1 is linear. A detector takes part as soon as it is built in and has a
 * configuration here. Nothing here fails on speed; a search that ends in an error ends the run.
 */
import { evaluators } from '../dist/packages/detectors/src/index.js';
import { HOSTILE_PARTS, hostileText, typicalText } from './support/detector-texts.mjs';
import { cpuMsSince } from './support/measure.mjs';
import { median, report, singleRow } from './support/report.mjs';

/** @import { CheckCall, CompiledEvaluator } from '../dist/src/kernel/core/evaluator.js' */
/** @import { Row } from './support/report.mjs' */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
/** The largest size, in code units; the others are an eighth, a quarter and half of it. */
const LENGTH = Number(process.env.BENCH_LENGTH ?? 1_000_000);
const SHARES = [1 / 8, 1 / 4, 1 / 2, 1];
const MEGABYTE = 1_000_000;

/** The configurations of detectors, by their names. @type {Readonly<Record<string, object>>} */
const CONFIGS = {
  secrets: {},
  pii: {},
  injection: {},
  url: { allow_hosts: ['*.shop.example'] },
  shell: { deny_programs: ['rm', 'curl'] },
};

/** @type {CheckCall} */
const CALL = {
  place: { path: 'input', negated: false },
  detail: 'verdict',
  signal: new AbortController().signal,
  step: { type: 'tool', name: 'read_page', input: {}, output: null, context: null },
  stage: 'pre',
  agent: null,
  nowMs: () => 0,
  textsOf() {
    throw new Error('the text is a string');
  },
};

/** @type {Map<string, CompiledEvaluator>} */
const detectors = new Map();
for (const [name, config] of Object.entries(CONFIGS)) {
  const evaluator = evaluators.find((one) => one.name === name);
  if (evaluator === undefined) throw new Error(`there is no detector ${name}`);
  detectors.set(name, evaluator.compile({ ...config }));
}

/** @param {Iterable<CompiledEvaluator>} checks @param {string} text */
async function search(checks, text) {
  for (const check of checks) {
    const result = await check.evaluate(text, CALL);
    if (result.error !== null) throw new Error(`a search failed: ${result.error}`);
  }
}

/** The median CPU time of one run, in milliseconds. @param {() => unknown} run */
async function timeOf(run) {
  const times = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = process.cpuUsage();
    await run();
    // The first one compiles.
    if (round > 0) times.push(cpuMsSince(before));
  }
  // A time below the resolution of the counter is one of its units.
  return Math.max(0.001, median(times));
}

const yardstickText = JSON.stringify(typicalText(LENGTH));
const yardstick = (await timeOf(() => JSON.parse(yardstickText))) * (MEGABYTE / LENGTH);

/** @param {string} name @param {number} ms @returns {Row} */
const perMegabyte = (name, ms) => singleRow(name, ms * (MEGABYTE / LENGTH), 'ms per MB', yardstick);

/** The exponent of a power law through the points, by least squares of the logarithms. @param {readonly [number, number][]} points */
function exponentOf(points) {
  const logs = points.map(([size, time]) => /** @type {const} */ ([Math.log(size), Math.log(time)]));
  const meanX = logs.reduce((sum, [x]) => sum + x, 0) / logs.length;
  const meanY = logs.reduce((sum, [, y]) => sum + y, 0) / logs.length;
  const above = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return above / logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/** @type {Row[]} */
const rows = [];
const typical = typicalText(LENGTH);
for (const [name, check] of detectors) {
  rows.push(perMegabyte(`${name}, ordinary text`, await timeOf(() => search([check], typical))));
}
rows.push(perMegabyte('all at once, ordinary text', await timeOf(() => search(detectors.values(), typical))));
for (const [name, check] of detectors) {
  for (const part of Object.keys(HOSTILE_PARTS[name] ?? {})) {
    /** @type {[number, number][]} */
    const points = [];
    for (const share of SHARES) {
      const text = hostileText(name, part, Math.round(LENGTH * share));
      points.push([text.length, await timeOf(() => search([check], text))]);
    }
    rows.push(perMegabyte(`${name}, ${part}`, points.at(-1)?.[1] ?? Number.NaN));
    rows.push({ name: `${name}, ${part}: exponent`, value: exponentOf(points), unit: 'of the size' });
  }
}
report('detectors', rows);
