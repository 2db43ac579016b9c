import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import { type Sign, signOfDecision } from '../control-parts/sign.js';

/** What happened, in the word of an outcome. */
const OUTCOME_WORDS: Readonly<Record<Sign, string>> = {
  deny: 'denied',
  steer: 'steered',
  observe: 'observed',
  error: 'error',
  safe: 'allowed',
  none: 'no match',
};
const BY_WORDS: Readonly<Record<Sign, string>> = {
  deny: 'denied by',
  steer: 'steered by',
  observe: 'observed by',
  error: 'not checked by',
  safe: 'allowed by',
  none: 'not matched by',
};

/** What happened at a check: an error, no match, or the decision of the control. */
export function signOfEvent(event: ControlExecutionEvent): Sign {
  if (event.errorMessage !== undefined) return 'error';
  return event.matched === true ? signOfDecision(event.action) : 'none';
}

export function outcomeWord(sign: Sign): string {
  return OUTCOME_WORDS[sign];
}

/** The step of an event by its name, or its type if it has none. */
export function stepTitle({ stepType, stepName }: ControlExecutionEvent): string {
  return stepName ?? stepType ?? 'a step';
}

/** What an event says in a line, for example `send_mail denied by no-card-numbers`. */
export function eventTitle(event: ControlExecutionEvent): string {
  const { controlName, controlId } = event;
  const control = controlName === undefined || controlName === '' ? `control ${controlId}` : controlName;
  return `${stepTitle(event)} ${BY_WORDS[signOfEvent(event)]} ${control}`;
}

const STRENGTH: readonly Sign[] = ['deny', 'error', 'steer', 'observe', 'none'];

/** What a trace says in a line: its agent and the strongest of its events; `inOrder` has at least one. */
export function traceTitle(inOrder: readonly [ControlExecutionEvent, ...ControlExecutionEvent[]]): string {
  const [first] = inOrder;
  const strongest = STRENGTH.flatMap((sign) => inOrder.find((event) => signOfEvent(event) === sign) ?? [])[0];
  return `${first.agentName ?? ''} · ${eventTitle(strongest ?? first)}`;
}
