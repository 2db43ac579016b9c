import { isStorable } from '../database/text.js';
import type { Decision, Stage } from '../evaluation/types.js';
import type { JsonObject } from '../json/json-value.js';
import type { EventTime } from './event-time.js';

/** What kind of step an event is about. */
export type AppliesTo = 'llm_call' | 'tool_call';

/** What one control said about one step, once. Member names are those of the wire. */
export interface ControlEvent {
  readonly control_execution_id: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly agent_name: string;
  readonly control_id: number;
  readonly control_name: string;
  readonly check_stage: Stage;
  readonly applies_to: AppliesTo;
  readonly action: Decision;
  readonly matched: boolean;
  readonly confidence: number;
  readonly timestamp: EventTime;
  readonly execution_duration_ms: number | null;
  readonly evaluator_name: string | null;
  readonly selector_path: string | null;
  readonly error_message: string | null;
  readonly metadata: JsonObject;
}

/** As long as a UUID. */
const MAX_EXECUTION_ID_LENGTH = 36;
const MAX_AGENT_NAME_LENGTH = 255;

/** Whether both databases can hold an event unchanged. Deployed clients expect that only storing it says so. */
export function isStorableEvent(event: ControlEvent): boolean {
  return (
    event.control_execution_id.length <= MAX_EXECUTION_ID_LENGTH &&
    event.agent_name.length <= MAX_AGENT_NAME_LENGTH &&
    [
      event.control_execution_id,
      event.trace_id,
      event.span_id,
      event.control_name,
      event.evaluator_name ?? '',
      event.selector_path ?? '',
      event.error_message ?? '',
    ].every(isStorable)
  );
}

/** An event as it is sent and logged. */
export function shownEvent(event: ControlEvent): object {
  return { ...event, timestamp: event.timestamp.text };
}
