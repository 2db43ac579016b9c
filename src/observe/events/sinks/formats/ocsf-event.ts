import type { JsonObject } from '../../../../../packages/exact-json/src/index.js';
import type { ControlEvent } from '../../store/event.js';
import type { TailEvent } from '../../store/event-tail.js';
import type { ControlOutcome } from './control-outcome.js';
import { type ExportSource, type PlainEvent, plainEvent } from './plain-event.js';

/** Of the schema (https://schema.ocsf.io/1.8.0). */
const OCSF_VERSION = '1.8.0';

/** A number of an enumeration of OCSF, and its caption. */
type Value = readonly [id: number, caption: string];

const INFORMATIONAL: Value = [1, 'Informational'];
const LOW: Value = [2, 'Low'];
const MEDIUM: Value = [3, 'Medium'];

/** What a control does with the step: the members of the profile `security_control`, and how severe it is. */
interface Disposition {
  readonly action: Value;
  readonly disposition: Value;
  readonly severity: Value;
  /** Whether the agent could not do what it wanted. */
  readonly isAlert: boolean;
}

const DISPOSITIONS: Readonly<Record<ControlOutcome, Disposition>> = {
  allow: {
    action: [1, 'Allowed'],
    disposition: [1, 'Allowed'],
    severity: INFORMATIONAL,
    isAlert: false,
  },
  observe: { action: [3, 'Observed'], disposition: [17, 'Logged'], severity: INFORMATIONAL, isAlert: false },
  // The agent gets guidance in place of what it wanted to do.
  steer: { action: [4, 'Modified'], disposition: [11, 'Corrected'], severity: LOW, isAlert: true },
  deny: { action: [2, 'Denied'], disposition: [2, 'Blocked'], severity: MEDIUM, isAlert: true },
  ask: { action: [2, 'Denied'], disposition: [14, 'Delayed'], severity: LOW, isAlert: true },
  approve: {
    action: [1, 'Allowed'],
    disposition: [8, 'Approved'],
    severity: INFORMATIONAL,
    isAlert: false,
  },
  reject: { action: [2, 'Denied'], disposition: [25, 'Rejected'], severity: MEDIUM, isAlert: true },
  modify: { action: [4, 'Modified'], disposition: [11, 'Corrected'], severity: LOW, isAlert: true },
  error: { action: [0, 'Unknown'], disposition: [27, 'Error'], severity: MEDIUM, isAlert: false },
};

/** Confidences of at least these values. */
const CONFIDENCES: readonly (readonly [from: number, value: Value])[] = [
  [0.8, [3, 'High']],
  [0.5, [2, 'Medium']],
  [0, [1, 'Low']],
];

/**
 * A stored event in the schema of OCSF: a match is a Detection Finding (2004), a check without a match an API Activity
 * (6003), both with the profile `security_control`.
 */
export function ocsfEvent(tail: Pick<TailEvent, 'position' | 'event'>, source: ExportSource): JsonObject {
  const { event } = tail;
  const plain = plainEvent(tail);
  const { action, disposition, severity, isAlert } = DISPOSITIONS[plain.outcome];
  return {
    ...(event.matched ? findingOf(event, plain) : activityOf(event, plain)),
    time: msOf(event),
    ...captioned('severity', severity),
    ...captioned('action', action),
    ...captioned('disposition', disposition),
    is_alert: isAlert,
    ...(event.error_message === null ? {} : { status_detail: event.error_message }),
    message: messageOf(event, plain),
    policy: { uid: String(event.control_id), name: nameOf(event) },
    resources: [{ type: event.step_type ?? event.applies_to, name: event.step_name ?? event.applies_to }],
    metadata: {
      version: OCSF_VERSION,
      product: {
        name: 'Control Enforcement Service',
        vendor_name: 'Control Enforcement',
        uid: source.instance,
        version: source.version,
      },
      profiles: event.matched || plain.trace === null ? ['security_control'] : ['security_control', 'trace'],
      tenant_uid: plain.namespace,
      uid: plain.id,
      sequence: plain.position,
      original_time: event.timestamp.text,
      ...(event.decision_id === null ? {} : { correlation_uid: event.decision_id }),
    },
    unmapped: unmappedOf(event, plain),
  };
}

function findingOf(event: ControlEvent, { id }: PlainEvent): JsonObject {
  const name = nameOf(event);
  const confidence = CONFIDENCES.find(([from]) => event.confidence >= from)?.[1] ?? [0, 'Unknown'];
  return {
    ...classified([2, 'Findings'], [2004, 'Detection Finding'], [1, 'Create']),
    ...captioned('status', [1, 'New']),
    ...captioned('confidence', confidence),
    confidence_score: Math.round(100 * event.confidence),
    finding_info: {
      uid: id,
      title: name,
      created_time: msOf(event),
      analytic: { type_id: 1, type: 'Rule', uid: String(event.control_id), name },
    },
  };
}

function activityOf(event: ControlEvent, { agent, trace }: PlainEvent): JsonObject {
  const isFailed = event.error_message !== null;
  return {
    // None of the activities of the class is a check.
    ...classified([6, 'Application Activity'], [6003, 'API Activity'], [99, 'Check']),
    ...captioned('status', isFailed ? [2, 'Failure'] : [1, 'Success']),
    actor: {
      app_name: agent,
      ...(event.session_id === null ? {} : { session: { uid: event.session_id } }),
    },
    api: {
      operation: event.step_name ?? event.applies_to,
      ...(event.step_id === null ? {} : { request: { uid: event.step_id } }),
    },
    src_endpoint: { name: agent },
    ...(trace === null ? {} : { trace: { uid: trace.traceId } }),
  };
}

/** What the schema has no place for. */
function unmappedOf(event: ControlEvent, { agent, outcome }: PlainEvent): JsonObject {
  return {
    agent_name: agent,
    check_stage: event.check_stage,
    applies_to: event.applies_to,
    control_action: event.action,
    outcome,
    matched: event.matched,
    confidence: event.confidence,
    trace_id: event.trace_id,
    span_id: event.span_id,
    session_id: event.session_id,
    step_id: event.step_id,
    revision: event.revision,
    evaluator_name: event.evaluator_name,
    selector_path: event.selector_path,
    execution_duration_ms: event.execution_duration_ms,
    metadata: event.metadata,
  };
}

function classified(category: Value, classOf: Value, activity: Value): JsonObject {
  return {
    category_uid: category[0],
    category_name: category[1],
    class_uid: classOf[0],
    class_name: classOf[1],
    activity_id: activity[0],
    activity_name: activity[1],
    type_uid: classOf[0] * 100 + activity[0],
    type_name: `${classOf[1]}: ${activity[1]}`,
  };
}

const captioned = (name: string, [id, caption]: Value): JsonObject => ({
  [`${name}_id`]: id,
  [name]: caption,
});

/** Milliseconds since 1970, as the type timestamp_t. */
const msOf = ({ timestamp }: ControlEvent): number => Number(timestamp.us / 1_000n);

/** Names are recommended to say something, and clients may leave them empty. */
const nameOf = ({ control_name: name, control_id: id }: ControlEvent): string => name || `control ${id}`;

function messageOf(event: ControlEvent, { outcome }: PlainEvent): string {
  const { matched, error_message: error } = event;
  const what = matched ? `matched (${outcome})` : error === null ? 'did not match' : 'could not be checked';
  return `Control ${nameOf(event)} ${what}`;
}
