import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { DecisionBadge, type Sign, signOfDecision } from '../control-parts/decision-badge.js';
import { stageText } from '../control-parts/scope-text.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';

export const EVENT_COLUMNS = ['Time', 'Decision', 'Control', 'Agent', 'Step', 'Stage', 'Trace'];

/** What happened at a check: an error, no match, or the decision of the control. */
export function signOfEvent(event: ControlExecutionEvent): Sign {
  if (event.errorMessage !== undefined) return 'error';
  return event.matched === true ? signOfDecision(event.action) : 'none';
}

interface EventRowProps {
  readonly event: ControlExecutionEvent;
  /** Whether the time is shown exactly, as in traces. */
  readonly isExact?: boolean;
}

export function EventRow({ event, isExact = false }: EventRowProps) {
  const {
    timestamp,
    controlId,
    controlName,
    agentName = '',
    stepType,
    stepName,
    checkStage,
    traceId,
  } = event;
  return (
    <tr>
      <td>
        <TimeText time={timestamp} isExact={isExact} />
      </td>
      <td>
        <DecisionBadge sign={signOfEvent(event)} />
      </td>
      <td>
        <Link href={`/controls/${controlId}`}>
          <UserText text={controlName ?? ''} />
        </Link>
      </td>
      <td>
        <Link href={`/agents/${encodeURIComponent(agentName)}`}>
          <UserText text={agentName} />
        </Link>
      </td>
      <td>
        <UserText text={[stepType, stepName].filter((part) => part !== undefined).join(' ') || '–'} />
      </td>
      <td>{stageText(checkStage)}</td>
      <td>
        <Link data-row-link href={traceAddress(traceId ?? '')}>
          <UserText text={traceId ?? ''} max={20} />
        </Link>
      </td>
    </tr>
  );
}

/** Trace ids are free text, so they are a parameter and not part of the path. */
export function traceAddress(traceId: string): string {
  return `/traces?id=${encodeURIComponent(traceId)}`;
}
