import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { LimitState, MemoryAnswer, MemoryCall, MemoryMoment } from '../../core/memory.js';
import type { Step } from '../../core/types.js';
import { amountNumber, type amountReader, amountText } from './amounts.js';
import type { BudgetConfig } from './budget-config.js';
import { type BudgetView, MAX_RESERVED } from './budget-state.js';
import { cannotAnswer, limitAnswer, notApplied, secondsText } from './limit-answer.js';

const TOO_MANY_RESERVATIONS = `${MAX_RESERVED} steps of the key have reserved amounts and not ended: send their ends, or wait until they expire`;

type AmountReader = ReturnType<typeof amountReader>;

/** What is reserved for a step; null if nothing is. */
export function reservationOf(view: BudgetView, { stepHash }: MemoryMoment): bigint | null {
  return stepHash === null ? null : view.reservationOf(stepHash);
}

/** What a budget answers about steps. `readActual` is null if what steps cost is not told after them. */
export function budgetAnswers(
  { limit, unit, settle, span }: BudgetConfig,
  readBefore: AmountReader,
  readActual: AmountReader | null,
) {
  const words = (value: bigint): string => `${amountText(value)}${unit === null ? '' : ` ${unit}`}`;
  const of = `${words(limit)} ${span.words}`;
  const inUnit: JsonObject = unit === null ? {} : { unit };

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
  const before = (step: Step, view: BudgetView, { isRepeated, nowUs }: MemoryMoment): MemoryAnswer => {
    const asked = readBefore(step);
    if (typeof asked !== 'bigint') return cannotAnswer(asked.problem);
    if (isRepeated) {
      return limitAnswer(false, `The step was counted before (${of})`, limitNow(view, nowUs), inUnit);
    }
    if (settle !== null && !view.hasRoom) return cannotAnswer(TOO_MANY_RESERVATIONS);
    return answerFor(asked, view, true, nowUs);
  };
  const after = (call: MemoryCall, view: BudgetView, moment: MemoryMoment): MemoryAnswer => {
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

  return { before, after, limitNow, inUnit };
}
