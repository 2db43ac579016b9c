import { useQuery } from '@connectrpc/connect-query';
import {
  type ControlExecutionEvent,
  ObservabilityService,
  TotalKind,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { eventsAddress } from '../activity/events-address.js';
import { EVENT_COLUMNS } from '../events/event-columns.js';
import { useMay } from '../session/session-context.js';
import { QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { visibleText } from '../ui/visible-text.js';

const SHOWN = 10;
const COLUMNS = EVENT_COLUMNS.filter(({ head }) => head !== 'Agent');

/** What was decided about the agent before. Nothing for callers that may not read events. */
export function LastDecisions({ agentName }: { readonly agentName: string }) {
  const seesEvents = useMay('events.read');
  const query = useQuery(
    ObservabilityService.method.queryEvents,
    { agentName, limit: SHOWN, includeBuffered: true, total: TotalKind.NONE },
    { enabled: seesEvents },
  );
  if (!seesEvents) return null;
  return (
    <section className="card" aria-label="Last decisions about the agent">
      <h2>Last decisions about the agent</h2>
      <QueryState query={query} what="decisions">
        {({ events }) => (
          <Table
            label="Last decisions"
            columns={COLUMNS}
            rows={events.map(plain)}
            keyOf={({ controlExecutionId }, at) => controlExecutionId ?? at}
            empty={<p className="muted">No decision about it is recorded.</p>}
          />
        )}
      </QueryState>
      <Link href={eventsAddress({ agent: agentName })}>All events of the agent</Link>
    </section>
  );
}

/** The event with what its names hide. */
function plain(event: ControlExecutionEvent): ControlExecutionEvent {
  return event.stepName === undefined ? event : { ...event, stepName: visibleText(event.stepName) };
}
