import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ObservabilityService, TotalKind } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { QueryBar } from '../ui/query-bar/query-bar.js';
import { useQueryTerms } from '../ui/query-bar/use-query-terms.js';
import { rangeProblem } from '../ui/range/range.js';
import { RangePicker } from '../ui/range/range-picker.js';
import { useRange } from '../ui/range/use-range.js';
import { SavedViews } from '../ui/saved-views/saved-views.js';
import { Empty } from '../ui/states.js';
import { EVENT_COLUMNS } from './event-columns.js';
import { eventFilter, eventProblem } from './event-filter.js';
import { EVENT_MEMBERS } from './event-members.js';
import { ExportButton } from './export-button.js';
import { MarkedEvents } from './marked-events.js';
import { totalText } from './total-text.js';
import './events.css';

const PAGE_SIZE = 100;

/** Search of the stored events. The query and the range are part of the address. */
export default function EventsPage() {
  const query = useQueryTerms(EVENT_MEMBERS);
  const [range] = useRange('');
  const [parameters] = useSearchParams();
  const problem = eventProblem(query.terms);
  const isReady = query.isReady && problem === undefined && rangeProblem(parameters) === undefined;
  // Ranges end at this time, so that pages that are loaded later belong to the first one.
  const [asOf, setAsOf] = useState(() => Date.now());
  const { terms } = query;
  const wanted = useMemo(
    () => (isReady ? eventFilter(terms, range, asOf) : {}),
    [isReady, terms, range, asOf],
  );
  const list = useInfiniteQuery(
    ObservabilityService.method.queryEvents,
    { ...wanted, cursor: undefined, limit: PAGE_SIZE, includeBuffered: true, total: TotalKind.ESTIMATE },
    {
      pageParamKey: 'cursor',
      getNextPageParam: (last) => last.nextCursor,
      placeholderData: keepPreviousData,
      enabled: isReady,
    },
  );
  const refresh = (): void => {
    setAsOf(Date.now());
    void list.refetch();
  };
  return (
    <Page
      title="Events"
      actions={
        <button type="button" disabled={!isReady || list.isFetching} onClick={refresh}>
          Refresh
        </button>
      }
    >
      <div className="filter-line">
        <QueryBar label="Filter events" query={query} problem={problem} />
        <RangePicker fallback="" />
        <SavedViews page="/events" />
      </div>
      {isReady && (
        <MarkedEvents events={list.data?.pages.flatMap(({ events }) => events) ?? []}>
          <List
            label="Events"
            what="events"
            query={list}
            columns={EVENT_COLUMNS}
            rowsOf={({ events }) => events}
            keyOf={({ controlExecutionId = '' }) => controlExecutionId}
            totalOf={totalText}
            empty={<NoEvents isFiltered={terms.length > 0 || range !== ''} />}
          />
        </MarkedEvents>
      )}
      {isReady && <ExportButton filter={wanted} />}
    </Page>
  );
}

function NoEvents({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No event matches the filters" />;
  return (
    <Empty title="No events yet">
      <p>
        The service records an event when a control matches a step or cannot be evaluated. Non-matches are
        recorded with <code>SERVICE_OBSERVABILITY_RECORD=all</code>.
      </p>
    </Empty>
  );
}
