import { Code, createClient } from '@connectrpc/connect';
import { ObservabilityService, TotalKind } from '@gen/enforcement/v1/observability_service_pb.js';
import { useCallback, useEffect, useRef, useState } from 'react';
import { transport } from '../data/transport.js';
import type { EventFilter } from '../events/event-filter.js';
import { EVENTS } from '../streams/sources.js';
import { listen } from '../streams/streams.js';
import { useVisible } from '../ui/browser/use-visible.js';
import { errorText } from '../ui/error-text.js';
import { eventTail } from './event-tail.js';
import { placeOf, type TailPlace, type TailRow, withRows, withStored } from './tail-memory.js';
import { watchRequest } from './watch-request.js';

const client = createClient(ObservabilityService, transport);
/** Events that were stored before, which the tail begins with. */
const STORED_SHOWN = 100;
/** Time between two drawings of new rows. */
const DRAW_MS = 100;

/** The events of a tail. */
export interface TailOf {
  /** Names them: tails of the same name have the same events. */
  readonly name: string;
  /** Its beginning is only that of the stored events. */
  readonly filter: EventFilter;
}

export interface EventTail {
  /** Latest first. */
  readonly rows: readonly TailRow[];
  /** Number of events received since the page was opened. */
  readonly received: number;
  /** Number of events that follow when the rows are no longer held. */
  readonly waiting: number;
  readonly state: 'connecting' | 'live' | 'reconnecting' | 'refused' | 'paused';
  /** Whether the rows have the events that were stored before. */
  readonly isLoaded: boolean;
  readonly notice: string | null;
  readonly dismiss: () => void;
  readonly toggle: () => void;
}

/**
 * The latest stored events, then all others as they are stored. The stream runs while the tab is visible and the tail is
 * not paused; it continues after the last position, so that nothing is lost in between. While the rows are held, events
 * are received but not drawn. Without events to show there is no stream.
 */
export function useEventTail(of: TailOf | undefined, isHeld: boolean): EventTail {
  const isVisible = useVisible();
  const [isPaused, setPaused] = useState(false);
  const [connection, setConnection] = useState<'connecting' | 'live' | 'reconnecting' | 'refused'>(
    'connecting',
  );
  const [rows, setRows] = useState<readonly TailRow[]>([]);
  const [isLoaded, setLoaded] = useState(false);
  const [received, setReceived] = useState(0);
  const [waiting, setWaiting] = useState(0);
  const [notice, setNotice] = useState<string | null>(null);
  const place = useRef<TailPlace>(undefined);
  const filter = useRef(of?.filter);
  filter.current = of?.filter;
  const name = of?.name;

  useEffect(() => {
    if (isPaused || !isVisible || name === undefined) return;
    if (place.current?.filters !== name) {
      place.current = placeOf(name, Date.now());
      setNotice(null);
    }
    const own = place.current;
    own.leftAtMs = Number.POSITIVE_INFINITY;
    const wanted = filter.current ?? {};
    const show = (): void => {
      setRows(own.rows);
      setReceived(own.received);
      setLoaded(own.isLoaded);
    };
    show();
    const leaving = new AbortController();
    let isLoading = false;
    // After the stream has begun: an event is in one of both, or in both.
    const load = async (): Promise<void> => {
      if (own.isLoaded || isLoading) return;
      isLoading = true;
      try {
        const request = { ...wanted, limit: STORED_SHOWN, includeBuffered: true, total: TotalKind.NONE };
        const { events } = await client.queryEvents(request, { signal: leaving.signal });
        own.rows = withStored(own.rows, events);
      } catch (error) {
        if (leaving.signal.aborted) return;
        setNotice(`The latest stored events could not be loaded: ${errorText(error).detail}`);
      }
      own.isLoaded = true;
      show();
    };
    const tail = eventTail(own.position, {
      onEvents: (events) => {
        own.queue.push(events);
        own.received += events.length;
        setReceived(own.received);
      },
      onConnected: () => {
        setConnection('live');
        void load();
      },
      onLost: ({ code }) => setConnection(code === Code.PermissionDenied ? 'refused' : 'reconnecting'),
      onNotice: setNotice,
    });
    const end = listen({ source: EVENTS, request: watchRequest(wanted) }, tail);
    return () => {
      leaving.abort();
      end();
      own.leftAtMs = Date.now();
      setConnection('connecting');
    };
  }, [name, isPaused, isVisible]);

  useEffect(() => {
    const draw = () => {
      const own = place.current;
      if (own === undefined) return;
      if (!isHeld) {
        const { rows: fresh, skipped } = own.queue.take(performance.now());
        if (fresh.length > 0) {
          own.rows = withRows(own.rows, fresh, skipped);
          setRows(own.rows);
        }
      }
      setWaiting(own.queue.waiting);
    };
    const timer = setInterval(draw, DRAW_MS);
    return () => clearInterval(timer);
  }, [isHeld]);

  const toggle = useCallback(() => setPaused((before) => !before), []);
  const dismiss = useCallback(() => setNotice(null), []);
  const state = isPaused ? 'paused' : connection;
  return { rows, received, waiting, state, isLoaded, notice, dismiss, toggle };
}
