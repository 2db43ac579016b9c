import { LIMITS } from '../../../../gen/limits/limits.js';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { nameOfKey, namespaceOfKey } from '../../../contract/call/namespace.js';
import type { Decision, Stage } from '../../../kernel/core/types.js';
import { plainExecutionId } from './event-keys.js';
import type { EventTime } from './event-time.js';

/** The kind of step of an event. */
export type AppliesTo = 'llm_call' | 'tool_call';

/**
 * Source of a check's event: a client; the service itself; the service without a trace from its caller, so
 * that the trace ids are generated; or both a client and the service.
 */
export const ORIGINS = ['client', 'service', 'untraced_service', 'merged'] as const;
export type EventOrigin = (typeof ORIGINS)[number];

/** Result of one control for one step, once. Member names are those of the wire. */
export interface ControlEvent {
  /** Not on the wire. */
  readonly origin: EventOrigin;
  /** As it is stored, the key of the id in its namespace; see `keyedEvent`. */
  readonly control_execution_id: string;
  readonly trace_id: string;
  readonly span_id: string;
  /** As it is stored, the key of the agent. */
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
  readonly step_type: string | null;
  readonly step_name: string | null;
  readonly session_id: string | null;
  readonly step_id: string | null;
  readonly revision: number | null;
  readonly decision_id: string | null;
}

/** The step of a check, and the verdict that the check is part of. */
export type EventStep = Pick<ControlEvent, (typeof STEP_MEMBERS)[number]>;

/** The members of `EventStep`. */
export const STEP_MEMBERS = [
  'step_type',
  'step_name',
  'session_id',
  'step_id',
  'revision',
  'decision_id',
] as const;

/** Longest name of a step, in UTF-16 code units; and longest other text of `EventStep`. */
export const MAX_STEP_NAME_LENGTH = LIMITS.ControlExecutionEvent.step_name.max;
export const MAX_STEP_TEXT_LENGTH = LIMITS.ControlExecutionEvent.step_type.max;

/** A stored event as its namespace sees it: sent and logged. The one place where keys become names. */
export function shownEvent({ origin: _, ...event }: ControlEvent): object {
  const { agent_name, control_execution_id, timestamp } = event;
  return {
    ...event,
    control_execution_id: plainExecutionId(control_execution_id, agent_name),
    agent_name: nameOfKey(agent_name),
    timestamp: timestamp.text,
  };
}

/** The same for what is outside of all namespaces, such as sinks. */
export function forwardedEvent(event: ControlEvent): object {
  return { ...shownEvent(event), namespace: namespaceOfKey(event.agent_name) };
}
