import { useCallback, useEffect, useRef, useState } from 'react';
import type { ControlExecutionEvent } from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { useVisible } from '../shared/use-visible.js';
import { type TailPosition, tailEvents } from './event-tail.js';

const MAX_ROWS = 300;
/** Time between two drawings of new rows. */
const DRAW_MS = 100;

export interface EventTail {
  /** Latest first. */
  readonly events: readonly ControlExecutionEvent[];
  /** Number of events received since the page was opened. */
  readonly received: number;
  readonly state: 'connecting' | 'live' | 'reconnecting' | 'paused';
  readonly notice: string | null;
  readonly pause: () => void;
  readonly resume: () => void;
}

/**
 * The latest events, as they are stored. The stream runs while the tab is visible and the tail is not paused; it
 * continues after the last position, so that nothing is lost in between.
 */
export function useEventTail(filters: string): EventTail {
  const isVisible = useVisible();
  const [isPaused, setPaused] = useState(false);
  const [connection, setConnection] = useState<'connecting' | 'live' | 'reconnecting'>('connecting');
  const [events, setEvents] = useState<readonly ControlExecutionEvent[]>([]);
  const [received, setReceived] = useState(0);
  const [notice, setNotice] = useState<string | null>(null);
  const place = useRef<{ filters: string; position: TailPosition }>(undefined);

  useEffect(() => {
    if (isPaused || !isVisible) return;
    if (place.current?.filters !== filters) {
      place.current = { filters, position: { value: undefined } };
      setEvents([]);
      setNotice(null);
    }
    const stop = new AbortController();
    let waiting: ControlExecutionEvent[] = [];
    const draw = () => {
      if (waiting.length === 0) return;
      const fresh = waiting.reverse();
      waiting = [];
      setReceived((count) => count + fresh.length);
      setEvents((before) => [...fresh, ...before].slice(0, MAX_ROWS));
    };
    const timer = setInterval(draw, DRAW_MS);
    void tailEvents(new URLSearchParams(filters), place.current.position, stop.signal, {
      onEvents: (arrived) => {
        waiting.push(...arrived);
      },
      onConnected: () => setConnection('live'),
      onLost: () => setConnection('reconnecting'),
      onNotice: setNotice,
    });
    return () => {
      stop.abort();
      clearInterval(timer);
      draw();
      setConnection('connecting');
    };
  }, [filters, isPaused, isVisible]);

  const pause = useCallback(() => setPaused(true), []);
  const resume = useCallback(() => setPaused(false), []);
  return { events, received, state: isPaused ? 'paused' : connection, notice, pause, resume };
}
