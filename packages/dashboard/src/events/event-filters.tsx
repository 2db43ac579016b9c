import { AgentField } from '../references/agent-field.js';
import { ControlIdField } from '../references/control-id-field.js';
import { Labelled, SelectField } from '../ui/fields/fields.js';
import { type FilterField, FilterFields } from '../ui/list/filter-fields.js';
import type { AddressFilter } from '../ui/page/use-address-filter.js';
import {
  ACTION_OPTIONS,
  CUSTOM_RANGE,
  ERROR_OPTIONS,
  KIND_OPTIONS,
  MATCH_OPTIONS,
  RANGE_OPTIONS,
  STAGE_OPTIONS,
} from './event-filter.js';

const RESULTS: readonly FilterField[] = [
  { name: 'action', label: 'Decision', options: ACTION_OPTIONS },
  { name: 'matched', label: 'Result', options: MATCH_OPTIONS },
  { name: 'error', label: 'Error', options: ERROR_OPTIONS },
  { name: 'stage', label: 'Stage', options: STAGE_OPTIONS },
];
const STEPS: readonly FilterField[] = [
  { name: 'type', label: 'Step type' },
  { name: 'step', label: 'Step name' },
  { name: 'trace', label: 'Trace' },
];
/** Filters that are seldom needed. */
const MORE: readonly FilterField[] = [
  { name: 'kind', label: 'Kind of step', options: KIND_OPTIONS },
  { name: 'session', label: 'Session' },
  { name: 'step_id', label: 'Step id' },
  { name: 'span', label: 'Span' },
  { name: 'decision_id', label: 'Decision id' },
  { name: 'check', label: 'Check id' },
  { name: 'min_revision', label: 'Revision from' },
  { name: 'max_revision', label: 'Revision to' },
];

interface EventFiltersProps {
  readonly filter: AddressFilter;
  /** False for events that come from now on. */
  readonly hasTimes?: boolean;
}

/** All filters of events that the service has. */
export function EventFilters({ filter, hasTimes = true }: EventFiltersProps) {
  const isMore = MORE.some(({ name }) => filter.parameters.has(name));
  return (
    <search>
      <div className="filters">
        {hasTimes && <SelectField label="Time" options={RANGE_OPTIONS} {...filter.field('range')} />}
        {hasTimes && filter.get('range') === CUSTOM_RANGE && (
          <>
            <TimeField label="From" {...filter.field('from')} />
            <TimeField label="To" {...filter.field('to')} />
          </>
        )}
        <FilterFields fields={RESULTS} filter={filter} />
        <AgentField {...filter.field('agent')} />
        <ControlIdField {...filter.field('control')} />
        <FilterFields fields={STEPS} filter={filter} />
      </div>
      <details className="more-filters" open={isMore || undefined}>
        <summary>More filters</summary>
        <div className="filters">
          <FilterFields fields={MORE} filter={filter} />
        </div>
      </details>
    </search>
  );
}

interface TimeFieldProps {
  readonly label: string;
  /** RFC 3339, or empty. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A time in the zone of the viewer. The address has it in UTC. */
function TimeField({ label, value, onChange }: TimeFieldProps) {
  return (
    <Labelled label={label}>
      {(id) => (
        <input
          id={id}
          type="datetime-local"
          step="1"
          defaultValue={localText(value)}
          onChange={(event) => {
            const time = new Date(event.target.value);
            onChange(Number.isNaN(time.getTime()) ? '' : time.toISOString());
          }}
        />
      )}
    </Labelled>
  );
}

/** The form that fields for times have: local, without a zone. */
function localText(value: string): string {
  const time = new Date(value);
  if (value === '' || Number.isNaN(time.getTime())) return '';
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
