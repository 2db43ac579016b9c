import type { MemoryMoment, RuleState } from '../../core/memory.js';
import { amountOf } from './amounts.js';
import { type Added, historyOf, type Kept, ownMark, type Series, sumOf } from './history-reducer.js';
import type { WhereRun } from './history-run.js';
import { type Present, type Satisfied, type SeriesPlan, satisfies } from './history-series.js';

/** How a number is compared with a constant. */
export const COMPARISONS = ['gt', 'gte', 'lt', 'lte', 'eq'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** Numbers of events, values and amounts are all counted in billionths, as amounts are. */
export const ONE = amountOf(1) ?? 0n;

/** An event of the window, and what it is worth. */
export interface Weighed {
  readonly atUs: number;
  readonly satisfied: boolean | null;
  readonly event: Kept;
}

/** The events of a window that are not those of the step itself, the newest first. */
export interface WindowEvents {
  readonly events: readonly Weighed[];
  /** Time of the newest event of the window that is not kept any more; 0 without one. */
  readonly lostUs: number;
}

export interface WindowAt {
  readonly windowUs: number;
  readonly moment: MemoryMoment;
  readonly side: Added['side'];
}

/** The events of a series in the window that ends now and begins `windowUs` before, both included. */
export function eventsOf(
  series: Series | undefined,
  plan: SeriesPlan,
  present: Present,
  run: WhereRun,
  { windowUs, moment, side }: WindowAt,
): WindowEvents | { readonly error: string } {
  const sinceUs = moment.nowUs - windowUs;
  const own = moment.isRepeated ? ownMark(moment.stepHash, side) : '';
  const events: Weighed[] = [];
  const kept = series?.k ?? [];
  const isMerged = own !== '' && !kept.some(([, mark]) => mark === own);
  for (let index = kept.length - 1; index >= 0; index -= 1) {
    const event = kept[index] as Kept;
    const [atUs, mark, , , fromUs = atUs] = event;
    if (atUs < sinceUs) break;
    if (own !== '' && mark === own) continue;
    const satisfied: Satisfied = satisfies(plan, event, present, run);
    if (typeof satisfied === 'object' && satisfied !== null) return satisfied;
    // Of events that were merged, some may be before the window, or be of the step itself.
    const isUnsure = fromUs < sinceUs || (isMerged && fromUs < atUs);
    events.push({ atUs, satisfied: isUnsure && satisfied === true ? null : satisfied, event });
  }
  // Whichever events are lost, none satisfies a condition that the step itself does not.
  const lostUs = series !== undefined && series.d >= sinceUs && present.isOpen ? series.d : 0;
  return { events, lostUs };
}

/** The series of a rule, if something is kept. */
export function seriesOf(state: RuleState | undefined, part: 'e' | 'a'): Series | undefined {
  return historyOf(state)?.[part];
}

const NO_EVENTS = { sum: 0n, lastUs: null };

/**
 * The sum of a series without conditions on its events, and its newest event, from the totals that are kept of it; null where they
 * do not tell it. It does not depend on the number of events in the window.
 */
export function wholeSum(
  series: Series | undefined,
  { windowUs, moment }: WindowAt,
): { readonly sum: bigint; readonly lastUs: number | null } | null {
  if (series === undefined) return NO_EVENTS;
  const sinceUs = moment.nowUs - windowUs;
  const first = firstSince(series, sinceUs);
  // Some of the events that were merged into the first one may be before the window.
  if (first !== undefined && (first[4] ?? first[0]) < sinceUs) return null;
  if (moment.isRepeated || series.d >= sinceUs) return null;
  return { sum: sumOf(series, sinceUs), lastUs: first === undefined ? null : (series.k.at(-1)?.[0] ?? null) };
}

function firstSince({ k }: Series, sinceUs: number): Kept | undefined {
  for (const event of k) if (event[0] >= sinceUs) return event;
  return undefined;
}

/** A number between two bounds, both included; `most` is null without a bound. */
export interface Measured {
  readonly least: bigint;
  readonly most: bigint | null;
  /** Without this event, and those before it, the comparison holds no longer; null without such an event. */
  readonly leavesUs: number | null;
}

/**
 * Counts events, adds their values, or counts their distinct values, beginning with those of the present step, which is null if it does
 * not count.
 */
export function measure(
  op: 'count' | 'sum' | 'distinct',
  { events, lostUs }: WindowEvents,
  current: string | null,
  holds: (measured: bigint) => boolean,
): Measured {
  const seen = new Set<string>();
  const weight = (value: string | null | undefined): bigint => {
    if (op === 'count') return ONE;
    if (op === 'sum') return BigInt(value ?? 0);
    if (value === undefined || value === null || seen.has(value)) return 0n;
    seen.add(value);
    return ONE;
  };
  let least = current === null ? 0n : weight(current);
  let leavesUs: number | null = null;
  let isHeld = holds(least);
  const uncertain: Kept[] = [];
  for (const { atUs, satisfied, event } of events) {
    if (satisfied === false) continue;
    if (satisfied === null) {
      uncertain.push(event);
      continue;
    }
    least += weight(event[2]);
    if (!isHeld && holds(least)) {
      isHeld = true;
      leavesUs = atUs;
    }
  }
  let most = least;
  for (const event of uncertain) most += weight(event[2]);
  return { least, most: lostUs > 0 ? null : most, leavesUs };
}

/** Whether a number within bounds compares so; null if that depends on where it is. */
export function compared(
  op: Comparison,
  { least, most }: Omit<Measured, 'leavesUs'>,
  than: bigint,
): boolean | null {
  const low = compares(op, least, than);
  if (most === least) return low;
  if (op === 'eq') return least > than || (most !== null && most < than) ? false : null;
  const grows = op === 'gt' || op === 'gte';
  const high = most === null ? grows : compares(op, most, than);
  return low === high ? low : null;
}

export function compares(op: Comparison, left: bigint, right: bigint): boolean {
  switch (op) {
    case 'gt':
      return left > right;
    case 'gte':
      return left >= right;
    case 'lt':
      return left < right;
    case 'lte':
      return left <= right;
    case 'eq':
      return left === right;
  }
}
