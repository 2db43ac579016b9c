import type { Attributes } from '@opentelemetry/api';
import type { Config } from '../../contract/config/config.js';
import { SPAN_NAMES } from '../../contract/telemetry/attribute-names.js';
import type { EvaluateRequest } from '../../decide/decisions/evaluate-request.js';
import type { EvaluationCaller } from '../../decide/decisions/evaluation-caller.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';

/** Longest text of an attribute, in UTF-16 code units: names of steps come from callers. */
const MAX_TEXT_LENGTH = 256;
/** Most names of controls in one attribute. */
const MAX_NAMES = 32;

const shortened = (text: string): string =>
  text.length > MAX_TEXT_LENGTH ? text.slice(0, MAX_TEXT_LENGTH) : text;
const namesOf = (controls: RevisedVerdict['matches']): string[] =>
  controls.slice(0, MAX_NAMES).map(({ control_name: name }) => shortened(name));

/** Which attributes of `gen_ai` spans have. */
export type GenAi = Config['telemetry']['genAi'];

/** What is known of an evaluation before it is decided. The contents of the step are never part of a span. */
export function requestAttributes(
  request: EvaluateRequest,
  { protocol, namespace }: Pick<EvaluationCaller, 'protocol' | 'namespace'>,
  genAi: GenAi,
): Attributes {
  const { agentName, stage, step, options } = request;
  return {
    ...(genAi === 'none' ? {} : guardrailAttributes(request)),
    ...(genAi === 'all' ? agentAttributes(request, namespace) : {}),
    [SPAN_NAMES.ownAgent]: agentName,
    [SPAN_NAMES.namespace]: namespace.name,
    [SPAN_NAMES.protocol]: protocol,
    [SPAN_NAMES.stage]: stage,
    [SPAN_NAMES.stepType]: shortened(step.type),
    [SPAN_NAMES.stepName]: shortened(step.name),
    ...(options?.sessionId === undefined ? {} : { [SPAN_NAMES.session]: options.sessionId }),
    ...(options?.stepId === undefined ? {} : { [SPAN_NAMES.stepId]: options.stepId }),
  };
}

/** As the proposal of spans of guardrails has it. */
function guardrailAttributes({ agentName, stage, options }: EvaluateRequest): Attributes {
  return {
    [SPAN_NAMES.operation]: 'run_guardrail',
    [SPAN_NAMES.agent]: agentName,
    [SPAN_NAMES.target]: stage === 'pre' ? 'input' : 'output',
    ...(options?.sessionId === undefined ? {} : { [SPAN_NAMES.conversation]: options.sessionId }),
  };
}

/** The agent, and the call of a tool that is checked, as the conventions name them. */
function agentAttributes(
  { agentName, step, options }: EvaluateRequest,
  namespace: EvaluationCaller['namespace'],
): Attributes {
  const isTool = step.type === 'tool';
  return {
    [SPAN_NAMES.agentId]: namespace.agentKey(agentName),
    ...(isTool ? { [SPAN_NAMES.tool]: shortened(step.name) } : {}),
    ...(isTool && options?.stepId !== undefined ? { [SPAN_NAMES.toolCall]: options.stepId } : {}),
  };
}

/** What a verdict adds. */
export function verdictAttributes(verdict: RevisedVerdict, genAi: GenAi): Attributes {
  const { matches, errors, outcome, decision_id, revision } = verdict;
  const control = decidingControl(verdict);
  const rule = control === undefined ? undefined : String(control.control_id);
  return {
    ...(genAi === 'none' ? {} : { [SPAN_NAMES.verdict]: verdictType(verdict) }),
    ...(genAi === 'none' || rule === undefined ? {} : { [SPAN_NAMES.rule]: rule }),
    ...(rule === undefined ? {} : { [SPAN_NAMES.control]: rule }),
    [SPAN_NAMES.outcome]: outcome,
    [SPAN_NAMES.decision]: String(decision_id),
    [SPAN_NAMES.revision]: revision,
    ...(matches.length === 0 ? {} : { [SPAN_NAMES.matched]: namesOf(matches) }),
    ...(errors.length === 0 ? {} : { [SPAN_NAMES.failed]: namesOf(errors) }),
  };
}

/** The first control that made the outcome what it is; of an allowed step the first one that matched. */
function decidingControl({ outcome, matches, errors }: RevisedVerdict) {
  if (outcome === 'allow') return matches[0];
  const controls = [...matches, ...errors];
  // A steer that the caller does not accept is a denial.
  return (
    controls.find(({ action }) => action === outcome) ?? controls.find(({ action }) => action !== 'observe')
  );
}

/** The word of the conventions: a step may go on as it is, changed, with a warning, once a person has approved it, or not at all. */
function verdictType({ outcome, matches }: RevisedVerdict): string {
  if (outcome === 'allow') return matches.length > 0 ? 'warn' : 'allow';
  return VERDICT_TYPES[outcome];
}
const VERDICT_TYPES = { deny: 'deny', steer: 'modify', modify: 'modify', ask: 'escalate' } as const;
