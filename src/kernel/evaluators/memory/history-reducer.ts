import { isObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { Delta, RuleReducer, RuleState } from '../../core/memory.js';

/**
 * What `history` keeps for a key: the newest events of one or two series, each as few as its statement can be decided by.
 * The state is the same for all statements; how many events are kept, and which, is in the delta.
 */
export interface HistoryState {
  /** Length of the window, in microseconds. */
  w: number;
  /** Of `event`. */
  e?: Series;
  /** Of `anchor`. */
  a?: Series;
}

export interface Series {
  /** In order of time. */
  k: Kept[];
  /** Time of the newest event that was dropped within the window, in microseconds; 0 without one. */
  d: number;
  /** Of sums: the largest value ever, and the sum of the kept ones; in billionths, as all values. */
  m?: string;
  n?: string;
  /** The largest number of events, values or the largest sum before the limit is reached, for lists of limits. */
  l?: number;
}

/**
 * An event: its time in microseconds; whose it is (`ownMark`), empty if not known; its value, a sum in billionths or the hash of a
 * value; the facts that `where` reads of it, null if they were too large to be kept; and for events that were merged, the time
 * of the first.
 */
export type Kept = [
  atUs: number,
  mark: string,
  value?: string | null,
  facts?: JsonValue[] | null,
  fromUs?: number,
];

/** How events of a series are kept: the newest ones; the two newest of each value; those that a sum needs. */
export type Keeping = 'newest' | 'distinct' | 'sum';

/** An event that is added to a series. */
export interface Added {
  readonly keep: Keeping;
  /** Most events that are kept. */
  readonly most: number;
  /** Of sums: events before those whose sum exceeds it do not matter; in billionths. */
  readonly enough?: string;
  /** `<` before a step and `>` after it; empty for a denied step, which may be sent again and counts each time. */
  readonly side: '' | '<' | '>';
  readonly value?: string;
  readonly facts?: JsonValue[] | null;
  readonly limit?: number;
}

/** Longest part of the hash of a step that is kept: 66 bits. */
const MARK_LENGTH = 11;

/** The mark of the event of a step at a side; empty without a step id. */
export function ownMark(stepHash: string | null, side: Added['side']): string {
  return stepHash === null || side === '' ? '' : stepHash.slice(0, MARK_LENGTH) + side;
}

/** An entry of the history of a key. */
export function historyDelta(windowUs: number, event: Added | null, anchor: Added | null): Delta {
  const parts = [
    ['e', event],
    ['a', anchor],
  ] as const;
  const added = parts.filter(([, one]) => one !== null);
  return Object.fromEntries([['w', windowUs], ...added]) as unknown as Delta;
}

export const historyReducer: RuleReducer = {
  apply(state, delta, atUs, stepHash) {
    const kept = historyOf(state) ?? { w: 0 };
    if (isObject(delta)) {
      if (typeof delta.w === 'number') kept.w = delta.w;
      for (const part of ['e', 'a'] as const) {
        const added = addedOf(delta[part]);
        if (added !== null) kept[part] = add(kept[part] ?? { k: [], d: 0 }, added, atUs, stepHash, kept.w);
      }
    }
    return kept as unknown as RuleState;
  },
  prune(state, nowUs) {
    const kept = historyOf(state);
    if (kept === undefined) return undefined;
    for (const part of ['e', 'a'] as const) {
      const series = kept[part];
      if (series === undefined) continue;
      forget(series, nowUs - kept.w);
      if (series.k.length === 0 && series.d === 0) delete kept[part];
    }
    return kept.e === undefined && kept.a === undefined ? undefined : (kept as unknown as RuleState);
  },
  used(state, nowUs) {
    const kept = historyOf(state);
    const series = kept?.e;
    if (kept === undefined || series?.l === undefined) return 0;
    const sinceUs = nowUs - kept.w;
    const open = series.k.filter(([atUs]) => atUs >= sinceUs);
    const used = series.n === undefined ? countOf(open) : Number(sumOf(series, sinceUs)) / 1e9;
    return used >= series.l ? 1 : used / series.l;
  },
};

/** Distinct values; events without one count each. */
function countOf(open: readonly Kept[]): number {
  const valued = open.filter(([, , value]) => typeof value === 'string');
  return open.length - valued.length + new Set(valued.map(([, , value]) => value)).size;
}

/** The sum of the values since a time, in billionths. */
export function sumOf({ k, n = '0' }: Series, sinceUs: number): bigint {
  let sum = BigInt(n);
  for (const event of k) {
    if (event[0] >= sinceUs) break;
    sum -= amountIn(event);
  }
  return sum;
}

/** A state of this kind; undefined for anything else. */
export function historyOf(state: RuleState | undefined): HistoryState | undefined {
  return isObject(state) && typeof state.w === 'number' ? (state as unknown as HistoryState) : undefined;
}

function addedOf(part: JsonValue | undefined): Added | null {
  if (!isObject(part) || typeof part.most !== 'number' || typeof part.keep !== 'string') return null;
  return part as unknown as Added;
}

function add(series: Series, added: Added, atUs: number, stepHash: string | null, windowUs: number): Series {
  const { keep, most, side, value, facts, limit } = added;
  const event: Kept = [atUs, ownMark(stepHash, side)];
  if (value !== undefined || facts !== undefined) event.push(value ?? null);
  if (facts !== undefined) event.push(facts);
  if (keep === 'distinct') dropThird(series, value);
  forget(series, atUs - windowUs);
  series.k.push(event);
  if (limit === undefined) delete series.l;
  else series.l = limit;
  if (keep === 'sum') keepSum(series, BigInt(added.enough ?? 0), BigInt(value ?? 0), most);
  else if (series.k.length > most) drop(series, series.k.length - most);
  return series;
}

/** Of a value, its last event and the one before are enough: the last may be that of the step which is sent again. */
function dropThird({ k }: Series, value: string | undefined): void {
  const last = k.findLastIndex((one) => one[2] === value);
  const before = last < 1 ? -1 : k.findLastIndex((one, index) => index < last && one[2] === value);
  if (before >= 0) k.splice(before, 1);
}

/**
 * Values are not negative, so events before those whose sum is enough, even without one of them, decide nothing as long as
 * these are in the window. If more are needed than may be kept, neighbours are merged in the older half.
 */
function keepSum(series: Series, enough: bigint, value: bigint, most: number): void {
  const { k } = series;
  const largest = BigInt(series.m ?? 0);
  const max = value > largest ? value : largest;
  let total = BigInt(series.n ?? 0) + value;
  let dropped = 0;
  for (; dropped < k.length - 1; dropped += 1) {
    const rest = total - amountIn(k[dropped]);
    if (rest - max <= enough) break;
    total = rest;
  }
  drop(series, dropped);
  if (k.length > most) k.splice(0, most, ...mergedPairs(k.slice(0, most)));
  series.m = String(max);
  series.n = String(total);
}

function amountIn(event: Kept | undefined): bigint {
  return BigInt(event?.[2] ?? 0);
}

function mergedPairs(events: readonly Kept[]): Kept[] {
  const merged: Kept[] = [];
  for (let index = 0; index < events.length; index += 2) {
    const [one, other] = [events[index], events[index + 1]];
    if (one === undefined) break;
    if (other === undefined) merged.push(one);
    else {
      const sum = String(amountIn(one) + amountIn(other));
      const isDecided = one[3] !== null && other[3] !== null;
      merged.push([other[0], '', sum, isDecided ? [1] : null, one[4] ?? one[0]]);
    }
  }
  return merged;
}

function drop(series: Series, count: number): void {
  const last = series.k[count - 1];
  if (last === undefined) return;
  series.d = last[0];
  series.k.splice(0, count);
}

/** Drops what is before a time. */
function forget(series: Series, sinceUs: number): void {
  let count = 0;
  let sum = 0n;
  while (count < series.k.length && (series.k[count]?.[0] ?? 0) < sinceUs) {
    if (series.n !== undefined) sum += amountIn(series.k[count]);
    count += 1;
  }
  if (count > 0) series.k.splice(0, count);
  if (series.n !== undefined && count > 0) series.n = String(BigInt(series.n) - sum);
  if (series.d < sinceUs) series.d = 0;
}
