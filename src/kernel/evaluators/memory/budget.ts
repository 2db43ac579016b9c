import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { ConfigWarning } from '../../core/evaluator.js';
import type {
  LimitState,
  MemoryAnswer,
  MemoryCall,
  MemoryMoment,
  MemoryRule,
  RuleState,
} from '../../core/memory.js';
import type { Step } from '../../core/types.js';
import { type AmountSource, amountNumber, amountReader, amountText, keptAmount } from './amounts.js';
import { type BudgetConfig, budgetSchema } from './budget-config.js';
import { type BudgetDelta, type BudgetView, budgetView, MAX_RESERVED } from './budget-state.js';
import { cannotAnswer, limitAnswer, notApplied, secondsText } from './limit-answer.js';
import {
  commonRule,
  createMemoryEvaluator,
  fingerprintOf,
  type MemoryEvaluatorsOptions,
  objectMember,
} from './memory-evaluator.js';
import { keyReader, keyReaderWithStepId, normalizedKey } from './memory-key.js';

const TOO_MANY_RESERVATIONS = `${MAX_RESERVED} steps of the key have reserved amounts and not ended: send their ends, or wait until they expire`;

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
  const words = (value: bigint): string => `${amountText(value)}${unit === null ? '' : ` ${unit}`}`;
  const of = `${words(limit)} ${span.words}`;
  const inUnit: JsonObject = unit === null ? {} : { unit };

  const viewAt = (state: RuleState | undefined, nowUs: number) => budgetView(state, span.at(nowUs), nowUs);
  const delta = (op: BudgetDelta['op'], value: bigint | null, nowUs: number): BudgetDelta => ({
    op,
    amount: value === null ? null : keptAmount(value),
    window: { ...span.at(nowUs) },
    limit: keptAmount(limit),
    ends: op === 'reserve' ? nowUs + expiresUs : 0,
    releases,
  });
  const reservationOf = (view: BudgetView, { stepHash }: MemoryMoment): bigint | null =>
    stepHash === null ? null : view.reservationOf(stepHash);
  /** With settle, something must be left besides: what the step costs is not known. */
  const exceeds = (spent: bigint, asked: bigint, isBefore: boolean): boolean =>
    spent + asked > limit || (isBefore && settle !== null && spent >= limit);
  const limitAt = (
    spent: bigint,
    wholeAtUs: number | null,
    nowUs: number,
    retryAtUs?: number,
  ): LimitState => ({
    limit: amountNumber(limit),
    remaining: amountNumber(limit > spent ? limit - spent : 0n),
    resetsAfterUs: wholeAtUs === null ? null : wholeAtUs - nowUs,
    retryAfterUs: retryAtUs === undefined ? null : retryAtUs - nowUs,
    windowUs: span.lengthUs,
  });
  const limitNow = (view: BudgetView, nowUs: number): LimitState =>
    limitAt(view.spent, view.wholeAtUs, nowUs);

  /** The answer for a step that costs or reserves an amount and is not charged yet. */
  const answerFor = (asked: bigint, view: BudgetView, isBefore: boolean, nowUs: number): MemoryAnswer => {
    const details = { spent: amountNumber(view.spent), amount: amountNumber(asked), ...inUnit };
    if (!exceeds(view.spent, asked, isBefore)) {
      const window = span.at(nowUs);
      const until = 'rolling' in window ? nowUs + window.rolling + 1 : 'to' in window ? window.to : null;
      const wholeAtUs = asked === 0n ? view.wholeAtUs : until;
      return limitAnswer(false, `Within ${of}`, limitAt(view.spent + asked, wholeAtUs, nowUs), details);
    }
    let spent = view.spent;
    const enough = view.leaving().find((one) => {
      spent -= one.amount;
      return !exceeds(spent, asked, isBefore);
    });
    const state = limitAt(view.spent, view.wholeAtUs, nowUs, isBefore ? enough?.untilUs : undefined);
    const hint = state.retryAfterUs === null ? '' : `; possible again in ${secondsText(state.retryAfterUs)}`;
    const message = `${words(view.spent)} are spent, so that ${words(asked)} more would exceed ${of}${hint}`;
    return limitAnswer(true, message, state, details);
  };
  const answerBefore = (step: Step, view: BudgetView, { isRepeated, nowUs }: MemoryMoment): MemoryAnswer => {
    const asked = readBefore(step);
    if (typeof asked !== 'bigint') return cannotAnswer(asked.problem);
    if (isRepeated) {
      return limitAnswer(false, `The step was counted before (${of})`, limitNow(view, nowUs), inUnit);
    }
    if (settle !== null && !view.hasRoom) return cannotAnswer(TOO_MANY_RESERVATIONS);
    return answerFor(asked, view, true, nowUs);
  };
  const answerAfter = (call: MemoryCall, view: BudgetView, moment: MemoryMoment): MemoryAnswer => {
    if (readActual === null) return notApplied('The budget is charged before the step runs');
    const actual = readActual(call.step);
    if (typeof actual !== 'bigint') {
      // A step that failed need not say what it has cost.
      if (call.identity.error === null) return cannotAnswer(actual.problem);
      return limitAnswer(false, 'The step failed without an amount', limitNow(view, moment.nowUs), inUnit);
    }
    const known = reservationOf(view, moment);
    if (known === null && !moment.isRepeated) return answerFor(actual, view, false, moment.nowUs);
    const spent = view.spent - (known ?? 0n) + (known === null ? 0n : actual);
    const state = limitAt(spent > 0n ? spent : 0n, view.wholeAtUs, moment.nowUs);
    const details = { spent: amountNumber(spent), amount: amountNumber(actual), ...inUnit };
    return limitAnswer(false, `The step was let pass before it ran (${of})`, state, details);
  };
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
      return call.stage === 'pre' ? answerBefore(call.step, view, moment) : answerAfter(call, view, moment);
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
      return { limit: limitNow(view, nowUs), kept: { spent: amountNumber(spent), reservations, ...inUnit } };
    },
  };
}
