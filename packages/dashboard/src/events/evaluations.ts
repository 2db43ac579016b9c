import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';

/** The recorded checks of one evaluation of a step. */
export interface RecordedEvaluation {
  /** Unique among the evaluations of a list. */
  readonly key: string;
  /** At least one, in the order of their times. */
  readonly checks: readonly [ControlExecutionEvent, ...ControlExecutionEvent[]];
}

/**
 * Events in the order of their times, grouped by the verdict that they are part of. Clients that name no verdict report
 * the checks of a step with the span of the step: those of one agent, span and stage are one evaluation.
 */
export function evaluationsOf(inOrder: readonly ControlExecutionEvent[]): RecordedEvaluation[] {
  const groups = new Map<string, [ControlExecutionEvent, ...ControlExecutionEvent[]]>();
  for (const event of inOrder) {
    const key = keyOf(event);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [event]);
    else group.push(event);
  }
  return [...groups].map(([key, checks]) => ({ key, checks }));
}

function keyOf(event: ControlExecutionEvent): string {
  const { decisionId, agentName, spanId = '', checkStage, stepName, controlExecutionId } = event;
  if (decisionId !== undefined) return JSON.stringify(['decision', agentName, decisionId]);
  return spanId === ''
    ? JSON.stringify(['check', controlExecutionId])
    : JSON.stringify(['span', agentName, spanId, checkStage, stepName]);
}
