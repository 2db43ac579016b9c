import type { FilterField } from '../ui/list/filter-fields.js';
import { TIME_RANGES } from '../ui/time-range.js';

const RESOURCES = ['agent', 'control', 'policy', 'database'];

/** All filters of the audit log. */
export const AUDIT_FILTERS: readonly FilterField[] = [
  {
    name: 'range',
    label: 'Time',
    options: [['', 'any time'], ...TIME_RANGES.map(([range, text]) => [range, `last ${text}`] as const)],
  },
  { name: 'actor', label: 'Actor', placeholder: 'kind, name or key' },
  { name: 'action', label: 'Action', placeholder: 'control.create' },
  {
    name: 'resource',
    label: 'Resource',
    options: [['', 'any'], ...RESOURCES.map((word) => [word, word] as const)],
  },
  { name: 'id', label: 'Resource id' },
  { name: 'min_revision', label: 'Revision from' },
  { name: 'max_revision', label: 'Revision to' },
  { name: 'request', label: 'Request id' },
];
