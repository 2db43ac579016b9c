import { DEFAULT_NAMESPACE, namespaceOfKey } from '../../contract/call/namespace.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { type RepeatLog, reasonOf } from '../../contract/runtime/repeat-log.js';
import { asServiceError, isRefusedData, unavailable } from '../../storage/database/errors.js';
import { createObservabilityMeter, type DropReason, type ObservabilityMeter } from './observability-meter.js';
import { type ControlEvent, shownEvent } from './store/event.js';
import type { EncodedEvent, EventStore } from './store/event-store.js';

/** Most queued events: a few seconds of work. More would only wait until their senders timed out. */
const MAX_QUEUED_EVENTS = 50_000;
/** Most UTF-16 code units of the queued rows, since texts have no individual limit. */
const MAX_QUEUED_LENGTH = 128 * 1024 * 1024;

/**
 * Commits events to the database. Rejects with a ServiceError, and then none of them is known to be stored:
 * with an `IngestFullError` when too many are waiting, with an `OutcomeUnknownError` when they may be stored,
 * with SERVICE_UNAVAILABLE when the storage fails, and with DATABASE_ERROR only when it rejects these events
 * permanently. `onQueued` is called as soon as they are queued; callers that pass it retry rejected events,
 * and count those finally dropped.
 */
export type Ingest = (events: readonly EncodedEvent[], onQueued?: () => void) => Promise<void>;

/** Nothing was queued, because more is waiting already than the database can store soon. */
export class IngestFullError extends ServiceError {
  constructor() {
    const { options } = unavailable('Too many events are waiting to be stored.');
    super('SERVICE_UNAVAILABLE', options);
  }
}

export interface IngestOptions {
  readonly store: Pick<EventStore, 'groupLimits' | 'write'>;
  readonly log: { info(facts: object, message: string): void };
  /** Whether each event is logged. */
  readonly logEvents: boolean;
  readonly meter?: ObservabilityMeter;
  readonly limits?: { readonly queuedEvents: number };
}

/** Events of one call, which are stored all or not at all. */
interface Waiting {
  readonly events: readonly EncodedEvent[];
  readonly length: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The only way into the event store, for events of clients and of the service itself. Events that arrive
 * during a transaction are committed together by the next one, so that many small calls cost as much as a few
 * large ones, and none waits for later ones.
 */
export function createIngest(options: IngestOptions): Ingest {
  const { store, log, logEvents, meter = createObservabilityMeter() } = options;
  const maxQueued = options.limits?.queuedEvents ?? MAX_QUEUED_EVENTS;
  const queue: Waiting[] = [];
  let queuedEvents = 0;
  let queuedLength = 0;
  let writing = false;
  meter.queued = () => queuedEvents;

  /** The recorder counts its own losses: it retries events that could not be stored now. */
  function countDropped(events: readonly EncodedEvent[], reason: DropReason): void {
    if (isOfClient(events)) meter.dropped.client[reason] += events.length;
  }

  /** The calls of the next transaction: the first one, of any size, and those that fit with it. */
  function nextGroup(): Waiting[] {
    const { groupLimits: limits } = store;
    let count = 0;
    let events = 0;
    let length = 0;
    for (const one of queue) {
      events += one.events.length;
      length += one.length;
      if (count > 0 && (events > limits.events || length > limits.length)) break;
      count += 1;
    }
    return queue.splice(0, count);
  }

  /** Never rejects. */
  async function writeAll(): Promise<void> {
    writing = true;
    while (queue.length > 0) {
      const group = nextGroup();
      await writeGroup(group);
      for (const { events, length } of group) {
        queuedEvents -= events.length;
        queuedLength -= length;
      }
    }
    writing = false;
  }

  async function writeGroup(group: readonly Waiting[]): Promise<void> {
    const startMs = performance.now();
    try {
      await store.write(group.flatMap(({ events }) => events));
      meter.committed((performance.now() - startMs) / 1000);
    } catch (error) {
      const thrown = asServiceError(error);
      // Events rejected by the database must not fail other calls. A temporary failure fails all of them.
      const isAway = thrown.code === 'SERVICE_UNAVAILABLE';
      if (group.length > 1 && !isAway) {
        for (const one of group) await writeGroup([one]);
        return;
      }
      const failure = storageFailure(thrown);
      for (const { events, reject } of group) {
        countDropped(events, failure.code === 'SERVICE_UNAVAILABLE' ? 'storage' : 'refused');
        reject(failure);
      }
      return;
    }
    for (const { events, resolve } of group) {
      meter.stored[isOfClient(events) ? 'client' : 'service'] += events.length;
      resolve();
    }
  }

  function enqueue(events: readonly EncodedEvent[], onQueued: (() => void) | undefined): Promise<void> {
    const length = events.reduce((sum, { row }) => sum + row.length, 0);
    const isFull = queuedEvents + events.length > maxQueued || queuedLength + length > MAX_QUEUED_LENGTH;
    if (isFull && queuedEvents > 0) {
      if (onQueued === undefined) countDropped(events, 'queue_full');
      return Promise.reject(new IngestFullError());
    }
    queuedEvents += events.length;
    queuedLength += length;
    const stored = new Promise<void>((resolve, reject) => queue.push({ events, length, resolve, reject }));
    onQueued?.();
    if (!writing) void writeAll();
    return stored;
  }

  return async (events, onQueued) => {
    if (queuedEvents >= maxQueued) {
      if (onQueued === undefined) countDropped(events, 'queue_full');
      throw new IngestFullError();
    }
    await enqueue(events, onQueued);
    if (!logEvents) return;
    for (const { event } of events)
      log.info(
        {
          ...(isOfDefault(event) ? {} : { namespace: namespaceOfKey(event.agent_name) }),
          event: shownEvent(event),
        },
        'an event was ingested',
      );
  };
}

/**
 * Meaning of a failed transaction for the sender of its events. Only data rejected by the database are
 * rejected permanently; a missing table or a damaged file is unrelated to the events, which can be stored
 * later.
 */
function storageFailure(failure: ServiceError): ServiceError {
  if (failure.code !== 'DATABASE_ERROR' || isRefusedData(failure)) return failure;
  return unavailable('The events cannot be stored at present.', failure);
}

const isOfDefault = (event: ControlEvent) => DEFAULT_NAMESPACE.contains(event.agent_name);

/** One call contains either events of clients or of the service itself. */
function isOfClient([first]: readonly EncodedEvent[]): boolean {
  return first?.event.origin === 'client';
}

/**
 * Logs events that the database can never store. `error` is the cause when the database itself rejected them.
 * Repeated events of a client are counted in one line per interval.
 */
export function logRefusedEvents(failures: Pick<RepeatLog, 'told'>, events: number, error?: unknown): void {
  failures.told('warn', 'refused events', 'events were dropped because the database can never hold them', {
    events,
    ...(error === undefined ? {} : { reason: reasonOf(error) }),
  });
}
