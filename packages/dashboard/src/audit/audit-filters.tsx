import { SelectField, TextField } from '../ui/fields/fields.js';
import { TIME_RANGES } from '../ui/time-range.js';

const RANGES = [
  ['', 'any time'],
  ...TIME_RANGES.map(([range, text]) => [range, `last ${text}`] as const),
] as const;
const RESOURCES = [
  ['', 'any'],
  ...['agent', 'control', 'policy', 'database'].map((word) => [word, word] as const),
] as const;

interface AuditFiltersProps {
  readonly parameters: URLSearchParams;
  readonly onChange: (name: string, value: string) => void;
}

/** All filters of the audit log. */
export function AuditFilters({ parameters, onChange }: AuditFiltersProps) {
  const field = (name: string) => ({
    value: parameters.get(name) ?? '',
    onChange: (value: string) => onChange(name, value),
  });
  return (
    <search className="filters">
      <SelectField label="Time" options={RANGES} {...field('range')} />
      <TextField label="Actor" type="search" placeholder="kind, name or key" {...field('actor')} />
      <TextField label="Action" type="search" placeholder="control.create" {...field('action')} />
      <SelectField label="Resource" options={RESOURCES} {...field('resource')} />
      <TextField label="Resource id" type="search" {...field('id')} />
      <TextField label="Revision from" type="search" {...field('min_revision')} />
      <TextField label="Revision to" type="search" {...field('max_revision')} />
      <TextField label="Request id" type="search" {...field('request')} />
    </search>
  );
}
