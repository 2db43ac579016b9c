import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { RuleReducer, RuleState } from '../../core/memory.js';
import { type KeptAmount, keptAmount } from './amounts.js';

/**
 * What counts at a time: with `rolling`, charges of the last so many microseconds, both ends included; with `from` and `to`,
 * those of a calendar window; with `idle`, all, until nothing was charged for longer. Each entry tells its window.
 */
export type BudgetWindow =
  | { readonly rolling: number }
  | { readonly from: number; readonly to: number }
  | { readonly idle: number };

/** An amount that was reserved before the step, by the hash of the step. */
interface Reservation extends JsonObject {
  /** Time that it is charged at: see `chargeTime`. */
  at: number;
  amount: KeptAmount;
  /** When it expires, in microseconds since 1970. */
  ends: number;
  /** Whether it is released then; otherwise it stays charged. */
  releases: boolean;
}

/** What a budget keeps of a key. */
interface BudgetState extends JsonObject {
  /** Time and amount of each charge in turn, by time. Charges of a time that counts as one are one. */
  charges: KeptAmount[];
  /** Of all charges. */
  sum: KeptAmount;
  reserved: { [stepHash: string]: Reservation };
  window: JsonObject;
  /** When something was charged or reserved last. */
  last: number;
  limit: KeptAmount;
  /** The last settlement: the same one may follow, when a step was not seen before its end. */
  settled: string;
}

/** What an entry says. `amount` null: the reserved amount. */
export interface BudgetDelta extends JsonObject {
  op: 'charge' | 'reserve' | 'settle';
  amount: KeptAmount | null;
  window: JsonObject;
  limit: KeptAmount;
  ends: number;
  releases: boolean;
}

/** Most charges of a rolling window that are told apart. */
const MAX_CHARGES = 10_000;
/** Beyond it, those in the same one of so many parts of the window are one, at the time of the last. */
const PARTS = 5_000;
/** Most reservations. Beyond it, those that have expired are charged for good. */
export const MAX_RESERVED = 1_000;

function isBudgetState(state: RuleState | undefined): state is BudgetState {
  return (
    isObject(state) && Array.isArray(state.charges) && isObject(state.reserved) && isObject(state.window)
  );
}

function isBudgetDelta(delta: JsonValue): delta is BudgetDelta {
  return isObject(delta) && isObject(delta.window) && typeof delta.op === 'string' && isKept(delta.limit);
}

function isKept(value: JsonValue | undefined): value is KeptAmount {
  return typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= 0
    : typeof value === 'string' && /^\d+$/.test(value);
}

/** Since when charges count, those of this time included. */
function since(window: JsonObject, last: number, nowUs: number): number {
  const { rolling, from, to, idle } = window;
  if (typeof rolling === 'number') return nowUs - rolling;
  if (typeof from === 'number' && typeof to === 'number') return nowUs < to ? from : to;
  return typeof idle === 'number' && nowUs - last > idle ? Number.POSITIVE_INFINITY : 0;
}

/** The time of a charge that is made now: the same for all charges that stop counting together. */
function chargeTime(window: JsonObject, nowUs: number): number {
  if (typeof window.from === 'number') return window.from;
  return typeof window.idle === 'number' ? 0 : nowUs;
}

/** Whether a reservation can still be settled. */
function isOpen({ at, ends, releases }: Reservation, from: number, nowUs: number): boolean {
  return nowUs <= ends || (!releases && at >= from);
}

/** What counts of a budget at a time. */
export interface BudgetView {
  readonly spent: bigint;
  /** When nothing of it counts any more; null for never. */
  readonly wholeAtUs: number | null;
  /** Amounts that count, by the time at which they cease to; those that never do are left out. */
  leaving(): readonly { readonly amount: bigint; readonly untilUs: number }[];
  /** The reserved amount of a step that can still be settled; null without one. */
  reservationOf(stepHash: string): bigint | null;
  readonly reservations: number;
  /** Whether there is room for another reservation. */
  readonly hasRoom: boolean;
}

/** What counts at a time, with the window that the configuration has then. */
export function budgetView(state: RuleState | undefined, window: BudgetWindow, nowUs: number): BudgetView {
  const kept = isBudgetState(state) ? state : emptyState({ ...window }, nowUs);
  const from = since({ ...window }, kept.last, nowUs);
  const reserved = Object.values(kept.reserved).filter((one) => isOpen(one, from, nowUs));
  const counted = reserved.filter(({ at }) => at >= from);
  const { charges } = kept;
  let spent = counted.reduce((sum, { amount }) => sum + BigInt(amount), BigInt(kept.sum));
  const first = firstCharge(charges, from);
  for (let index = 1; index < first; index += 2) spent -= BigInt(charges[index] as KeptAmount);
  /** When a charge of a time ceases to count; infinity for never. */
  const untilOf = (at: number): number => {
    if ('rolling' in window) return at + window.rolling + 1;
    return 'to' in window ? window.to : Number.POSITIVE_INFINITY;
  };
  const releasedAt = ({ at, ends, releases }: Reservation): number =>
    releases ? Math.min(ends + 1, untilOf(at)) : untilOf(at);
  const lastCharge = first < charges.length ? untilOf(Number(charges.at(-2))) : nowUs;
  const whole = counted.reduce((last, one) => Math.max(last, releasedAt(one)), lastCharge);
  return {
    spent,
    wholeAtUs: whole === Number.POSITIVE_INFINITY ? null : whole,
    leaving() {
      const found: { amount: bigint; untilUs: number }[] = [];
      for (let index = first; index < charges.length; index += 2) {
        const amount = BigInt(charges[index + 1] as KeptAmount);
        found.push({ amount, untilUs: untilOf(Number(charges[index])) });
      }
      for (const one of counted) found.push({ amount: BigInt(one.amount), untilUs: releasedAt(one) });
      return found
        .filter(({ untilUs }) => untilUs !== Number.POSITIVE_INFINITY)
        .sort((left, right) => left.untilUs - right.untilUs);
    },
    reservationOf(stepHash) {
      const one = Object.hasOwn(kept.reserved, stepHash) ? kept.reserved[stepHash] : undefined;
      return one === undefined || !isOpen(one, from, nowUs) ? null : BigInt(one.amount);
    },
    reservations: reserved.length,
    hasRoom: reserved.length < MAX_RESERVED || reserved.some(({ ends }) => ends < nowUs),
  };
}

