/**
 * How long the longest evaluation of an expression holds the thread: hostile expressions on hostile steps, the first run of each
 * and the longest of later ones. Asserts nothing about time; `packages/cel/test/bounds.test.ts` asserts the work that is counted.
 *
 * `node bench/cel-worst.mjs` after `npm run build`.
 */

import { compileExpression, MAX_WORK } from '../dist/packages/cel/src/index.js';
import { HOSTILE_EXPRESSIONS, hostileSteps, NAMES } from './support/cel-hostile.mjs';

/** @import { CelType } from '../dist/packages/cel/src/index.js' */

/** CPU time of this thread, where Node.js tells it; of the process elsewhere. */
function threadMs() {
  /** @type {{ threadCpuUsage?: () => NodeJS.CpuUsage }} */
  const { threadCpuUsage } = /** @type {any} */ (process);
  const usage = threadCpuUsage?.() ?? process.cpuUsage();
  return (usage.user + usage.system) / 1_000;
}

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const variables = new Map(NAMES.map((name) => [name, /** @type {CelType} */ ({ kind: 'any' })]));
const steps = hostileSteps();
/** @type {{ text: string, step: number, first: number, later: number, work: number, ok: boolean, rate: number }[]} */
const found = [];
for (const text of HOSTILE_EXPRESSIONS) {
  steps.forEach((step, at) => {
    const compiled = compileExpression(text, { variables, strictTypes: true });
    let [first, later, work] = [0, Number.POSITIVE_INFINITY, 0];
    let ok = true;
    for (let round = 0; round <= ROUNDS; round += 1) {
      const values = { variable: (/** @type {number} */ index) => /** @type {any} */ (step[index]) };
      const before = threadMs();
      const result = compiled.evaluate(
        values,
        () => 0,
        (spent) => {
          work = spent;
        },
      );
      const ms = threadMs() - before;
      ok = result.ok;
      if (round === 0) first = ms;
      else later = Math.min(later, ms);
    }
    const rate = (later * 1e6) / Math.max(1, Math.min(work, MAX_WORK));
    found.push({
      text: text.slice(0, 60),
      step: at,
      first,
      later,
      work: Math.round(work),
      ok,
      rate: Math.round(rate),
    });
  });
}
console.log('longest, when the code is warm:');
console.table([...found].sort((one, other) => other.later - one.later).slice(0, 15));
console.log('longest first evaluations:');
console.table([...found].sort((one, other) => other.first - one.first).slice(0, 10));
console.log('most nanoseconds for a step of work:');
console.table(
  [...found]
    .filter(({ work }) => work > 2_000)
    .sort((one, other) => other.rate - one.rate)
    .slice(0, 15),
);
