import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { stageText } from '../control-parts/scope-text.js';
import { agentAddress } from '../references/columns.js';
import { NameLink } from '../ui/name-link.js';
import type { Column } from '../ui/table/columns.js';
import { ClockText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { EventControl } from './event-control.js';
import { eventTitle, outcomeWord, signOfEvent, stepTitle } from './event-title.js';

import { MarkBadge } from './marked-events.js';

export { signOfEvent } from './event-title.js';

const MAX_NAME = 40;

/** What lists show of an event. The row leads to its trace. */
export const EVENT_COLUMNS: readonly Column<ControlExecutionEvent>[] = [
  { head: 'Time', cell: ({ timestamp }) => <ClockText time={timestamp} /> },
  {
    head: 'Outcome',
    cell: (event) => (
      <>
        <OutcomeBadge event={event} /> <MarkBadge event={event} />
      </>
    ),
  },
  {
    head: 'Step',
    cell: (event) => (
      <>
        <Link data-row-link href={traceAddress(event.traceId ?? '')} {...labelOf(event)}>
          <UserText text={stepTitle(event)} max={MAX_NAME} />
        </Link>{' '}
        <small className="muted">
          {[event.stepName === undefined ? undefined : event.stepType, stageText(event.checkStage)]
            .filter((part) => part)
            .join(', ')}
        </small>
      </>
    ),
  },
  {
    head: 'Control',
    cell: (event) => <EventControl event={event} max={MAX_NAME} />,
  },
  {
    head: 'Agent',
    cell: ({ agentName = '' }) => <NameLink href={agentAddress(agentName)} name={agentName} max={MAX_NAME} />,
  },
];

/** What the event says, for those who do not see the row. A shortened name would not be a part of it. */
function labelOf(event: ControlExecutionEvent): { 'aria-label'?: string } {
  return stepTitle(event).length > MAX_NAME ? {} : { 'aria-label': `${eventTitle(event)}: show its trace` };
}

/** What happened at a check, as a word of an outcome. */
export function OutcomeBadge({ event }: { readonly event: ControlExecutionEvent }) {
  const sign = signOfEvent(event);
  return <DecisionBadge sign={sign} word={outcomeWord(sign)} />;
}

/** Trace ids are free text, so they are a parameter and not part of the path. */
function traceAddress(traceId: string): string {
  return `/traces?id=${encodeURIComponent(traceId)}`;
}
