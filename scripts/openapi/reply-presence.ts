import type { DescField } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence as Presence } from '@bufbuild/protobuf/wkt';

/**
 * Members of replies whose descriptor does not show whether they may be absent. That applies to lists, enums
 * and messages, and to `optional` members that only a request may omit.
 */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'Agent?': ['agent_metadata'],
  'Agent!': ['agent_name'],
  'StepDefinition?': ['input_schema', 'output_schema', 'metadata'],
  'StepDefinition!': ['type', 'name'],
  'EvaluatorRegistration!': ['name'],
  // A draft of a template has no definition yet, and most definitions have no template.
  'ControlDefinition?': ['condition', 'execution', 'scope', 'action', 'tags', 'template', 'template_values'],
  'ControlDefinition!': ['enabled'],
  'TemplateParameter!': ['label', 'required', 'type'],
  'Scope?': ['step_types', 'step_names', 'stages'],
  'Condition?': ['selector', 'evaluator', 'and', 'or', 'not'],
  'Selector!': ['path'],
  'EvaluatorRef?': ['metadata'],
  'EvaluatorRef!': ['name'],
  'Action?': ['steering_context', 'metadata'],
  'SteeringContext?': ['required_actions'],
  'SteeringContext!': ['message'],
  'ControlSummary?': ['execution', 'step_types', 'stages', 'used_by_agent', 'action', 'attachments'],
  'GetControlResponse?': ['data', 'action', 'attachments'],
  'ControlSnapshot?': ['data'],
  'ControlResult?': ['steering_context'],
  'EvaluatorResult?': ['metadata'],
  'ControlExplanation?': ['decision', 'condition'],
  'ControlExecutionEvent?': ['metadata'],
  'ControlExecutionEvent!': [
    'control_execution_id',
    'trace_id',
    'span_id',
    'agent_name',
    'control_id',
    'control_name',
    'matched',
    'confidence',
    'timestamp',
  ],
  'StatsTotals?': ['timeseries'],
  'GetEvaluationStatsResponse?': ['previous'],
  'ApprovalRule?': ['bind', 'reuse'],
  'Approval?': ['decided_at', 'used_at', 'ended_at'],
  'AccessTask?': ['progress'],
  'AccessApproval?': ['approved_at'],
  'GetAccessRequestResponse?': ['result'],
  'EvaluateAccessResponse?': ['context'],
  'EvaluateAccessesResponse?': ['context', 'evaluations'],
  'PatchOperation?': ['value'],
  'Halt?': ['expires_at', 'lifted_at'],
  'SamplingRule?': ['ends_at'],
  'ReplaySamplesResponse?': ['change', 'progress', 'summary'],
  'Destination?': ['rotated_at', 'previous_secret_until'],
  'Delivery?': ['next_attempt_at', 'last_attempt_at'],
  'VerifyAuditResponse?': ['problem'],
  'LimitStatus?': ['resets_after', 'retry_after', 'window', 'counts_since'],
  'HaltNotice?': ['expires_at'],
  'AgentCoverage?': ['first_seen_at', 'last_seen_at'],
  'Expectation?': ['overdue_since'],
  'KeptState?': ['status'],
  'PackControlComparison?': ['current', 'in_pack', 'after_update'],
};

/** Whether a member of a reply may be absent. */
export function mayBeAbsent(field: DescField): boolean {
  if (EXCEPTIONS[`${field.parent.name}?`]?.includes(field.name)) return true;
  if (EXCEPTIONS[`${field.parent.name}!`]?.includes(field.name)) return false;
  return field.fieldKind === 'scalar' && field.presence === Presence.EXPLICIT;
}

/** `Message.member` of every exception; each must exist. */
export function presenceExceptions(): string[] {
  return Object.entries(EXCEPTIONS).flatMap(([message, members]) =>
    members.map((member) => `${message.slice(0, -1)}.${member}`),
  );
}
