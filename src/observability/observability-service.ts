import { controlNotFound } from '../controls/control-errors.js';
import type { Database } from '../database/database.js';
import { withServiceErrors } from '../database/errors.js';
import { ServiceError } from '../errors/service-error.js';
import { readAgentName } from '../validation/names.js';
import { type ControlEvent, isStorableEvent, shownEvent } from './event.js';
import type { Ingest } from './event-ingest.js';
import type { ObservabilityInputs } from './event-schemas.js';
import { createEventStore } from './event-store.js';
import { controlStats, controlSums, totals } from './statistics.js';
import { countEvents } from './statistics-store.js';
import { timeWindow } from './time-range.js';

/** Controls that a reply about an agent lists. Their names are the clients' choice, so there may be any number. */
const MAX_LISTED_CONTROLS = 10_000;

/** Takes events in, finds them and counts them. */
export interface ObservabilityService {
  /** Tells in its reply, not by an error, when storing fails: deployed clients expect that. */
  create(events: readonly ControlEvent[]): Promise<object>;
  query(input: ObservabilityInputs['queryEvents']): Promise<object>;
  stats(input: ObservabilityInputs['getStats']): Promise<object>;
  controlStats(input: ObservabilityInputs['getControlStats']): Promise<object>;
}

export interface ObservabilityOptions {
  readonly database: Pick<Database, 'client'>;
  readonly ingest: Ingest;
  readonly log: { warn(facts: object, message: string): void };
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createObservabilityService(options: ObservabilityOptions): ObservabilityService {
  const { database, ingest, log, now } = options;
  const store = createEventStore(database.client);

  /** Whether the events are committed. */
  async function stored(events: readonly ControlEvent[]): Promise<boolean> {
    if (!events.every(isStorableEvent)) return false;
    try {
      await ingest(events);
      return true;
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      log.warn({ err: error, events: events.length }, 'events could not be stored');
      return false;
    }
  }

  async function count(input: ObservabilityInputs['getStats'], controlId: number | null) {
    const agentName = readAgentName(input.agent_name, 'agent_name');
    const { time_range: range, include_timeseries: byBucket } = input;
    const window = timeWindow(range, BigInt(now()) * 1_000n);
    const query = { agentName, controlId, window, byBucket };
    const groups = await withServiceErrors(() => countEvents(database.client, query));
    return {
      head: { agent_name: agentName, time_range: range },
      totals: totals(groups, byBucket ? window : null),
      controls: controlSums(groups),
    };
  }

  return {
    async create(events) {
      const received = events.length;
      return (await stored(events))
        ? { received, enqueued: received, dropped: 0, status: 'queued' }
        : { received, enqueued: 0, dropped: received, status: 'failed' };
    },
    async query(input) {
      const { limit, offset } = input;
      const filter = {
        traceId: input.trace_id,
        spanId: input.span_id,
        executionId: input.control_execution_id,
        agentName: input.agent_name,
        controlIds: input.control_ids ?? [],
        actions: input.actions ?? [],
        matched: input.matched,
        stages: input.check_stages ?? [],
        appliesTo: input.applies_to ?? [],
        fromUs: input.start_time?.us,
        toUs: input.end_time?.us,
      };
      const { events, total } = await withServiceErrors(() => store.find(filter, limit, offset));
      return { events: events.map(shownEvent), total, limit, offset };
    },
    async stats(input) {
      const { head, totals, controls } = await count(input, null);
      return { ...head, totals, controls: controls.slice(0, MAX_LISTED_CONTROLS).map(controlStats) };
    },
    async controlStats(input) {
      const id = input.control_id;
      // No event has such an id, and gRPC could not even carry it.
      if ((id | 0) !== id) throw controlNotFound(id);
      const { head, totals, controls } = await count(input, id);
      const name = controls[0]?.controlName ?? `control-${id}`;
      return { ...head, control_id: id, control_name: name, stats: totals };
    },
  };
}

function isStorageFailure(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'DATABASE_ERROR')
  );
}
