import { type ControlEvent, STEP_MEMBERS } from './event.js';
import { clientsMetadata } from './event-verdict.js';

/**
 * Merges the known event (`first`) and a later one (`later`) of the same check, or returns `first` itself
 * when the later one adds nothing.
 *
 * The events of a client and of the service for the same check become one event, in any order of arrival. The
 * service's own observations take precedence: agent, control, decision, outcome and time; a client cannot
 * rewrite the record of its own denial. The client adds data unknown to the service: duration, metadata, the
 * ids of its trace when the evaluation had none, and what the service does not know of the step. Its evaluator
 * and selector are kept where it names them. Of two events of clients the
 * first one is kept, and likewise for the service.
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
    evaluator_name: client.evaluator_name ?? own.evaluator_name,
    selector_path: client.selector_path ?? own.selector_path,
    metadata: { ...clientsMetadata(client.metadata), ...own.metadata },
    ...Object.fromEntries(STEP_MEMBERS.map((member) => [member, own[member] ?? client[member]])),
  };
}
