import type { Namespace } from '../../contract/call/namespace.js';
import type { Stage } from '../../kernel/core/types.js';
import type { ControlEvent } from '../events/store/event.js';
import type { EventCursor, EventSearch } from '../events/store/event-search.js';
import { utcTimeOfMs } from '../events/store/event-time.js';

/** Most checks that are read, and those of one query. */
const MAX_CHECKS = 20_000;
const PAGE = 2_000;

/** Recorded evaluations with the same step. */
export interface RecordedStep {
  readonly type: string;
  readonly name: string;
  readonly stage: Stage;
  readonly evaluations: number;
}

/** The evaluations of which the event store has checks with the names of their steps, latest first. */
export interface RecordedEvaluations {
  readonly steps: readonly RecordedStep[];
  /** Beginning of the time that was read, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Whether the whole of the time that was asked for was read. */
  readonly isComplete: boolean;
}

export interface RecordedQuery {
  readonly namespace: Namespace;
  /** Null for all agents. */
  readonly agentName: string | null;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
}

/**
 * Reads which steps were evaluated. An event is the check of one control: those of one evaluation, which have its id, count
 * once; those of earlier versions, without an id, count by their span. Evaluations without any check have no event.
 */
export async function recordedEvaluations(
  search: Pick<EventSearch, 'page'>,
  { namespace, agentName, sinceMs }: RecordedQuery,
): Promise<RecordedEvaluations> {
  const filter = {
    namespace,
    start_time: utcTimeOfMs(sinceMs),
    ...(agentName === null ? {} : { agent_name: agentName }),
  };
  const seen = new Set<string>();
  const counts = new Map<string, RecordedStep>();
  let after: EventCursor | undefined;
  let read = 0;
  let oldestMs = sinceMs;
  for (;;) {
    const { events, next } = await search.page(filter, { limit: PAGE, after });
    for (const event of events) count(event);
    read += events.length;
    const last = events.at(-1);
    if (last !== undefined) oldestMs = Number(last.timestamp.us / 1000n);
    if (next === undefined) return { steps: [...counts.values()], sinceMs, isComplete: true };
    if (read >= MAX_CHECKS) return { steps: [...counts.values()], sinceMs: oldestMs, isComplete: false };
    after = next;
  }

  function count(event: ControlEvent): void {
    const { decision_id: decision, trace_id: trace, span_id: span, check_stage: stage } = event;
    const { step_type: type, step_name: name } = event;
    if (type === null || name === null) return;
    const evaluation = `${decision ?? `${trace} ${span}`} ${stage}`;
    if (seen.has(evaluation)) return;
    seen.add(evaluation);
    const key = `${stage} ${type.length} ${type}${name}`;
    const evaluations = (counts.get(key)?.evaluations ?? 0) + 1;
    counts.set(key, { type, name, stage, evaluations });
  }
}
