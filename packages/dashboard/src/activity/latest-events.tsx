import { useQuery } from '@connectrpc/connect-query';
import { ObservabilityService, TotalKind } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { EVENT_COLUMNS } from '../events/event-columns.js';
import { MarkedEvents } from '../events/marked-events.js';
import { totalText } from '../events/total-text.js';
import { QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { type EventsOf, eventsAddress } from './events-address.js';

const SHOWN = 10;
const REFRESH_MS = 5_000;

/** The latest events of an agent or a control, whenever they were. */
export function LatestEvents({ agent, control }: Pick<EventsOf, 'agent' | 'control'>) {
  const query = useQuery(
    ObservabilityService.method.queryEvents,
    {
      ...(agent === undefined ? {} : { agentName: agent }),
      ...(control === undefined ? {} : { controlIds: [control] }),
      limit: SHOWN,
      includeBuffered: true,
      total: TotalKind.ESTIMATE,
    },
    { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData },
  );
  // What all of them have in common is on the page already.
  const columns = EVENT_COLUMNS.filter(
    ({ head }) =>
      !(head === 'Agent' && agent !== undefined) && !(head === 'Control' && control !== undefined),
  );
  return (
    <section className="latest-events">
      <h2>Latest events</h2>
      <QueryState query={query} what="events">
        {({ events, eventTotal, totalKind }) =>
          events.length === 0 ? (
            <p className="muted">No event is stored.</p>
          ) : (
            <MarkedEvents events={events}>
              <Table
                label="Latest events"
                columns={columns}
                rows={events}
                keyOf={({ controlExecutionId = '' }) => controlExecutionId}
              />
              <p>
                <Link href={eventsAddress({ agent, control })}>
                  All {totalText({ eventTotal, totalKind })} {eventTotal === 1n ? 'event' : 'events'}
                </Link>
              </p>
            </MarkedEvents>
          )
        }
      </QueryState>
    </section>
  );
}
