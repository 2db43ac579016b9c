import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext } from '../contract/call/handler.js';
import { ServiceError } from '../contract/errors/service-error.js';
import type { RepeatLog } from '../process/repeat-log.js';
import { type ControlEvent, isStorableEvent } from './event.js';
import { type Ingest, IngestFullError, logRefusedEvents } from './event-ingest.js';
import type { ObservabilityMeter } from './observability-meter.js';

/** Events of one stream that wait for their commit at most: those of a transaction that runs, and of the next one. */
const MAX_IN_FLIGHT = 4_000;
/** Pause before events are offered again that there was no room for, in milliseconds. */
const FULL_PAUSE_MS = 100;
/** How often they are offered: for ten seconds. */
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

/** Answers IngestEvents. */
export type IngestStream = (
  messages: AsyncIterable<IngestMessage>,
  context: Pick<CallContext, 'signal'>,
) => Promise<object>;

/**
 * Stores what a stream brings through the queue of all events. Nothing more is read from the stream while as much of it
 * waits as may, or while there is no room in the queue. However it ends, it ends when nothing is on its way any more,
 * so that it can tell how much is stored.
 */
export function createIngestStream({ ingest, meter, failures, limits }: IngestStreamOptions): IngestStream {
  const { fullPauseMs = FULL_PAUSE_MS, fullAttempts = FULL_ATTEMPTS } = limits ?? {};

  /** Resolves when the events have their place in the queue, with what tells that they are committed. */
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
    /** Makes whoever waits for room, for the next message or for the end look again. */
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
              // As for CreateEvents: the database can never hold them, and trying again would not help.
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

    /** The next message; fails when an earlier one does, also while the client sends nothing. */
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

/** The error, with how far the stream got. */
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