function emptyState(window: JsonObject, atUs: number): BudgetState {
  return { charges: [], sum: 0, reserved: {}, window, last: atUs, limit: 0, settled: '' };
}

/** Index of the first charge at `from` or later. */
function firstCharge(charges: readonly KeptAmount[], from: number): number {
  let index = 0;
  while (index < charges.length && Number(charges[index]) < from) index += 2;
  return index;
}

/** Leaves out what cannot count any more, nor be settled. */
function drop(state: BudgetState, nowUs: number): void {
  const from = since(state.window, state.last, nowUs);
  const first = firstCharge(state.charges, from);
  let sum = BigInt(state.sum);
  for (const [index, value] of state.charges.splice(0, first).entries()) {
    if (index % 2 === 1) sum -= BigInt(value);
  }
  state.sum = keptAmount(sum);
  for (const [step, one] of Object.entries(state.reserved)) {
    if (!isOpen(one, from, nowUs)) delete state.reserved[step];
  }
}

function charge(state: BudgetState, at: number, amount: KeptAmount): void {
  const { charges } = state;
  let index = charges.length;
  while (index > 0 && Number(charges[index - 2]) > at) index -= 2;
  if (index > 0 && charges[index - 2] === at) {
    charges[index - 1] = keptAmount(BigInt(charges[index - 1] as KeptAmount) + BigInt(amount));
  } else charges.splice(index, 0, at, amount);
  state.sum = keptAmount(BigInt(state.sum) + BigInt(amount));
  const { rolling } = state.window;
  if (charges.length > 2 * MAX_CHARGES && typeof rolling === 'number') {
    state.charges = merged(charges, Math.ceil(rolling / PARTS));
  }
}

/** Charges of the same span become one, at the time of the last: what counts longer denies more, never less. */
function merged(charges: readonly KeptAmount[], spanUs: number): KeptAmount[] {
  const found: KeptAmount[] = [];
  let last = Number.NaN;
  for (let index = 0; index < charges.length; index += 2) {
    const at = Number(charges[index]);
    const amount = charges[index + 1] as KeptAmount;
    const span = Math.floor(at / spanUs);
    if (span === last) {
      found[found.length - 2] = at;
      found[found.length - 1] = keptAmount(BigInt(found[found.length - 1] as KeptAmount) + BigInt(amount));
    } else found.push(at, amount);
    last = span;
  }
  return found;
}

/** Charges the expired reservations for good, so that there is room for others. */
function chargeExpired(state: BudgetState, nowUs: number): void {
  for (const [step, { at, amount, ends }] of Object.entries(state.reserved)) {
    if (ends >= nowUs) continue;
    delete state.reserved[step];
    charge(state, at, amount);
  }
}

function settle(state: BudgetState, delta: BudgetDelta, atUs: number, step: string): void {
  const mark = `${step} ${atUs}`;
  if (state.settled === mark) return;
  state.settled = mark;
  const known = Object.hasOwn(state.reserved, step) ? state.reserved[step] : undefined;
  delete state.reserved[step];
  const amount = delta.amount ?? known?.amount ?? null;
  if (amount === null) return;
  const at = known?.at ?? chargeTime(state.window, atUs);
  if (at >= since(state.window, state.last, atUs)) charge(state, at, amount);
}

export const budgetReducer: RuleReducer = {
  apply(given, delta, atUs, stepHash) {
    if (!isBudgetDelta(delta) || !(delta.amount === null || isKept(delta.amount))) return given ?? {};
    const state = isBudgetState(given) ? given : emptyState(delta.window, atUs);
    drop(state, atUs);
    state.window = delta.window;
    drop(state, atUs);
    state.last = atUs;
    state.limit = delta.limit;
    const at = chargeTime(delta.window, atUs);
    if (delta.op === 'settle') {
      if (stepHash !== null) settle(state, delta, atUs, stepHash);
    } else if (delta.amount === null) return state;
    else if (delta.op === 'charge') charge(state, at, delta.amount);
    else if (stepHash !== null) {
      if (Object.keys(state.reserved).length >= MAX_RESERVED) chargeExpired(state, atUs);
      state.reserved[stepHash] = { at, amount: delta.amount, ends: delta.ends, releases: delta.releases };
    }
    return state;
  },
  prune(state, nowUs) {
    if (!isBudgetState(state)) return undefined;
    drop(state, nowUs);
    return state.charges.length === 0 && Object.keys(state.reserved).length === 0 ? undefined : state;
  },
  used(state, nowUs) {
    if (!isBudgetState(state) || state.limit === 0) return 0;
    const { spent } = budgetView(state, state.window as unknown as BudgetWindow, nowUs);
    return Math.min(1, Number(spent) / Number(state.limit));
  },
};
