import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { ObservabilityService } from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { LoadMore, nextPageOf } from '../shared/load-more.js';
import { Page } from '../shared/page.js';
import { SelectField, TextField } from '../shared/select-field.js';
import { Empty, QueryState } from '../shared/states.js';
import { Table } from '../shared/table.js';
import { useAddressFilter } from '../shared/use-address-filter.js';
import { useDebounced } from '../shared/use-debounced.js';
import { EVENT_COLUMNS, EventRow } from './event-columns.js';
import { ACTION_OPTIONS, eventFilter, MATCH_OPTIONS, SINCE_OPTIONS, STAGE_OPTIONS } from './event-filter.js';

const PAGE_SIZE = 100;

/** Search of the stored events. All filters are part of the address. */
export default function EventsPage() {
  const [parameters, setFilter] = useAddressFilter();
  const settled = useDebounced(parameters.toString());
  const query = useInfiniteQuery(
    ObservabilityService.method.queryEvents,
    {
      ...eventFilter(new URLSearchParams(settled)),
      cursor: undefined,
      limit: PAGE_SIZE,
      includeBuffered: true,
    },
    {
      pageParamKey: 'cursor',
      getNextPageParam: (last) => last.nextCursor,
      placeholderData: keepPreviousData,
    },
  );
  const text = (name: string) => ({
    value: parameters.get(name) ?? '',
    onChange: (value: string) => setFilter(name, value),
  });
  return (
    <Page
      title="Events"
      actions={
        <button type="button" disabled={query.isFetching} onClick={() => query.refetch()}>
          Refresh
        </button>
      }
    >
      <search className="filters">
        <SelectField label="Decision" options={ACTION_OPTIONS} {...text('action')} />
        <SelectField label="Result" options={MATCH_OPTIONS} {...text('matched')} />
        <SelectField label="Stage" options={STAGE_OPTIONS} {...text('stage')} />
        <SelectField label="Since" options={SINCE_OPTIONS} {...text('since')} />
        <TextField label="Agent" type="search" {...text('agent')} />
        <TextField label="Control id" type="search" {...text('control')} />
        <TextField label="Step name" type="search" {...text('step')} />
        <TextField label="Trace" type="search" {...text('trace')} />
        <TextField label="Session" type="search" {...text('session')} />
      </search>
      <QueryState query={query} what="events">
        {({ pages }) => {
          const events = pages.flatMap((page) => page.events);
          if (events.length === 0) return <NoEvents isFiltered={parameters.size > 0} />;
          return (
            <>
              <Table label="Events" columns={EVENT_COLUMNS} onEnd={nextPageOf(query)}>
                {events.map((event) => (
                  <EventRow key={event.controlExecutionId} event={event} />
                ))}
              </Table>
              <LoadMore {...query} shown={events.length} total={Number(pages[0]?.eventTotal ?? 0n)} />
            </>
          );
        }}
      </QueryState>
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
