import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { DecisionBadge, type Sign, signOfDecision } from '../control-parts/decision-badge.js';
import { stageText } from '../control-parts/scope-text.js';
import { agentAddress } from '../references/columns.js';
import { NameLink } from '../ui/name-link.js';
import type { Column } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';

interface EventColumnOptions {
  /** Whether times are shown exactly. */
  readonly isExact: boolean;
}

/** What lists show of an event. */
export function eventColumns({ isExact }: EventColumnOptions): readonly Column<ControlExecutionEvent>[] {
  return [
    { head: 'Time', cell: ({ timestamp }) => <TimeText time={timestamp} isExact={isExact} /> },
    { head: 'Decision', cell: (event) => <DecisionBadge sign={signOfEvent(event)} /> },
    {
      head: 'Control',
      cell: ({ controlId, controlName = '' }) => (
        <NameLink href={`/controls/${controlId}`} name={controlName} />
      ),
    },
    {
      head: 'Agent',
      cell: ({ agentName = '' }) => <NameLink href={agentAddress(agentName)} name={agentName} />,
    },
    {
      head: 'Step',
      cell: ({ stepType, stepName }) => (
        <UserText text={[stepType, stepName].filter((part) => part !== undefined).join(' ') || '–'} />
      ),
    },
    { head: 'Stage', cell: ({ checkStage }) => stageText(checkStage) },
    {
      head: 'Trace',
      cell: ({ traceId = '' }) => (
        <Link data-row-link href={traceAddress(traceId)}>
          <UserText text={traceId} max={20} />
        </Link>
      ),
    },
  ];
}

export const EVENT_COLUMNS = eventColumns({ isExact: false });

/** What happened at a check: an error, no match, or the decision of the control. */
export function signOfEvent(event: ControlExecutionEvent): Sign {
  if (event.errorMessage !== undefined) return 'error';
  return event.matched === true ? signOfDecision(event.action) : 'none';
}

/** Trace ids are free text, so they are a parameter and not part of the path. */
function traceAddress(traceId: string): string {
  return `/traces?id=${encodeURIComponent(traceId)}`;
}
