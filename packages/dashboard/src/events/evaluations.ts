import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';

/** The recorded checks of one evaluation of a step. */
export interface RecordedEvaluation {
  /** Unique among the evaluations of a list. */
  readonly key: string;
  /** At least one, in the order of their times. */
  readonly checks: readonly [ControlExecutionEvent, ...ControlExecutionEvent[]];
}

/**
 * Events in the order of their times, grouped by the verdict that they are part of. Events of clients that name no
 * verdict stand alone.
 */
export function evaluationsOf(inOrder: readonly ControlExecutionEvent[]): RecordedEvaluation[] {
  const groups = new Map<string, [ControlExecutionEvent, ...ControlExecutionEvent[]]>();
  for (const event of inOrder) {
    const { decisionId, agentName, controlExecutionId } = event;
    const key =
      decisionId === undefined ? `check ${controlExecutionId}` : `decision ${agentName} ${decisionId}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [event]);
    else group.push(event);
  }
  return [...groups].map(([key, checks]) => ({ key, checks }));
}
