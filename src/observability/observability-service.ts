import { controlNotFound } from '../controls/control-errors.js';
import type { Database } from '../database/database.js';
import { OutcomeUnknownError } from '../database/errors.js';
import { REFUSING, StorageError } from '../database/storage-health/storage-state.js';
import { ServiceError } from '../errors/service-error.js';
import type { RepeatLog } from '../repeat-log.js';
import { readAgentName } from '../validation/names.js';
import { type ControlEvent, isStorableEvent, shownEvent } from './event.js';
import { printCursor } from './event-cursor.js';
import { filterOf } from './event-filter.js';
import { type Ingest, IngestFullError } from './event-ingest.js';
import type { ObservabilityInputs } from './event-schemas.js';
import type { EventSearch } from './event-search.js';
import { agentStats, controlStats, totals } from './statistics.js';
import { createStatisticsStore } from './statistics-store.js';
import { timeWindow } from './time-range.js';

/** Controls that a reply about an agent lists. Their names are the clients' choice, so there may be any number. */
const MAX_LISTED_CONTROLS = 10_000;

/** Takes events in, finds them and counts them. */
export interface ObservabilityService {
  /**
   * Tells in its reply, not by an error, when storing fails: deployed clients expect that. Rejects with
   * SERVICE_UNAVAILABLE when it takes nothing in at present, and when nobody knows whether the events are stored.
   */
  create(events: readonly ControlEvent[]): Promise<object>;
  query(input: ObservabilityInputs['queryEvents']): Promise<object>;
  stats(input: ObservabilityInputs['getStats']): Promise<object>;
  controlStats(input: ObservabilityInputs['getControlStats']): Promise<object>;
  overview(input: ObservabilityInputs['getStatsOverview']): Promise<object>;
}

export interface ObservabilityOptions {
  readonly database: Pick<Database, 'kind' | 'bulk'>;
  readonly search: Pick<EventSearch, 'page' | 'count'>;
  readonly ingest: Ingest;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createObservabilityService(options: ObservabilityOptions): ObservabilityService {
  const { database, search, ingest, failures, now } = options;
  const statistics = createStatisticsStore(database);

  /** Whether the events are committed. */
  async function stored(events: readonly ControlEvent[]): Promise<boolean> {
    if (!events.every(isStorableEvent)) return false;
    try {
      await ingest(events);
      return true;
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      failures.failed('events', 'events could not be stored', error, { events: events.length });
      return false;
    }
  }

  async function count(input: ObservabilityInputs['getStats'], controlId: number | null) {
    const agentName = readAgentName(input.agent_name, 'agent_name');
    const { time_range: range, include_timeseries: byBucket } = input;
    const window = timeWindow(range, now());
    const found = await statistics.count({
      agentName,
      controlId,
      window,
      byBucket,
      agents: 0,
      controls: MAX_LISTED_CONTROLS,
    });
    return {
      head: { agent_name: agentName, time_range: range },
      totals: totals(found, byBucket ? window : null),
      controls: found.controls,
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
      const { limit, offset, cursor: after } = input;
      const filter = filterOf(input);
      const total = await search.count(filter);
      const { events, next } = await search.page(filter, { limit, offset, after });
      const next_cursor = next === undefined ? null : printCursor(next);
      return { events: events.map(shownEvent), total, limit, offset, next_cursor };
    },
    async stats(input) {
      const { head, totals, controls } = await count(input, null);
      return { ...head, totals, controls: controls.map(controlStats) };
    },
    async controlStats(input) {
      const id = input.control_id;
      // No event has such an id, and gRPC could not even carry it.
      if ((id | 0) !== id) throw controlNotFound(id);
      const { head, totals, controls } = await count(input, id);
      const name = controls[0]?.controlName ?? `control-${id}`;
      return { ...head, control_id: id, control_name: name, stats: totals };
    },
    async overview({ time_range: range, include_timeseries: byBucket, limit }) {
      const window = timeWindow(range, now());
      const found = await statistics.count({
        agentName: null,
        controlId: null,
        window,
        byBucket,
        agents: limit,
        controls: limit,
      });
      return {
        time_range: range,
        totals: totals(found, byBucket ? window : null),
        agents: found.agents.map(agentStats),
        controls: found.controls.map((one) => ({ agent_name: one.agentName, stats: controlStats(one) })),
      };
    },
  };
}

function isStorageFailure(error: unknown): boolean {
  if (error instanceof IngestFullError || error instanceof OutcomeUnknownError) return false;
  // They may be stored where no restart finds them.
  if (error instanceof StorageError && REFUSING.has(error.state)) return false;
  return (
    error instanceof ServiceError && (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'DATABASE_ERROR')
  );
}
