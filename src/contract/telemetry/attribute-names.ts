/**
 * Every name that spans of evaluations have; docs/telemetry.md explains them. Those of `gen_ai` are in development in the
 * semantic conventions of OpenTelemetry (https://github.com/open-telemetry/semantic-conventions-genai), those of
 * `gen_ai.guardrail` a proposal: they may still change. Those of `control_enforcement` do not, and say all that these say.
 */
export const SPAN_NAMES = {
  span: 'run_guardrail control-enforcement',
  operation: 'gen_ai.operation.name',
  agent: 'gen_ai.agent.name',
  agentId: 'gen_ai.agent.id',
  tool: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  ownAgent: 'control_enforcement.agent.name',
  namespace: 'control_enforcement.namespace',
  session: 'control_enforcement.session.id',
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
  control: 'control_enforcement.control.id',
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
  outcome: 'control_enforcement.control.outcome',
  decision: SPAN_NAMES.decision,
} as const;
