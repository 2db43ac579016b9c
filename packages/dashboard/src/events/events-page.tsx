import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ObservabilityService, TotalKind } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty } from '../ui/states.js';
import { EVENT_COLUMNS } from './event-columns.js';
import { eventFilter } from './event-filter.js';
import { EventFilters } from './event-filters.js';
import { ExportButton } from './export-button.js';
import { totalText } from './total-text.js';
import './events.css';

const PAGE_SIZE = 100;

/** Search of the stored events. All filters are part of the address. */
export default function EventsPage() {
  const filter = useAddressFilter();
  const settled = useDebounced(filter.parameters.toString());
  // Ranges end at this time, so that pages that are loaded later belong to the first one.
  const [asOf, setAsOf] = useState(() => Date.now());
  const wanted = useMemo(() => eventFilter(new URLSearchParams(settled), asOf), [settled, asOf]);
  const query = useInfiniteQuery(
    ObservabilityService.method.queryEvents,
    { ...wanted, cursor: undefined, limit: PAGE_SIZE, includeBuffered: true, total: TotalKind.ESTIMATE },
    {
      pageParamKey: 'cursor',
      getNextPageParam: (last) => last.nextCursor,
      placeholderData: keepPreviousData,
    },
  );
  const refresh = (): void => {
    setAsOf(Date.now());
    void query.refetch();
  };
  return (
    <Page
      title="Events"
      actions={
        <button type="button" disabled={query.isFetching} onClick={refresh}>
          Refresh
        </button>
      }
    >
      <EventFilters filter={filter} />
      <ExportButton filter={wanted} />
      <List
        label="Events"
        what="events"
        query={query}
        columns={EVENT_COLUMNS}
        rowsOf={({ events }) => events}
        keyOf={({ controlExecutionId = '' }) => controlExecutionId}
        totalOf={totalText}
        empty={<NoEvents isFiltered={filter.parameters.size > 0} />}
      />
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
