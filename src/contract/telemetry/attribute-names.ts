/**
 * Every name that spans of evaluations have; docs/telemetry.md explains them. Those of `gen_ai.guardrail` are a proposal
 * of the semantic conventions of OpenTelemetry, which may still change; those of `control_enforcement` do not.
 */
export const SPAN_NAMES = {
  span: 'run_guardrail control-enforcement',
  operation: 'gen_ai.operation.name',
  agent: 'gen_ai.agent.name',
  namespace: 'control_enforcement.namespace',
  conversation: 'gen_ai.conversation.id',
  target: 'gen_ai.guardrail.target.type',
  verdict: 'gen_ai.guardrail.verdict.type',
  rule: 'gen_ai.guardrail.rule.id',
  protocol: 'control_enforcement.protocol',
  stage: 'control_enforcement.stage',
  stepType: 'control_enforcement.step.type',
  stepName: 'control_enforcement.step.name',
  stepId: 'control_enforcement.step.id',
  outcome: 'control_enforcement.outcome',
  decision: 'control_enforcement.decision.id',
  revision: 'control_enforcement.revision',
  matched: 'control_enforcement.controls.matched',
  failed: 'control_enforcement.controls.failed',
  errorType: 'error.type',
} as const;

/** Every name that log records of events have. Those of spans have the same meaning. */
export const EVENT_NAMES = {
  event: 'control_enforcement.control.checked',
  position: 'control_enforcement.event.position',
  id: 'control_enforcement.event.id',
  agent: SPAN_NAMES.agent,
  namespace: SPAN_NAMES.namespace,
  rule: SPAN_NAMES.rule,
  control: 'control_enforcement.control.name',
  stage: SPAN_NAMES.stage,
  action: 'control_enforcement.control.action',
  matched: 'control_enforcement.control.matched',
  decision: SPAN_NAMES.decision,
} as const;
