import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import type { EventFilter } from '../../../src/observe/events/store/event-filter.js';

/** Whether an event matches a filter, member by member as the proto files describe them. */
export function matches(filter: EventFilter, event: ControlEvent): boolean {
  const is = (wanted: string | undefined, value: string | null) => !wanted || value === wanted;
  const isIn = <T>(wanted: readonly T[] | undefined, value: T) => !wanted?.length || wanted.includes(value);
  const { min_revision: least, max_revision: most, start_time: from, end_time: to } = filter;
  const { revision } = event;
  return (
    is(filter.trace_id, event.trace_id) &&
    is(filter.span_id, event.span_id) &&
    is(filter.control_execution_id, event.control_execution_id) &&
    is(filter.agent_name, event.agent_name) &&
    is(filter.step_type, event.step_type) &&
    is(filter.step_name, event.step_name) &&
    is(filter.session_id, event.session_id) &&
    is(filter.step_id, event.step_id) &&
    is(filter.decision_id, event.decision_id) &&
    isIn(filter.control_ids, event.control_id) &&
    isIn(filter.actions, event.action) &&
    isIn(filter.check_stages, event.check_stage) &&
    isIn(filter.applies_to, event.applies_to) &&
    (filter.matched === undefined || event.matched === filter.matched) &&
    (filter.has_error === undefined || (event.error_message !== null) === filter.has_error) &&
    (from === undefined || event.timestamp.us >= from.us) &&
    (to === undefined || event.timestamp.us <= to.us) &&
    (least === undefined || (revision !== null && revision >= least)) &&
    (most === undefined || (revision !== null && revision <= most))
  );
}
