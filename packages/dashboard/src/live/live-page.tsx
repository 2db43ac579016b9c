import { useState } from 'react';
import { Link } from 'wouter';
import { eventColumns } from '../events/event-columns.js';
import { EventFilters } from '../events/event-filters.js';
import '../events/events.css';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { useShortcut } from '../ui/shortcuts/shortcuts.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import './live.css';
import { type EventTail, type TailRow, useEventTail } from './use-event-tail.js';

const STATE_TEXTS: Readonly<Record<EventTail['state'], string>> = {
  connecting: 'Connecting…',
  live: 'Live.',
  reconnecting: 'Reconnecting, nothing is lost.',
  paused: 'Paused; events since then follow when the page resumes.',
};

const COLUMNS: Columns<TailRow> = eventColumns({ isExact: true }).map(({ cell, ...column }) => ({
  ...column,
  cell: (row) => 'event' in row && cell(row.event),
}));

/** Events as they are stored. */
export default function LivePage() {
  const filter = useAddressFilter();
  const { parameters } = filter;
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isHeld = isHovered || isFocused;
  const tail = useEventTail(useDebounced(parameters.toString()), isHeld);
  const { rows, state } = tail;
  const isPaused = state === 'paused';
  useShortcut(' ', 'Pause or resume the live events', tail.toggle);
  return (
    <Page
      title="Live"
      actions={
        <button type="button" onClick={tail.toggle}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      }
    >
      <EventFilters filter={filter} hasTimes={false} />
      <div className="live-state">
        <p role="status" data-state={state}>
          <span className={`dot ${state}`} aria-hidden="true" />
          {STATE_TEXTS[state]}
        </p>
        <p className="muted">
          {tail.received > 0 && `${tail.received.toLocaleString()} events received. `}
          {isHeld && !isPaused && `Held while you read${tail.waiting > 0 ? `: ${tail.waiting} new` : ''}.`}
        </p>
      </div>
      {tail.notice !== null && (
        <p className="notice live-notice" role="status">
          {tail.notice}
          <button type="button" onClick={tail.dismiss}>
            Dismiss
          </button>
        </p>
      )}
      {rows.length === 0 ? (
        <Empty title="Waiting for events">
          <p>Each match of a control appears here as soon as it is stored.</p>
          <p>
            Those of the past are under <Link href={`/events?${parameters}`}>Events</Link>.
          </p>
        </Empty>
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: the pointer and the focus only hold the rows still
        <div
          className="live-rows"
          onPointerEnter={() => setHovered(true)}
          onPointerLeave={() => setHovered(false)}
          onFocus={({ target }) => setFocused(target.closest('tbody') !== null)}
          onBlur={() => setFocused(false)}
        >
          <Table
            label="Latest events"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ key }) => key}
            rowClass={(row) => ('skipped' in row ? 'skipped' : undefined)}
            // Stands for events that arrived faster than rows are drawn.
            wideCell={(row) =>
              'skipped' in row ? (
                <Link href={`/events?${parameters}`}>+{row.skipped.toLocaleString()} more</Link>
              ) : undefined
            }
          />
        </div>
      )}
    </Page>
  );
}
