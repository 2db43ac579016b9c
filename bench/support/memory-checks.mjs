/** The time of one check of `history` after more and more events of its key, in the process, without a store. */
import { createHistoryEvaluator } from '../../dist/src/kernel/evaluators/memory/history.js';
import { historyReducer } from '../../dist/src/kernel/evaluators/memory/history-reducer.js';

/** @import { RuleState } from '../../dist/src/kernel/core/memory.js' */

const WINDOW_US = 86_400_000_000;
const START_US = 1_800_000_000_000_000;
const CHECKS = 2_000;
/** The same statements as those that are kept longest: each event of the last day counts. */
const STATEMENTS = {
  formerly: {},
  count: { compare: { gt: 100 } },
  sum: { value: 'input.amount', compare: { gt: 1_000_000_000 } },
};
/** @param {string} text */
const hash = (text) => text.slice(0, 22).padEnd(22, '-');

/**
 * For each statement, the microseconds of a check after so many events.
 * @param {readonly number[]} counts in ascending order
 */
export function timeChecks(counts) {
  const evaluator = createHistoryEvaluator({ maxWindowMs: WINDOW_US / 1_000 });
  return Object.entries(STATEMENTS).map(([op, members]) => {
    const event = { kinds: ['request'], step_names: ['pay'] };
    const { memory: rule } = evaluator.compile({ op, within: '24h', event, key: ['session'], ...members });
    if (rule?.records === undefined) throw new Error(`${op} records nothing`);
    const step = { type: 'tool', name: 'pay', input: { amount: 1 }, output: null, context: null };
    const identity = { namespace: 'default', agent: 'a', sessionId: 's', stepId: null, error: null };
    const call = { step, stage: /** @type {const} */ ('pre'), identity };
    /** @type {RuleState | undefined} */
    let state;
    let [nowUs, made] = [START_US, 0];
    const last = counts.at(-1) ?? 1;
    const times = counts.map((count) => {
      for (; made < count; made += 1) {
        nowUs += Math.floor(WINDOW_US / last / 2);
        const moment = { nowUs, sinceUs: START_US, isRepeated: false, stepHash: null, hash };
        const [record] = rule.records?.of(call, 'request', moment) ?? [];
        state = historyReducer.apply(state, record?.delta ?? null, nowUs, null);
      }
      const moment = { nowUs: nowUs + 1, sinceUs: START_US, isRepeated: false, stepHash: null, hash };
      for (let round = 0; round < CHECKS; round += 1) rule.answer(state, call, moment);
      const began = process.hrtime.bigint();
      for (let round = 0; round < CHECKS; round += 1) rule.answer(state, call, moment);
      return Number(process.hrtime.bigint() - began) / 1_000 / CHECKS;
    });
    return { op, times };
  });
}
