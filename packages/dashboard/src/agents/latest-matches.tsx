import { useQuery } from '@connectrpc/connect-query';
import { ObservabilityService, TotalKind } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { eventsAddress } from '../activity/events-address.js';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { signOfEvent } from '../events/event-columns.js';
import { RecordedNote } from '../outcomes/recorded-note.js';
import { QueryState } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';

const SHOWN = 6;
const REFRESH_MS = 5_000;

/** The latest matches of the controls of an agent, whenever they were. Each leads to its trace. */
export function LatestMatches({ agentName }: { readonly agentName: string }) {
  const query = useQuery(
    ObservabilityService.method.queryEvents,
    { agentName, matched: true, limit: SHOWN, includeBuffered: true, total: TotalKind.NONE },
    { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData },
  );
  return (
    <section className="card" aria-label="Latest matches">
      <h2>Latest matches</h2>
      <QueryState query={query} what="matches">
        {({ events }) =>
          events.length === 0 ? (
            <>
              <p className="muted">No match is stored.</p>
              <RecordedNote isOfList />
            </>
          ) : (
            <>
              <ul className="latest-matches">
                {events.map((event) => (
                  <li key={event.controlExecutionId}>
                    <Link href={`/traces?id=${encodeURIComponent(event.traceId ?? '')}`}>
                      <DecisionBadge sign={signOfEvent(event)} />
                      <span>
                        {event.stepName !== undefined && (
                          <>
                            <UserText text={event.stepName} max={24} /> ·{' '}
                          </>
                        )}
                        <UserText text={event.controlName ?? ''} max={32} />
                      </span>
                      <span className="muted">
                        <TimeText time={event.timestamp} />
                      </span>
                    </Link>
                  </li>
                ))}
              </ul>
              <Link href={eventsAddress({ agent: agentName })}>All events of the agent</Link>
            </>
          )
        }
      </QueryState>
    </section>
  );
}
