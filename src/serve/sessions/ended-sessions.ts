import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { loadedInTime } from '../../storage/database/in-time.js';
import type { EndedSession, EndedSessionStore } from './ended-session-store.js';

/** The browser sessions that were ended before their tokens expire, by this process or by another one. */
export interface EndedSessions {
  /**
   * Whether a session was ended. At once if that was asked a moment ago, else a promise of what the database knows.
   * Without the database it decides by what it read before. Rejects with SERVICE_UNAVAILABLE if it never could read.
   */
  has(id: string): boolean | Promise<boolean>;
  /** Ends a session: in this process at once; rejects with SERVICE_UNAVAILABLE if others do not learn of it. */
  end(session: EndedSession): Promise<void>;
  /** Calls `ended` once when a session is ended. Returns a function that prevents it. */
  watch(id: string, ended: () => void): () => void;
  /** Stops looking for the ends of watched sessions. */
  close(): void;
}

export interface EndedSessionsOptions {
  readonly store: EndedSessionStore;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** How long an answer of the database counts, in milliseconds: the time until another process knows of an end. */
const REFRESH_MS = 1_000;
/** Processes whose clocks differ by less than this see the ends of each other, in milliseconds. */
const CLOCK_MARGIN_MS = 10 * 60 * 1_000;
const FAILURE = 'ended sessions';

export function createEndedSessions({ store, failures, now }: EndedSessionsOptions): EndedSessions {
  /** Times of expiry by id, in milliseconds since 1970. */
  const known = new Map<string, number>();
  const watched = new Map<string, Set<() => void>>();
  /** When the last reading that succeeded began; undefined before the first one. */
  let readAtMs: number | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function learn({ id, expiresAtMs }: EndedSession): void {
    known.set(id, expiresAtMs);
    const listeners = watched.get(id);
    watched.delete(id);
    for (const ended of listeners ?? []) ended();
  }

  async function read(): Promise<void> {
    const startedAtMs = now();
    triedAtMs = startedAtMs;
    const since = readAtMs === undefined ? 0 : Math.max(0, readAtMs - CLOCK_MARGIN_MS);
    for (const session of await store.endedSince(since)) learn(session);
    readAtMs = startedAtMs;
    for (const [id, expiresAtMs] of known) if (expiresAtMs < startedAtMs) known.delete(id);
  }

  /** Resolves when the known ends are at most `REFRESH_MS` old, or cannot be. */
  function refreshed(): Promise<void> {
    reading ??= loadedInTime(read(), 'The ended sessions could not be read in time.')
      .catch((error: unknown) => {
        failures.failed(FAILURE, 'the ended sessions cannot be read: those known so far count', error);
        if (readAtMs === undefined) throw error;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  /** A clock that was set back makes nothing fresh. */
  const isFresh = (): boolean => readAtMs !== undefined && Math.abs(now() - triedAtMs) < REFRESH_MS;

  function lookForEnds(): void {
    timer ??= setInterval(() => {
      if (watched.size > 0) refreshed().catch(() => {});
      else stopLooking();
    }, REFRESH_MS).unref();
  }

  function stopLooking(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    has: (id) => known.has(id) || (isFresh() ? false : refreshed().then(() => known.has(id))),
    async end(session) {
      learn(session);
      await store.add(session, now());
    },
    watch(id, ended) {
      // It may have been ended since its call entered.
      if (known.has(id)) {
        ended();
        return () => {};
      }
      const listeners = watched.get(id) ?? new Set();
      watched.set(id, listeners.add(ended));
      lookForEnds();
      return () => {
        listeners.delete(ended);
        if (listeners.size === 0 && watched.get(id) === listeners) watched.delete(id);
      };
    },
    close: stopLooking,
  };
}
