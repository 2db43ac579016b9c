import { useId } from 'react';
import { AgentField } from '../pickers/agent-field.js';
import { ControlIdField } from '../pickers/control-id-field.js';
import { SelectField, TextField } from '../ui/fields/fields.js';
import {
  ACTION_OPTIONS,
  CUSTOM_RANGE,
  ERROR_OPTIONS,
  KIND_OPTIONS,
  MATCH_OPTIONS,
  RANGE_OPTIONS,
  STAGE_OPTIONS,
} from './event-filter.js';

/** Filters that are seldom needed: parameter of the address, label. */
const MORE_TEXTS = [
  ['session', 'Session'],
  ['step_id', 'Step id'],
  ['span', 'Span'],
  ['decision_id', 'Decision id'],
  ['check', 'Check id'],
  ['min_revision', 'Revision from'],
  ['max_revision', 'Revision to'],
] as const;

interface EventFiltersProps {
  readonly parameters: URLSearchParams;
  readonly onChange: (name: string, value: string) => void;
  /** False for events that come from now on. */
  readonly hasTimes?: boolean;
}

/** All filters of events that the service has. */
export function EventFilters({ parameters, onChange, hasTimes = true }: EventFiltersProps) {
  const field = (name: string) => ({
    value: parameters.get(name) ?? '',
    onChange: (value: string) => onChange(name, value),
  });
  const isMore = ['kind', ...MORE_TEXTS.map(([name]) => name)].some((name) => parameters.has(name));
  return (
    <search>
      <div className="filters">
        {hasTimes && <SelectField label="Time" options={RANGE_OPTIONS} {...field('range')} />}
        {hasTimes && parameters.get('range') === CUSTOM_RANGE && (
          <>
            <TimeField label="From" {...field('from')} />
            <TimeField label="To" {...field('to')} />
          </>
        )}
        <SelectField label="Decision" options={ACTION_OPTIONS} {...field('action')} />
        <SelectField label="Result" options={MATCH_OPTIONS} {...field('matched')} />
        <SelectField label="Error" options={ERROR_OPTIONS} {...field('error')} />
        <SelectField label="Stage" options={STAGE_OPTIONS} {...field('stage')} />
        <AgentField {...field('agent')} />
        <ControlIdField {...field('control')} />
        <TextField label="Step type" type="search" {...field('type')} />
        <TextField label="Step name" type="search" {...field('step')} />
        <TextField label="Trace" type="search" {...field('trace')} />
      </div>
      <details className="more-filters" open={isMore || undefined}>
        <summary>More filters</summary>
        <div className="filters">
          <SelectField label="Kind of step" options={KIND_OPTIONS} {...field('kind')} />
          {MORE_TEXTS.map(([name, label]) => (
            <TextField key={name} label={label} type="search" {...field(name)} />
          ))}
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
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
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
    </div>
  );
}

/** The form that fields for times have: local, without a zone. */
function localText(value: string): string {
  const time = new Date(value);
  if (value === '' || Number.isNaN(time.getTime())) return '';
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
