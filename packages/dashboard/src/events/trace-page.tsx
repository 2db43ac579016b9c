import { useQuery } from '@connectrpc/connect-query';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { numberOf } from '../ui/numbers.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { evaluationsOf } from './evaluations.js';
import { traceTitle } from './event-title.js';
import { MarkedEvents } from './marked-events.js';
import { RecordedEvaluation } from './recorded-evaluation.js';
import './events.css';

const MAX_EVENTS = 1_000;
/** Definitions of deciding checks are shown at once if a trace has at most this many evaluations. */
const MAX_OPEN = 5;
const MAX_TITLE = 120;

/** All recorded checks of one trace, in the order of their times: why a step was denied. */
export default function TracePage() {
  const { get } = useAddressFilter();
  const traceId = get('id');
  if (traceId === '') {
    return (
      <Empty title="The address names no trace">
        <p>
          A trace is the sequence of steps with the same trace id. The <Link href="/events">events</Link> lead
          to their traces.
        </p>
      </Empty>
    );
  }
  return <Trace key={traceId} traceId={traceId} agentName={get('agent')} />;
}

interface TraceProps {
  readonly traceId: string;
  /** The only agent whose checks are shown; blank for all. */
  readonly agentName: string;
}

function Trace({ traceId, agentName }: TraceProps) {
  const query = useQuery(ObservabilityService.method.queryEvents, {
    traceId,
    ...(agentName === '' ? {} : { agentName }),
    limit: MAX_EVENTS,
    includeBuffered: true,
  });
  const [first, ...others] = [...(query.data?.events ?? [])].reverse();
  const title = first === undefined ? 'Trace' : traceTitle([first, ...others]);
  return (
    <Page
      title={title}
      heading={<UserText text={title} max={MAX_TITLE} />}
      actions={<Link href={`/events?trace=${encodeURIComponent(traceId)}`}>Events of this trace</Link>}
    >
      <p className="muted">
        Trace <UserText text={traceId} />
      </p>
      <QueryState query={query} what="the trace">
        {({ events, eventTotal }) => {
          if (events.length === 0) return <Empty title="No event has this trace id" />;
          const evaluations = evaluationsOf([...events].reverse());
          return (
            <MarkedEvents events={events}>
              <p className="muted">
                {numberOf(Number(eventTotal), 'recorded check')} of {numberOf(evaluations.length, 'step')}
                {eventTotal > BigInt(events.length) &&
                  `, of which the latest ${events.length.toLocaleString()} checks are shown`}
                . Checks without a match are recorded only with <code>SERVICE_OBSERVABILITY_RECORD=all</code>.
                Events hold no content of steps: to try a step again, paste its input there.
              </p>
              {evaluations.map(({ key, checks }) => (
                <RecordedEvaluation key={key} checks={checks} isOpen={evaluations.length <= MAX_OPEN} />
              ))}
            </MarkedEvents>
          );
        }}
      </QueryState>
    </Page>
  );
}
