import { EVENT_COLUMNS, EventRow } from '../events/event-columns.js';
import { ACTION_OPTIONS, MATCH_OPTIONS } from '../events/event-filter.js';
import { Page } from '../shared/page.js';
import { SelectField, TextField } from '../shared/select-field.js';
import { Empty } from '../shared/states.js';
import { Table } from '../shared/table.js';
import { useAddressFilter } from '../shared/use-address-filter.js';
import { useDebounced } from '../shared/use-debounced.js';
import { type EventTail, useEventTail } from './use-event-tail.js';

const STATE_TEXTS: Readonly<Record<EventTail['state'], string>> = {
  connecting: 'Connecting…',
  live: 'Live',
  reconnecting: 'Reconnecting; nothing is lost.',
  paused: 'Paused; events since then follow when the page resumes.',
};

/** Events as they are stored. */
export default function LivePage() {
  const [parameters, setFilter] = useAddressFilter();
  const tail = useEventTail(useDebounced(parameters.toString()));
  const field = (name: string) => ({
    value: parameters.get(name) ?? '',
    onChange: (value: string) => setFilter(name, value),
  });
  const isPaused = tail.state === 'paused';
  return (
    <Page
      title="Live"
      actions={
        <button type="button" onClick={isPaused ? tail.resume : tail.pause}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      }
    >
      <search className="filters">
        <SelectField label="Decision" options={ACTION_OPTIONS} {...field('action')} />
        <SelectField label="Result" options={MATCH_OPTIONS} {...field('matched')} />
        <TextField label="Agent" type="search" {...field('agent')} />
      </search>
      <p className="muted" role="status" data-state={tail.state}>
        {STATE_TEXTS[tail.state]} {tail.received > 0 && `${tail.received.toLocaleString()} events received.`}
      </p>
      {tail.notice !== null && (
        <p className="notice" role="status">
          {tail.notice}
        </p>
      )}
      {tail.events.length === 0 ? (
        <Empty title="Waiting for events">
          <p>Each match of a control appears here as soon as it is stored.</p>
        </Empty>
      ) : (
        <Table label="Latest events" columns={EVENT_COLUMNS}>
          {tail.events.map((event) => (
            <EventRow key={event.controlExecutionId} event={event} isExact />
          ))}
        </Table>
      )}
    </Page>
  );
}
