import { useQuery } from '@connectrpc/connect-query';
import {
  type ControlExecutionEvent,
  ObservabilityService,
  TotalKind,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { eventTitle, stepTitle } from '../../events/event-title.js';
import { agentAddress } from '../../references/columns.js';
import { traceAddress } from '../../references/trace-address.js';
import { NameLink } from '../../ui/name-link.js';
import { QueryState } from '../../ui/states.js';
import type { Columns } from '../../ui/table/columns.js';
import { Table } from '../../ui/table/table.js';
import { ClockText } from '../../ui/time-text.js';
import { UserText } from '../../ui/user-text.js';

const SHOWN = 6;
const REFRESH_MS = 5_000;
const MAX_NAME = 20;

const COLUMNS: Columns<ControlExecutionEvent> = [
  { head: 'Time', isWhole: true, cell: ({ timestamp }) => <ClockText time={timestamp} /> },
  {
    head: 'Step',
    cell: (event) => (
      <Link
        data-row-link
        href={traceAddress(event.traceId ?? '')}
        aria-label={`${eventTitle(event)}: show its trace`}
      >
        <UserText text={stepTitle(event)} max={MAX_NAME} />
      </Link>
    ),
  },
  {
    head: 'Agent',
    cell: ({ agentName = '' }) => <NameLink href={agentAddress(agentName)} name={agentName} max={MAX_NAME} />,
  },
];

/** The latest matches of the control, whenever they were. A row opens its trace. */
export function LatestMatches({ controlId }: { readonly controlId: number }) {
  const query = useQuery(
    ObservabilityService.method.queryEvents,
    { controlIds: [controlId], matched: true, limit: SHOWN, includeBuffered: true, total: TotalKind.NONE },
    { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData },
  );
  return (
    <section className="card side-card" aria-label="Latest matches">
      <h2>
        Latest matches
        <Link href={`/events?control=${controlId}&matched=true`}>All</Link>
      </h2>
      <QueryState query={query} what="events">
        {({ events }) => (
          <Table
            label="Latest matches of this control"
            columns={COLUMNS}
            rows={events}
            keyOf={({ controlExecutionId = '' }) => controlExecutionId}
            empty={<p className="muted">No match is recorded.</p>}
          />
        )}
      </QueryState>
    </section>
  );
}
