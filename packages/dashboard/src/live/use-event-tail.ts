import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import { useCallback, useEffect, useRef, useState } from 'react';
import { EVENTS } from '../streams/sources.js';
import { listen } from '../streams/streams.js';
import { useVisible } from '../ui/browser/use-visible.js';
import { eventTail, type TailPosition } from './event-tail.js';
import { RowQueue } from './row-queue.js';
import { watchRequest } from './watch-request.js';

/** Few enough that the table is not virtualised: its rows slide in. */
const MAX_ROWS = 200;
/** Time between two drawings of new rows. */
const DRAW_MS = 100;

/** A row of the page: an event, or the number of events that were not drawn. */
export type TailRow =
  | { readonly key: string; readonly event: ControlExecutionEvent }
  | { readonly key: string; readonly skipped: number };

export interface EventTail {
  /** Latest first. */
  readonly rows: readonly TailRow[];
  /** Number of events received since the page was opened. */
  readonly received: number;
  /** Number of events that follow when the rows are no longer held. */
  readonly waiting: number;
  readonly state: 'connecting' | 'live' | 'reconnecting' | 'paused';
  readonly notice: string | null;
  readonly dismiss: () => void;
  readonly toggle: () => void;
}

/**
 * The latest events, as they are stored. The stream runs while the tab is visible and the tail is not paused; it
 * continues after the last position, so that nothing is lost in between. While the rows are held, events are received
 * but not drawn.
 */
export function useEventTail(filters: string, isHeld: boolean): EventTail {
  const isVisible = useVisible();
  const [isPaused, setPaused] = useState(false);
  const [connection, setConnection] = useState<'connecting' | 'live' | 'reconnecting'>('connecting');
  const [rows, setRows] = useState<readonly TailRow[]>([]);
  const [received, setReceived] = useState(0);
  const [waiting, setWaiting] = useState(0);
  const [notice, setNotice] = useState<string | null>(null);
  const place = useRef<{ filters: string; position: TailPosition; queue: RowQueue<ControlExecutionEvent> }>(
    undefined,
  );

  useEffect(() => {
    if (isPaused || !isVisible) return;
    if (place.current?.filters !== filters) {
      place.current = { filters, position: { value: undefined }, queue: new RowQueue() };
      setRows([]);
      setNotice(null);
    }
    const { position, queue } = place.current;
    const tail = eventTail(position, {
      onEvents: (events) => {
        queue.push(events);
        setReceived((count) => count + events.length);
      },
      onConnected: () => setConnection('live'),
      onLost: () => setConnection('reconnecting'),
      onNotice: setNotice,
    });
    const end = listen({ source: EVENTS, request: watchRequest(new URLSearchParams(filters)) }, tail);
    return () => {
      end();
      setConnection('connecting');
    };
  }, [filters, isPaused, isVisible]);

  useEffect(() => {
    const draw = () => {
      const queue = place.current?.queue;
      if (queue === undefined) return;
      if (!isHeld) {
        const { rows: fresh, skipped } = queue.take(performance.now());
        if (fresh.length > 0) setRows((before) => withRows(before, fresh, skipped));
      }
      setWaiting(queue.waiting);
    };
    const timer = setInterval(draw, DRAW_MS);
    return () => clearInterval(timer);
  }, [isHeld]);

  const toggle = useCallback(() => setPaused((before) => !before), []);
  const dismiss = useCallback(() => setNotice(null), []);
  return { rows, received, waiting, state: isPaused ? 'paused' : connection, notice, dismiss, toggle };
}

function withRows(
  before: readonly TailRow[],
  fresh: readonly ControlExecutionEvent[],
  skipped: number,
): readonly TailRow[] {
  const added = fresh.map((event) => ({ key: event.controlExecutionId ?? '', event })).reverse();
  return [...added, ...withSkipped(before, skipped, added.at(-1)?.key ?? '')].slice(0, MAX_ROWS);
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
