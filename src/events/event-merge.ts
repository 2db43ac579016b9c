import type { ControlEvent } from './event.js';

/**
 * Makes one event of what is known (`first`) and what came after it (`later`) about the same check, or returns `first`
 * itself when the later one adds nothing.
 *
 * What a client and the service tell of the same check is one event, whoever comes first. What the service saw itself
 * counts: agent, control, decision, outcome and time; a client cannot rewrite the record of its own denial. The client
 * adds what the service does not know: duration, evaluator, selector, metadata, and the ids of its trace when the
 * evaluation came without. Of two events of clients the first one is kept, and the same holds for the service.
 */
export function mergeEvents(first: ControlEvent, later: ControlEvent): ControlEvent {
  const [one, other] = later.origin === 'client' ? [first, later] : [later, first];
  if (other.origin !== 'client') return first;
  if (one.origin !== 'service' && one.origin !== 'untraced_service') return first;
  return withClientsPart(one, other);
}

function withClientsPart(own: ControlEvent, client: ControlEvent): ControlEvent {
  const { trace_id, span_id } = own.origin === 'service' ? own : client;
  return {
    ...own,
    origin: 'merged',
    trace_id,
    span_id,
    execution_duration_ms: own.execution_duration_ms ?? client.execution_duration_ms,
    evaluator_name: own.evaluator_name ?? client.evaluator_name,
    selector_path: own.selector_path ?? client.selector_path,
    metadata: Object.keys(own.metadata).length === 0 ? client.metadata : own.metadata,
  };
}
