import type { CallContext } from '../../contract/call/handler.js';
import { createPause, HEARTBEAT_MS } from '../../contract/call/news-pause.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { createMutex } from '../../storage/database/mutex.js';
import type { EventFeed } from './event-feed.js';
import { eventMessage, type LiveEvents } from './live-events.js';
import type { Scoped } from './observability-service.js';
import { type EventFilter, eventTest, filterKey } from './store/event-filter.js';
import type { EventTail } from './store/event-tail.js';
import { lower } from './store/position-order.js';

/** Pause before a stream that is behind retries an unresponsive database. */
const RETRY_MS = 1_000;

export interface WatchEventsOptions {
  readonly feed: EventFeed;
  readonly tail: EventTail;
  /** Milliseconds of the clock of the feed. */
  readonly now: () => number;
  readonly heartbeatMs?: number;
}

/** Implements WatchEvents. */
export type WatchEvents = (
  input: Scoped<'watchEvents'>,
  context: Pick<CallContext, 'signal'>,
) => AsyncGenerator<object>;

/**
 * Creates streams of events as they are stored. Streams near the end of the log use shared messages; those
 * further behind, because they begin there or are read slowly, read individually from the database. Each
 * holds at most one message.
 */
export function createWatchEvents({
  feed,
  tail,
  now,
  heartbeatMs = HEARTBEAT_MS,
}: WatchEventsOptions): WatchEvents {
  /** One at a time, so that many streams that are behind leave connections to other work. */
  const catchingUp = createMutex();

  async function readAfter(position: bigint, filter: EventFilter) {
    const release = await catchingUp.acquire();
    try {
      return await tail.after('search', position, filter);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE') return null;
      throw error;
    } finally {
      release();
    }
  }

  return async function* watch(input, { signal }) {
    const { after_position: from } = input;
    const sieve = { key: filterKey(input), passes: eventTest(input) };
    const live = await feed.join();
    const pause = createPause(live, signal);
    let toldAtMs = now();
    const tell = (message: object): object => {
      toldAtMs = now();
      return message;
    };
    const untilHeartbeat = () => toldAtMs + heartbeatMs - now();
    try {
      /** Every event up to here was sent. */
      let seen = from === undefined ? live.position : BigInt(from);
      /** Events up to here were reported as missing. */
      let missing = 0n;
      /** Restorations that it reported or need not report; null when its position requires a report. */
      let restorations = live.isOfReplacedState(seen) ? null : live.restorations;
      /** Whether it has reached the end since the last report of slow reading. */
      let keptUp = false;
      /** Whether it has to report that it reached the end. */
      let owesEnd = true;
      while (!signal.aborted) {
        if (live.failure !== null) throw live.failure;
        if (restorations !== live.restorations) {
          restorations = live.restorations;
          missing = 0n;
          keptUp = false;
          seen = lower(seen, live.position);
          yield tell(fellBehind('database_restored', seen, live.position));
        }
        if (live.deletedUpTo > seen && live.deletedUpTo > missing) {
          missing = live.deletedUpTo;
          yield tell(fellBehind('events_deleted', seen, missing));
        }
        const news = live.newsAfter(seen, sieve);
        if (news !== undefined) {
          seen = news.upTo;
          if (news.message !== null) yield tell(news.message);
          else if (seen >= live.position) {
            keptUp = true;
            if (owesEnd || untilHeartbeat() <= 0) {
              owesEnd = false;
              yield tell(heartbeat(seen, live, now()));
            } else await pause.next(untilHeartbeat());
          }
          continue;
        }
        if (keptUp) {
          keptUp = false;
          owesEnd = true;
          yield tell(fellBehind('slow_reader', seen, live.position));
        }
        const part = await readAfter(seen, input);
        // A log that ends before the sent events is a restored one; the feed will detect that.
        if (part === null || part.head < seen) await pause.next(RETRY_MS);
        else {
          if (part.prunedPosition > seen && part.prunedPosition > missing) {
            missing = part.prunedPosition;
            yield tell(fellBehind('events_deleted', seen, missing));
          }
          seen = part.upTo;
          if (part.events.length > 0) yield tell(eventMessage(part.events, seen));
        }
        if (untilHeartbeat() <= 0) yield tell(heartbeat(seen, live, now()));
      }
    } finally {
      pause.end();
      feed.leave();
    }
  };
}

function heartbeat(position: bigint, live: LiveEvents, nowMs: number): object {
  const staleMs = Math.max(0, Math.round(nowMs - live.currentAtMs));
  return { position, heartbeat: { staleness_seconds: staleMs / 1000 } };
}

type Reason = 'slow_reader' | 'events_deleted' | 'database_restored';

function fellBehind(reason: Reason, position: bigint, upTo: bigint): object {
  return { position, fell_behind: { reason, up_to_position: upTo } };
}
