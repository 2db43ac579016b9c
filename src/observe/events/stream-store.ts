import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext } from '../../contract/call/handler.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { type Ingest, IngestFullError, logRefusedEvents } from './event-ingest.js';
import type { ObservabilityMeter } from './observability-meter.js';
import type { ReadEvents } from './read-events.js';
import type { EncodedEvent } from './store/event-store.js';

/** Most events of one stream waiting for their commit: those of the running transaction and the next one. */
const MAX_IN_FLIGHT = 4_000;
/** Pause before rejected events are offered to the queue again, in milliseconds. */
const FULL_PAUSE_MS = 100;
/** Number of attempts: for ten seconds. */
const FULL_ATTEMPTS = 100;

export interface StreamStoreOptions {
  readonly ingest: Ingest;
  readonly meter: ObservabilityMeter;
  readonly failures: Pick<RepeatLog, 'told'>;
  readonly limits?: { readonly fullPauseMs: number; readonly fullAttempts: number };
}

/** Number of messages that are processed, from the first one without a gap, and what became of their events. */
export interface Acknowledged {
  readonly messages: number;
  readonly stored: number;
  readonly dropped: number;
}

/** Why a stream ended early. */
export class StreamStoreError extends Error {
  constructor(
    override readonly cause: unknown,
    /** Index of the message that failed to arrive. */
    readonly index: number,
    /** Stored events of all messages, in the order of their commits. */
    readonly stored: number,
  ) {
    super('a stream of events ended early', { cause });
  }
}

/**
 * Stores the events of a stream. Resolves when all are processed; calls `advanced` whenever more messages are. Rejects
 * with a `StreamStoreError`.
 */
export type StreamStore = (
  messages: AsyncIterable<ReadEvents>,
  context: Pick<CallContext, 'signal'>,
  advanced: (acknowledged: Acknowledged) => void,
) => Promise<Acknowledged>;

/** A message whose events are not processed yet, or one behind such a message. */
interface Waiting {
  isDone: boolean;
  /** Events to be stored, and those that are not, for another reason than the database. */
  readonly events: number;
  readonly foreign: number;
  isDropped: boolean;
}

/**
 * Stores the events of streams through the common queue. Reading pauses while the stream has reached its
 * limit of waiting events, or while the queue is full. It always ends only when no event is pending, so that
 * it can report how many are stored.
 */
export function createStreamStore(options: StreamStoreOptions): StreamStore {
  const { meter, failures } = options;
  const enqueue = createEnqueue(options);

  return async (messages, { signal }, advanced) => {
    const source = messages[Symbol.asyncIterator]();
    const waiting: Waiting[] = [];
    let acknowledged: Acknowledged = { messages: 0, stored: 0, dropped: 0 };
    let stored = 0;
    let inFlight = 0;
    let failure: { readonly error: unknown } | undefined;
    /** Wakes everything that waits for room, for the next message or for the end. */
    let wake: () => void = () => {};

    function acknowledge(): void {
      const end = waiting.findIndex(({ isDone }) => !isDone);
      const done = waiting.splice(0, end === -1 ? waiting.length : end);
      if (done.length === 0) return;
      const count = (dropped: boolean) =>
        done.reduce((sum, { isDropped, events }) => sum + (isDropped === dropped ? events : 0), 0);
      const foreign = done.reduce((sum, message) => sum + message.foreign, 0);
      acknowledged = {
        messages: acknowledged.messages + done.length,
        stored: acknowledged.stored + count(false),
        dropped: acknowledged.dropped + count(true) + foreign,
      };
      advanced(acknowledged);
    }

    function follow(committed: Promise<void>, message: Waiting): void {
      const { events } = message;
      inFlight += events;
      committed
        .then(
          () => {
            stored += events;
            message.isDone = true;
          },
          (error: unknown) => {
            if (error instanceof ServiceError && error.code === 'DATABASE_ERROR') {
              // As for CreateEvents: the database can never store them, and a retry would not help.
              logRefusedEvents(failures, events, error);
              message.isDropped = true;
              message.isDone = true;
            } else failure ??= { error };
          },
        )
        .finally(() => {
          inFlight -= events;
          acknowledge();
          wake();
        });
    }

    async function until(check: () => boolean): Promise<void> {
      while (!check()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }

    /** The next message; fails when an earlier one does, even while the client sends nothing. */
    function next(): Promise<IteratorResult<ReadEvents>> {
      return new Promise((resolve, reject) => {
        wake = () => {
          if (failure !== undefined) reject(failure.error);
        };
        wake();
        if (failure === undefined) source.next().then(resolve, reject);
      });
    }

    let index = 0;
    try {
      for (; ; index += 1) {
        const { done, value } = await next();
        if (done === true) break;
        const { encoded: events, areStorable, foreign = 0 } = value;
        const message = { isDone: false, isDropped: false, events: events.length, foreign };
        if (events.length === 0 && foreign > 0) {
          waiting.push({ ...message, isDone: true });
          acknowledge();
          continue;
        }
        if (!areStorable) {
          meter.dropped.client.refused += events.length;
          logRefusedEvents(failures, events.length);
          waiting.push({ ...message, isDone: true, isDropped: true });
          acknowledge();
          continue;
        }
        const { committed } = await enqueue(events, signal);
        waiting.push(message);
        follow(committed, message);
        await until(() => failure !== undefined || inFlight < MAX_IN_FLIGHT);
      }
      await until(() => inFlight === 0);
      if (failure !== undefined) throw failure.error;
    } catch (error) {
      await until(() => inFlight === 0);
      void Promise.resolve(source.return?.()).catch(() => {});
      throw new StreamStoreError(error, index, stored);
    }
    return acknowledged;
  };
}

/** Puts events into the queue, and waits while that is full. */
function createEnqueue({ ingest, meter, limits }: StreamStoreOptions) {
  const { fullPauseMs = FULL_PAUSE_MS, fullAttempts = FULL_ATTEMPTS } = limits ?? {};

  /** Resolves when the events are queued, with the promise of their commit. */
  return async (events: readonly EncodedEvent[], signal: AbortSignal) => {
    for (let attempt = 1; ; attempt += 1) {
      let onQueued = () => {};
      const queued = new Promise<void>((resolve) => {
        onQueued = resolve;
      });
      const committed = ingest(events, onQueued);
      try {
        await Promise.race([queued, committed]);
        return { committed };
      } catch (error) {
        if (!(error instanceof IngestFullError)) throw error;
        if (attempt >= fullAttempts) {
          meter.dropped.client.queue_full += events.length;
          throw error;
        }
      }
      await sleep(fullPauseMs, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  };
}

/** The error for the caller: with `soFar` and `facts`, and with the index of an invalid message. */
export function withProgress(
  { cause: error, index }: StreamStoreError,
  soFar: string,
  progress: Readonly<Record<string, string>>,
): unknown {
  if (!(error instanceof ServiceError)) return error;
  const { code, options } = error;
  const facts = { ...options.facts, ...progress };
  if (options.requestValidation !== true) {
    return new ServiceError(code, { ...options, detail: `${options.detail} ${soFar}`, facts, cause: error });
  }
  const items = options.items?.map((item) => ({
    ...item,
    field: item.field === undefined ? `messages[${index}]` : `messages[${index}].${item.field}`,
  }));
  return new ServiceError(code, {
    ...options,
    detail: `${options.detail}: message ${index} of the stream is invalid. ${soFar}`,
    ...(items === undefined ? {} : { items }),
    facts: { ...facts, message_index: String(index) },
  });
}
