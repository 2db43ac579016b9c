import { turnOf } from './core-steps.mjs';
import { median } from './report.mjs';

/** @import { Row } from './report.mjs' */

/**
 * CPU time of this process since `before`, in milliseconds: all its threads, so that collecting garbage counts. Wall
 * time would say more about what else the machine does.
 * @param {NodeJS.CpuUsage} before
 */
export function cpuMsSince(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** On a busy machine a turn ends after so many budgets of wall time. */
const MOST_WALL_BUDGETS = 3;
/** About how long calls are made without looking at the clock, in milliseconds. */
const BATCH_MS = 1;

/**
 * Something that is timed: `decide` says whether a step may go on, at once or by promise.
 * @template S
 * @typedef {{ name: string, decide: (step: S) => boolean | Promise<boolean> }} Subject
 */

/**
 * @template S
 * @typedef {{ subject: Subject<S>, steps: readonly S[], expected: boolean, budgetMs: number }} Run
 */

/**
 * Rates of several subjects, in calls per second of CPU time, over rounds in which they take turns. Every decision is
 * checked.
 * @template S
 * @param {{ subjects: Subject<S>[], steps: readonly S[], expected: boolean, rounds: number, budgetMs: number }} options
 *   `budgetMs` is the CPU time of one subject in one round; it makes at least one call.
 * @returns {Promise<(name: string) => number[]>} one rate for each round, by the name of the subject
 */
export async function ratesOf({ subjects, steps, expected, rounds, budgetMs }) {
  const runs = [];
  for (const subject of subjects) runs.push(await warmUp({ subject, steps, expected, budgetMs }));
  const rates = createSeries();
  for (let round = 0; round < rounds; round += 1) {
    for (const run of runs) rates.add(run.subject.name, await rateOf(run));
  }
  return rates.of;
}

/**
 * Figures of rounds, by the name of what was measured.
 * @template [F=number]
 */
export function createSeries() {
  /** @type {Map<string, F[]>} */
  const series = new Map();
  return {
    /** @param {string} name @param {F} figure */
    add(name, figure) {
      const figures = series.get(name);
      if (figures === undefined) series.set(name, [figure]);
      else figures.push(figure);
    },
    /** @param {string} name */
    of(name) {
      const figures = series.get(name);
      if (figures === undefined) throw new Error(`${name} was not measured`);
      return figures;
    },
  };
}

/**
 * Runs a subject for one budget, and finds out how many calls make a batch.
 * @template S
 * @param {Run<S>} options
 */
async function warmUp(options) {
  const first = await rateOf({ ...options, batch: 1 });
  return { ...options, batch: Math.max(1, Math.round((first * BATCH_MS) / 1000)) };
}

/**
 * @template S
 * @param {Run<S> & { batch: number }} run
 */
async function rateOf({ subject, steps, expected, budgetMs, batch }) {
  const decisionOf = subject.decide;
  let calls = 0;
  let wrong = 0;
  const start = performance.now();
  const before = process.cpuUsage();
  let elapsed = 0;
  do {
    for (let index = 0; index < batch; index += 1) {
      const decision = decisionOf(turnOf(steps, calls));
      // Nothing is awaited that is no promise: that alone would cost more than a quick decision.
      if ((typeof decision === 'boolean' ? decision : await decision) !== expected) wrong += 1;
      calls += 1;
    }
    elapsed = cpuMsSince(before);
    // A busy machine may take the processor away before the first call.
  } while (elapsed === 0 || (elapsed < budgetMs && performance.now() - start < MOST_WALL_BUDGETS * budgetMs));
  if (wrong > 0) throw new Error(`${subject.name}: ${wrong} of ${calls} decisions were wrong`);
  return (calls / elapsed) * 1000;
}

/**
 * A row that compares two lists of figures of the same rounds.
 * @param {string} name
 * @param {string} unit
 * @param {number[]} values
 * @param {number[]} [yardsticks]
 * @returns {Row}
 */
export function rowOf(name, unit, values, yardsticks) {
  if (yardsticks === undefined) return { name, value: median(values), unit };
  return {
    name,
    value: median(values),
    unit,
    yardstick: median(yardsticks),
    ratio: median(values.map((value, round) => value / (yardsticks[round] ?? Number.NaN))),
  };
}
