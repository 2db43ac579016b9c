import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { ConfigWarning } from '../../core/evaluator.js';
import type { MemoryRule, RuleState } from '../../core/memory.js';
import { type AmountSource, amountNumber, amountReader, keptAmount } from './amounts.js';
import { budgetAnswers, reservationOf } from './budget-answers.js';
import { type BudgetConfig, budgetSchema } from './budget-config.js';
import { type BudgetDelta, budgetView } from './budget-state.js';
import {
  commonRule,
  createMemoryEvaluator,
  fingerprintOf,
  type MemoryEvaluatorsOptions,
  objectMember,
} from './memory-evaluator.js';
import { keyReader, keyReaderWithStepId, normalizedKey } from './memory-key.js';

/** Limits what steps of a key spend in a window. */
export function createBudgetEvaluator({ maxWindowMs }: MemoryEvaluatorsOptions) {
  return createMemoryEvaluator<BudgetConfig>({
    name: 'budget',
    version: '1.0.0',
    description: 'Matches when steps of a key would spend more than a limit in a window.',
    configSchema: budgetSchema(maxWindowMs * 1_000),
    ruleOf: budgetRule,
    matchesBeforeOnly: ({ settle = null }) => settle === null,
    warningsFor: budgetWarnings,
  });
}

function* budgetWarnings(config: JsonObject): Generator<ConfigWarning, void> {
  const window = objectMember(config, 'window');
  const isGiven = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;
  if (isGiven(window.time_zone) && !isGiven(window.calendar)) {
    yield { code: 'no_effect', path: ['window', 'time_zone'], message: 'has no effect without calendar' };
  }
  if (isGiven(window.idle) && window.life !== true) {
    yield { code: 'no_effect', path: ['window', 'idle'], message: 'has no effect without "life": true' };
  }
  if (isGiven(config.settle)) return;
  for (const name of ['expires', 'on_expiry']) {
    if (isGiven(config[name]))
      yield { code: 'no_effect', path: [name], message: 'has no effect without settle' };
  }
}

const sourceMeaning = (source: AmountSource | null): string | null => {
  if (source === null) return null;
  return 'path' in source ? source.path : `= ${source.constant}`;
};

function budgetRule(config: BudgetConfig): MemoryRule {
  const { limit, unit, amount, reserve, settle, span, expiresUs, releases, countsDenied } = config;
  const readBefore = amountReader(amount ?? reserve);
  const readActual = settle === null ? null : amountReader(settle);
  const answers = budgetAnswers(config, readBefore, readActual);

  const viewAt = (state: RuleState | undefined, nowUs: number) => budgetView(state, span.at(nowUs), nowUs);
  const delta = (op: BudgetDelta['op'], value: bigint | null, nowUs: number): BudgetDelta => ({
    op,
    amount: value === null ? null : keptAmount(value),
    window: { ...span.at(nowUs) },
    limit: keptAmount(limit),
    ends: op === 'reserve' ? nowUs + expiresUs : 0,
    releases,
  });
  const settlement: NonNullable<MemoryRule['settle']> = (state, { step }, isOpen, moment) => {
    if (readActual === null || moment.isRepeated || moment.stepHash === null) return null;
    const actual = readActual(step);
    const isKnown = reservationOf(viewAt(state, moment.nowUs), moment) !== null;
    if (typeof actual === 'bigint') return isKnown || isOpen ? delta('settle', actual, moment.nowUs) : null;
    // Without an amount it is as if the reservation had expired.
    return isKnown ? delta('settle', releases ? 0n : null, moment.nowUs) : null;
  };

  return {
    kind: 'budget',
    fingerprint: fingerprintOf(
      'budget',
      [...normalizedKey(config)],
      span.meaning,
      unit,
      sourceMeaning(amount),
      sourceMeaning(settle),
    ),
    isPerControl: true,
    ...commonRule(config),
    keepUs: Math.max(span.keepUs, settle === null ? 0 : expiresUs) + 1,
    keyOf: settle === null ? keyReader(config) : keyReaderWithStepId(config),
    answer(state, call, moment) {
      const view = viewAt(state, moment.nowUs);
      return call.stage === 'pre'
        ? answers.before(call.step, view, moment)
        : answers.after(call, view, moment);
    },
    consume(state, call, event, moment) {
      if (call.stage === 'post') {
        // What was reserved is settled by `settle`; what was not is charged once, although both may be called.
        const isKnown = reservationOf(viewAt(state, moment.nowUs), moment) !== null;
        return isKnown ? null : settlement(state, call, true, moment);
      }
      const asked = readBefore(call.step);
      if (typeof asked !== 'bigint' || (event === 'denied' && !countsDenied)) return null;
      return delta(settle === null || event === 'denied' ? 'charge' : 'reserve', asked, moment.nowUs);
    },
    ...(settle === null ? {} : { settle: settlement }),
    describe(state, nowUs) {
      const view = viewAt(state, nowUs);
      const { spent, reservations } = view;
      return {
        limit: answers.limitNow(view, nowUs),
        kept: { spent: amountNumber(spent), reservations, ...answers.inUnit },
      };
    },
  };
}
