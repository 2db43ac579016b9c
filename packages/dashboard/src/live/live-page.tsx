import { useContext, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { EVENT_COLUMNS } from '../events/event-columns.js';
import { eventFilter, eventProblem } from '../events/event-filter.js';
import { EVENT_MEMBERS } from '../events/event-members.js';
import '../events/events.css';
import { numberOf } from '../ui/numbers.js';
import { Page } from '../ui/page/page.js';
import { QueryBar } from '../ui/query-bar/query-bar.js';
import { useQueryTerms } from '../ui/query-bar/use-query-terms.js';
import { fixedTimes, rangeProblem } from '../ui/range/range.js';
import { RangeButton } from '../ui/range/range-picker.js';
import { rangeText } from '../ui/range/range-text.js';
import { useRange } from '../ui/range/use-range.js';
import { RefusalNote } from '../ui/refusal-note.js';
import { useShortcut } from '../ui/shortcuts/shortcuts.js';
import { Empty, Loading } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import './live.css';
import type { TailRow } from './tail-memory.js';
import { type EventTail, useEventTail } from './use-event-tail.js';

const STATE_TEXTS: Readonly<Record<EventTail['state'], string>> = {
  connecting: 'Connecting…',
  live: 'Live.',
  reconnecting: 'Reconnecting, nothing is lost.',
  refused: 'Refused: this key may not see these events.',
  paused: 'Paused; events since then follow when the page resumes.',
};

const COLUMNS: Columns<TailRow> = EVENT_COLUMNS.map(({ cell, ...column }) => ({
  ...column,
  cell: (row) => 'event' in row && cell(row.event),
}));

/** The latest events, then others as they are stored. The range says from when on. */
export default function LivePage() {
  const query = useQueryTerms(EVENT_MEMBERS);
  const [parameters] = useSearchParams();
  const [range, setRange] = useRange('', { isCarried: false });
  const problem = eventProblem(query.terms);
  const wrongRange =
    fixedTimes(range)?.toMs === undefined
      ? rangeProblem(parameters)
      : 'Live has no end: choose a range that ends now, or only a time from which it begins.';
  const isReady = query.isReady && problem === undefined && wrongRange === undefined;
  const { terms } = query;
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isHeld = isHovered || isFocused;
  const name = JSON.stringify([range, terms.map(({ member, value }) => [member.name, value])]);
  const tail = useEventTail(isReady ? { name, filter: eventFilter(terms, range) } : undefined, isHeld);
  const { rows, state } = tail;
  const isPaused = state === 'paused';
  const refusalNote = useContext(RefusalNote);
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
      <div className="filter-line">
        <QueryBar label="Filter events" query={query} problem={problem} />
        <RangeButton range={range} onChange={setRange} hasAnyTime />
      </div>
      {wrongRange !== undefined && (
        <p className="problem" role="alert">
          {wrongRange}
        </p>
      )}
      <div className="live-state">
        <p role="status" data-state={state}>
          <span className={`dot ${state}`} aria-hidden="true" />
          {STATE_TEXTS[state]}
        </p>
        <p className="muted">
          {tail.received > 0 && `${numberOf(tail.received, 'event')} received. `}
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
      {state === 'refused' && refusalNote}
      {rows.length === 0 && !tail.isLoaded && isReady && state !== 'refused' && !isPaused && (
        <Loading what="the latest events" />
      )}
      {rows.length === 0 && tail.isLoaded && (
        <Empty title="Waiting for events">
          <p>
            No stored event passes the filters{range !== '' && ` since the beginning of: ${rangeText(range)}`}
            . Each match of a control appears here as soon as it is stored.
          </p>
        </Empty>
      )}
      {rows.length > 0 && isReady && (
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
