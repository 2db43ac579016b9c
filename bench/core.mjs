/**
 * The evaluation core in this process against other engines with the same rules, and against itself where a cost must
 * not grow. All times are CPU time. Subjects take turns in every round, ratios are medians over rounds. Nothing here
 * fails on speed; a wrong decision ends the run.
 *
 * `npm run bench:core` passes `--no-turbo-inline-js-wasm-calls`: Node 20.20 ends with "unreachable code" when a
 * function into which it has inlined the call of cedar-wasm is deoptimised during that call. The core has no such call.
 */

import { createPrefilter } from '../dist/packages/linear-text/src/prefilter.js';
import { regexEvaluator } from '../dist/src/kernel/evaluators/regex/regex.js';
import { definitionOf, newLibrary, programOf, subjectOf, verdictOf } from './support/core-programs.mjs';
import { createWriter, regexRulesOf, rulesOf, stepOf, stepsOf, turnOf } from './support/core-steps.mjs';
import { casbinOf, cedarOf, jsonRulesEngineOf } from './support/core-yardsticks.mjs';
import { cpuMsSince, createSeries, ratesOf, rowOf } from './support/measure.mjs';
import { report } from './support/report.mjs';

/**
 * @import { Detail } from '../dist/src/kernel/core/types.js'
 * @import { Rule, Step } from './support/core-steps.mjs'
 * @import { Row } from './support/report.mjs'
 */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
/** CPU time of one subject in one round, in milliseconds. */
const BUDGET_MS = Number(process.env.BENCH_BUDGET_MS ?? 100);
/** @type {readonly Detail[]} */
const DETAILS = ['verdict', 'full'];
/** @type {Row[]} */
const rows = [];

/**
 * Evaluations per second at 1 to 1,000 controls, with the other engines in the same rounds.
 * @param {number} count
 */
async function compareEngines(count) {
  const rules = rulesOf(count);
  const program = programOf(rules.map((rule) => definitionOf(rule)));
  const yardsticks = [await casbinOf(rules), cedarOf(rules), jsonRulesEngineOf(rules)];
  const services = DETAILS.map((detail) => subjectOf(detail, program, detail));
  /** @type {[string, Rule | undefined][]} */
  const cases = [
    ['no match', undefined],
    ['one match', rules[count >> 1]],
  ];
  for (const [what, rule] of cases) {
    const rates = await ratesOf({
      subjects: [...services, ...yardsticks],
      steps: stepsOf(64, rule),
      expected: rule === undefined,
      rounds: ROUNDS,
      budgetMs: BUDGET_MS,
    });
    for (const detail of DETAILS) {
      const name = `service core ${count} controls ${detail} ${what}`;
      for (const yardstick of yardsticks) {
        const other = `${yardstick.name} ${count} rules`;
        rows.push(rowOf(`${name} / ${other}`, 'evaluations per CPU s', rates(detail), rates(yardstick.name)));
      }
    }
  }
}

/** 990 controls that are for other steps, and 10 for this one: told apart by stage, type, name and pattern of names. */
async function compareScopes() {
  const rules = rulesOf(1000);
  const applying = rules.slice(0, 10).map((rule) => definitionOf(rule, { step_types: ['tool'] }));
  /** @type {((index: number) => object)[]} */
  const others = [
    () => ({ stages: ['post'] }),
    () => ({ step_types: ['llm'] }),
    (index) => ({ step_names: [`other_tool_${index}`] }),
    (index) => ({ step_name_regex: `^other_${index}_` }),
  ];
  const foreign = rules.slice(10).map((rule, index) => definitionOf(rule, turnOf(others, index)(index)));
  const few = subjectOf('few', programOf(applying), 'verdict');
  const many = subjectOf('many', programOf([...applying, ...foreign]), 'verdict');
  const known = stepsOf(64);
  // More than any memo of names holds, so that each name is a new one whenever it comes.
  const unknown = Array.from({ length: 20_000 }, (_, index) => ({
    ...turnOf(known, index),
    name: `tool-${index}`,
  }));
  for (const { what, steps } of [
    { what: 'known step name', steps: known },
    { what: 'unseen step names', steps: unknown },
  ]) {
    const options = { steps, expected: true, rounds: ROUNDS, budgetMs: BUDGET_MS };
    const rates = await ratesOf({ subjects: [few, many], ...options });
    /** @param {string} name */
    const microseconds = (name) => rates(name).map((rate) => 1e6 / rate);
    const name = `service core 1000 controls of which 10 apply, ${what} / 10 controls`;
    rows.push(rowOf(name, 'CPU µs', microseconds('many'), microseconds('few')));
  }
}

const SCANNED_LENGTH = 1024;
const TEXTS_PER_ROUND = 200;

