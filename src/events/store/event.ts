import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { Decision, Stage } from '../../core/types.js';
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
export const MAX_STEP_NAME_LENGTH = 1_024;
export const MAX_STEP_TEXT_LENGTH = 255;

/** An event as sent and logged. */
export function shownEvent({ origin: _, ...event }: ControlEvent): object {
  return { ...event, timestamp: event.timestamp.text };
}
