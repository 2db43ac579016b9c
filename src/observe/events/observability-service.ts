import { type Namespace, nameOfKey } from '../../contract/call/namespace.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { readAgentName } from '../../contract/input/names.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { controlNotFound } from '../../manage/controls/control-errors.js';
import type { EvaluationCounts } from './counts/evaluation-counts.js';
import { printCursor } from './event-cursor.js';
import { type Ingest, logRefusedEvents } from './event-ingest.js';
import type { ObservabilityInputs } from './event-schemas.js';
import { totalOf } from './event-total.js';
import type { ObservabilityMeter } from './observability-meter.js';
import type { ReadEvents } from './read-events.js';
import type { Recorder } from './recorder.js';
import { agentStats, controlStats, totals } from './statistics.js';
import { shownEvent } from './store/event.js';
import type { EventStore } from './store/event-store.js';
import { rangeOf, windowOf } from './store/time-range.js';

/** Most controls in a reply about an agent. Their names are chosen by clients, so the number is unbounded. */
const MAX_LISTED_CONTROLS = 10_000;

const AHEAD =
  'events are dated more than five minutes ahead of the clock of this service: set the clocks, of the clients or of this machine; ' +
  'statistics of every range that ends now count these events';

/** An input, and the namespace of its caller, whose events alone it concerns. */
export type Scoped<Rpc extends keyof ObservabilityInputs> = ObservabilityInputs[Rpc] & {
  readonly namespace: Namespace;
};

/** Stores, finds and counts events. */
export interface ObservabilityService {
  /**
   * Stores all of the events or none. Events that the database can never store are reported in the reply, not
   * by an error: deployed clients do not resend what was answered, and a retry would be useless here. Rejects
   * with SERVICE_UNAVAILABLE when the events cannot be stored at present, and when it is unknown whether they
   * are stored.
   */
  create(events: ReadEvents): Promise<object>;
  /** Counts and logs events that are dated ahead of the clock of this service. They are stored and counted as they are. */
  noticeClock(events: ReadEvents): void;
  /**
   * Stores what this process has recorded and counted itself, and returns the number of events that are those of a
   * namespace.
   */
  flush(namespace: Namespace): Promise<number>;
  query(input: Scoped<'queryEvents'>): Promise<object>;
  stats(input: Scoped<'getStats'>): Promise<object>;
  controlStats(input: Scoped<'getControlStats'>): Promise<object>;
  overview(input: Scoped<'getStatsOverview'>): Promise<object>;
  evaluationStats(input: Scoped<'getEvaluationStats'>): Promise<object>;
}

export interface ObservabilityOptions {
  readonly store: Pick<EventStore, 'search' | 'statistics'>;
  readonly ingest: Ingest;
  readonly meter: Pick<ObservabilityMeter, 'dropped' | 'ahead'>;
  readonly failures: Pick<RepeatLog, 'told'>;
  /** Undefined when the service itself records nothing. */
  readonly recorder: Pick<Recorder, 'flush'> | undefined;
  readonly counts: Pick<EvaluationCounts, 'flush' | 'stats'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createObservabilityService(options: ObservabilityOptions): ObservabilityService {
  const { ingest, meter, failures, recorder, counts, now } = options;
  const { search, statistics } = options.store;

  /** True when the events are committed, false when the database can never store them. */
  async function stored({ encoded, areStorable }: ReadEvents): Promise<boolean> {
    if (!areStorable) {
      meter.dropped.client.refused += encoded.length;
      logRefusedEvents(failures, encoded.length);
      return false;
    }
    try {
      await ingest(encoded);
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      logRefusedEvents(failures, encoded.length, error);
      return false;
    }
  }

  async function count(input: Scoped<'getStats'>, controlId: number | null) {
    const agentName = readAgentName(input.agent_name, 'agent_name');
    const { namespace, include_timeseries: byBucket } = input;
    const range = rangeOf(input);
    const window = windowOf(range, now());
    const found = await statistics.count({
      namespace,
      agentName,
      controlId,
      window,
      byBucket,
      agents: 0,
      controls: MAX_LISTED_CONTROLS,
      topControls: 0,
    });
    return {
      head: { agent_name: agentName, time_range: range.name },
      totals: totals(found, byBucket ? window : null),
      controls: found.controls,
    };
  }

  return {
    async create(events) {
      const { encoded, foreign = 0 } = events;
      const received = encoded.length + foreign;
      const enqueued = encoded.length > 0 && (await stored(events)) ? encoded.length : 0;
      const status = enqueued === received ? 'queued' : enqueued > 0 ? 'partial' : 'failed';
      return { received, enqueued, dropped: received - enqueued, status };
    },
    noticeClock({ ahead = 0 }) {
      if (ahead === 0) return;
      meter.ahead += ahead;
      failures.told('warn', 'clock skew', AHEAD, { events: ahead });
    },
    async flush(namespace) {
      const [events, counted] = await Promise.allSettled([recorder?.flush(namespace), counts.flush()]);
      if (events.status === 'rejected') throw events.reason;
      if (counted.status === 'rejected') throw counted.reason;
      return events.value ?? 0;
    },
    async query(input) {
      if (input.include_buffered) await recorder?.flush(input.namespace);
      const { limit, offset, cursor: after } = input;
      const { total, total_kind } = await totalOf(search, input, input.total);
      const { events, next } = await search.page(input, { limit, offset, after });
      const next_cursor = next === undefined ? null : printCursor(next);
      return {
        events: events.map(shownEvent),
        total,
        event_total: total,
        // Replies to requests without the member stay as they are.
        total_kind: input.total === undefined ? null : total_kind,
        limit,
        offset,
        next_cursor,
      };
    },
    async stats(input) {
      const { head, totals, controls } = await count(input, null);
      return { ...head, totals, controls: controls.map(controlStats) };
    },
    async controlStats(input) {
      const id = input.control_id;
      // No event has such an id, and gRPC cannot represent it.
      if ((id | 0) !== id) throw controlNotFound(id);
      const { head, totals, controls } = await count(input, id);
      const name = controls[0]?.controlName ?? `control-${id}`;
      return { ...head, control_id: id, control_name: name, stats: totals };
    },
    evaluationStats: (input) => counts.stats({ ...input, range: rangeOf(input) }, input.namespace),
    async overview(input) {
      const { include_timeseries: byBucket, limit, control_id: controlId } = input;
      const range = rangeOf(input);
      const window = windowOf(range, now());
      const found = await statistics.count({
        namespace: input.namespace,
        agentName: null,
        controlId: controlId ?? null,
        window,
        byBucket,
        agents: limit,
        controls: limit,
        topControls: limit,
        topByMatches: input.top_by_matches,
      });
      return {
        time_range: range.name,
        totals: totals(found, byBucket ? window : null),
        agents: found.agents.map(agentStats),
        controls: found.controls.map((one) => ({
          agent_name: nameOfKey(one.agentName),
          stats: controlStats(one),
        })),
        top_controls: found.topControls.map(controlStats),
      };
    },
  };
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'DATABASE_ERROR';
}
