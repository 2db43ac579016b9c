import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext } from '../contract/call/handler.js';
import { ServiceError } from '../contract/errors/service-error.js';
import type { RepeatLog } from '../process/repeat-log.js';
import { type ControlEvent, isStorableEvent } from './event.js';
import { type Ingest, IngestFullError, logRefusedEvents } from './event-ingest.js';
import type { ObservabilityMeter } from './observability-meter.js';

/** Most events of one stream waiting for their commit: those of the running transaction and the next one. */
const MAX_IN_FLIGHT = 4_000;
/** Pause before rejected events are offered to the queue again, in milliseconds. */
const FULL_PAUSE_MS = 100;
/** Number of attempts: for ten seconds. */
const FULL_ATTEMPTS = 100;

export interface IngestStreamOptions {
  readonly ingest: Ingest;
  readonly meter: ObservabilityMeter;
  readonly failures: Pick<RepeatLog, 'told'>;
  readonly limits?: { readonly fullPauseMs: number; readonly fullAttempts: number };
}

/** A message of the stream. */
interface IngestMessage {
  readonly events: readonly ControlEvent[];
}

/** Implements IngestEvents. */
export type IngestStream = (
  messages: AsyncIterable<IngestMessage>,
  context: Pick<CallContext, 'signal'>,
) => Promise<object>;

/**
 * Stores the events of a stream through the common queue. Reading pauses while the stream has reached its
 * limit of waiting events, or while the queue is full. It always ends only when no event is pending, so that
 * it can report how many are stored.
 */
export function createIngestStream({ ingest, meter, failures, limits }: IngestStreamOptions): IngestStream {
  const { fullPauseMs = FULL_PAUSE_MS, fullAttempts = FULL_ATTEMPTS } = limits ?? {};

  /** Resolves when the events are queued, with the promise of their commit. */
  async function enqueue(events: readonly ControlEvent[], signal: AbortSignal) {
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
  }

  return async (messages, { signal }) => {
    const source = messages[Symbol.asyncIterator]();
    let received = 0;
    let stored = 0;
    let dropped = 0;
    let inFlight = 0;
    let failure: { readonly error: unknown } | undefined;
    /** Wakes everything that waits for room, for the next message or for the end. */
    let wake: () => void = () => {};

    function follow(committed: Promise<void>, count: number): void {
      inFlight += count;
      committed
        .then(
          () => {
            stored += count;
          },
          (error: unknown) => {
            if (error instanceof ServiceError && error.code === 'DATABASE_ERROR') {
              // As for CreateEvents: the database can never store them, and a retry would not help.
              logRefusedEvents(failures, count, error);
              dropped += count;
            } else failure ??= { error };
          },
        )
        .finally(() => {
          inFlight -= count;
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
    function next(): Promise<IteratorResult<IngestMessage>> {
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
        const { events } = value;
        received += events.length;
        if (!events.every(isStorableEvent)) {
          meter.dropped.client.refused += events.length;
          logRefusedEvents(failures, events.length);
          dropped += events.length;
          continue;
        }
        const { committed } = await enqueue(events, signal);
        follow(committed, events.length);
        await until(() => failure !== undefined || inFlight < MAX_IN_FLIGHT);
      }
      await until(() => inFlight === 0);
      if (failure !== undefined) throw failure.error;
    } catch (error) {
      await until(() => inFlight === 0);
      void Promise.resolve(source.return?.()).catch(() => {});
      throw withProgress(error, index, stored);
    }
    return { received, stored, dropped };
  };
}

/** The error, with the progress of the stream. */
function withProgress(error: unknown, index: number, stored: number): unknown {
  if (!(error instanceof ServiceError)) return error;
  const { code, options } = error;
  const soFar = `${stored} event(s) of this stream are stored.`;
  const facts = { ...options.facts, stored_events: String(stored) };
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
