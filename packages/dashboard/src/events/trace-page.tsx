import { useQuery } from '@connectrpc/connect-query';
import { Link } from 'wouter';
import {
  type ControlExecutionEvent,
  ObservabilityService,
} from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { stageText } from '../controls/scope-text.js';
import { DecisionBadge } from '../shared/decision-badge.js';
import { Page } from '../shared/page.js';
import { Empty, QueryState } from '../shared/states.js';
import { TimeText } from '../shared/time-text.js';
import { useAddressFilter } from '../shared/use-address-filter.js';
import { UserText } from '../shared/user-text.js';
import { signOfEvent } from './event-columns.js';

const MAX_EVENTS = 1_000;

/** All recorded checks of one trace, in the order of their times. */
export default function TracePage() {
  const [parameters] = useAddressFilter();
  const traceId = parameters.get('id') ?? '';
  if (traceId === '') return <Empty title="The address names no trace" />;
  return <Trace traceId={traceId} />;
}

function Trace({ traceId }: { readonly traceId: string }) {
  const query = useQuery(ObservabilityService.method.queryEvents, {
    traceId,
    limit: MAX_EVENTS,
    includeBuffered: true,
  });
  return (
    <Page
      title="Trace"
      heading={
        <>
          Trace <UserText text={traceId} />
        </>
      }
    >
      <QueryState query={query} what="the trace">
        {({ events, eventTotal }) => {
          if (events.length === 0) return <Empty title="No event has this trace id" />;
          const inOrder = [...events].reverse();
          return (
            <>
              <p className="muted">
                {String(eventTotal)} recorded checks
                {eventTotal > BigInt(events.length) && `, of which the latest ${events.length} are shown`}.
              </p>
              <ol className="trace">
                {inOrder.map((event) => (
                  <Check key={event.controlExecutionId} event={event} />
                ))}
              </ol>
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

function Check({ event }: { readonly event: ControlExecutionEvent }) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Step', [event.stepType, event.stepName].filter((part) => part !== undefined).join(' ') || undefined],
    ['Stage', stageText(event.checkStage)],
    ['Evaluator', event.evaluatorName],
    ['Selected', event.selectorPath],
    ['Confidence', event.confidence?.toString()],
    ['Error', event.errorMessage],
    ['Span', event.spanId],
    ['Session', event.sessionId],
    ['Revision', event.revision?.toString()],
    ['Decision id', event.decisionId],
    ['Check id', event.controlExecutionId],
  ];
  const agentName = event.agentName ?? '';
  return (
    <li className="card">
      <div className="trace-head">
        <DecisionBadge sign={signOfEvent(event)} />
        <Link href={`/controls/${event.controlId}`}>
          <UserText text={event.controlName ?? ''} />
        </Link>
        <span className="muted">
          for{' '}
          <Link href={`/agents/${encodeURIComponent(agentName)}`}>
            <UserText text={agentName} />
          </Link>
        </span>
        <TimeText time={event.timestamp} isExact />
      </div>
      <dl className="facts">
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <UserText text={value} max={80} />
                </dd>
              </div>
            ),
        )}
      </dl>
    </li>
  );
}
