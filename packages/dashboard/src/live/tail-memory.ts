import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import type { TailPosition } from './event-tail.js';
import { RowQueue } from './row-queue.js';

/** A row of the page: an event, or the number of events that were not drawn. */
export type TailRow =
  | { readonly key: string; readonly event: ControlExecutionEvent }
  | { readonly key: string; readonly skipped: number };

/** What a tail has of its events. It outlives the page: who returns finds the rows again. */
export interface TailPlace {
  readonly filters: string;
  readonly position: TailPosition;
  readonly queue: RowQueue<ControlExecutionEvent>;
  /** Latest first. */
  rows: readonly TailRow[];
  received: number;
  /** Whether the rows begin with the events that were stored before. */
  isLoaded: boolean;
  /** When the page was left. */
  leftAtMs: number;
}

const MAX_PLACES = 4;
/** Most rows: few enough that the table is not virtualised, so that they slide in. */
const MAX_ROWS = 200;
/** After a longer time, a tail begins anew: otherwise it would read everything that was stored since. */
const KEPT_MS = 120_000;

const places = new Map<string, TailPlace>();

/** The place of a tail with these filters: that of the last minutes, or a new one. */
export function placeOf(filters: string, nowMs: number): TailPlace {
  const kept = places.get(filters);
  if (kept !== undefined && nowMs - kept.leftAtMs < KEPT_MS) return kept;
  const place: TailPlace = {
    filters,
    position: { value: undefined },
    queue: new RowQueue(),
    rows: [],
    received: 0,
    isLoaded: false,
    leftAtMs: Number.POSITIVE_INFINITY,
  };
  places.delete(filters);
  places.set(filters, place);
  const [oldest] = places.keys();
  if (places.size > MAX_PLACES && oldest !== undefined) places.delete(oldest);
  return place;
}

/** The rows with new events on top, which were received in this order, and the number of those that were left out. */
export function withRows(
  before: readonly TailRow[],
  fresh: readonly ControlExecutionEvent[],
  skipped: number,
): readonly TailRow[] {
  const known = new Set(before.map(({ key }) => key));
  const added = fresh
    .map((event) => ({ key: event.controlExecutionId ?? '', event }))
    .filter(({ key }) => !known.has(key))
    .reverse();
  return [...added, ...withSkipped(before, skipped, added.at(-1)?.key ?? '')].slice(0, MAX_ROWS);
}

/** The rows with stored events below them, latest first. Some of them may have been received meanwhile. */
export function withStored(
  rows: readonly TailRow[],
  stored: readonly ControlExecutionEvent[],
): readonly TailRow[] {
  const known = new Set(rows.map(({ key }) => key));
  const below = stored
    .map((event) => ({ key: event.controlExecutionId ?? '', event }))
    .filter(({ key }) => !known.has(key));
  return [...rows, ...below].slice(0, MAX_ROWS);
}

function withSkipped(before: readonly TailRow[], skipped: number, key: string): readonly TailRow[] {
  if (skipped === 0) return before;
  const [first, ...others] = before;
  // One row for all that were skipped at a time.
  if (first !== undefined && 'skipped' in first) {
    return [{ ...first, skipped: first.skipped + skipped }, ...others];
  }
  return [{ key: `before ${key}`, skipped }, ...before];
}