/** 1,000 regex controls over unseen texts, and only the search for their literals in such texts. */
function compareScan() {
  const rules = regexRulesOf(1000);
  const program = programOf(rules.map((rule) => definitionOf(rule)));
  const literals = rules.map(({ pattern }) => {
    const found = regexEvaluator.compile({ pattern }).prefilter?.literals ?? null;
    if (found === null) throw new Error('a pattern of the benchmark has no literal');
    return found;
  });
  const prefilter = createPrefilter(literals);
  const found = new Uint8Array(rules.length);
  const writer = createWriter(7);
  /** Literals of rules where none of the rules matches. */
  const near = () =>
    Array.from({ length: 10 }, () => `x${turnOf(literals, writer.below(literals.length))[0]}y`);

  for (const { what, phrases } of [
    { what: 'no literal', phrases: () => [] },
    { what: '10 literals', phrases: near },
  ]) {
    const texts = () =>
      Array.from({ length: TEXTS_PER_ROUND }, () => writer.text(SCANNED_LENGTH, ...phrases()));
    /** @param {string[]} all */
    const scanned = (all) =>
      microsecondsOf(all, (text) => {
        prefilter.scan(text, found);
        const some = found.includes(1);
        if (some !== (what === '10 literals')) throw new Error('the scan found something else');
      });
    /** @type {(detail: Detail) => (all: string[]) => number} */
    const evaluated = (detail) => (all) =>
      microsecondsOf(
        all.map((text) => stepOf(text)),
        (step) => {
          if (!verdictOf(program, step, detail).is_safe) throw new Error('a control matched');
        },
      );
    const subjects = { scan: scanned, verdict: evaluated('verdict'), full: evaluated('full') };
    const times = createSeries();
    for (let round = -2; round < ROUNDS; round += 1) {
      for (const [name, subject] of Object.entries(subjects)) {
        const time = subject(texts());
        if (round >= 0) times.add(name, time);
      }
    }
    for (const detail of DETAILS) {
      const name = `service core 1000 regex controls 1 KB unseen ${what} ${detail}`;
      const [all, scan] = [times.of(detail), times.of('scan')];
      const beyond = all.map((time, round) => (time - (scan[round] ?? Number.NaN)) / 1000);
      rows.push(rowOf(`${name} / literal scan`, 'CPU µs', all, scan));
      rows.push(rowOf(`${name} beyond the scan`, 'CPU ms', beyond));
    }
  }
}

/**
 * Mean CPU time of a call over different items, in microseconds.
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => unknown} call
 */
function microsecondsOf(items, call) {
  const before = process.cpuUsage();
  for (const item of items) call(item);
  return (cpuMsSince(before) * 1000) / items.length;
}

/** What a reload of 1,000 controls costs, the step after it, and a step later on. */
function compareReload() {
  const definitions = rulesOf(1000).map((rule) => definitionOf(rule));
  const steps = stepsOf(200);
  /** @param {() => unknown} call */
  const milliseconds = (call) => microsecondsOf([null], call) / 1000;
  const measured = createSeries();
  for (let round = -1; round < ROUNDS; round += 1) {
    const library = newLibrary();
    let program = programOf([]);
    const compile = milliseconds(() => {
      program = programOf(definitions, library);
    });
    /** @param {Step} step */
    const evaluate = (step) => program.evaluate(step, 'pre', 'verdict');
    const firstNew = milliseconds(() => evaluate(turnOf(steps, 0)));
    for (const step of steps) evaluate(step);
    const changed = definitionOf({ kind: 'regex', pattern: `\\bchanged-${round + 1}-\\d{6}\\b` });
    const before = program;
    const reload = milliseconds(() => {
      program = programOf([changed, ...definitions.slice(1)], library);
    });
    if (before.controlIds.length !== program.controlIds.length) throw new Error('a control is missing');
    const first = milliseconds(() => evaluate(turnOf(steps, 0)));
    const second = milliseconds(() => evaluate(turnOf(steps, 1)));
    const warm = microsecondsOf(steps, evaluate) / 1000;
    if (round < 0) continue;
    const time = { compile, reload, first, second, warm, firstNew };
    for (const [name, value] of Object.entries(time)) measured.add(name, value);
  }
  /** @param {string} what @param {string} name */
  const row = (what, name) =>
    rowOf(`service core 1000 controls ${what}`, 'CPU ms', measured.of(name), measured.of('warm'));
  rows.push(
    row('compiled anew / warm evaluation', 'compile'),
    row('first evaluation after that / warm evaluation', 'firstNew'),
    row('reloaded, one changed / warm evaluation', 'reload'),
    row('first evaluation after that reload / warm evaluation', 'first'),
    row('second evaluation after that reload / warm evaluation', 'second'),
  );
}

for (const count of [1, 10, 100, 1000]) await compareEngines(count);
await compareScopes();
compareScan();
compareReload();
report('core', rows);
