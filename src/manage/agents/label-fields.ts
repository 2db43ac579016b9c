import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { field, list, listOrNone, nullable, orElse, refuse, report } from '../../contract/input/fields.js';
import { type DemandedLabel, readLabel, type WantedLabel } from './agent-labels.js';

const label = field<WantedLabel>(
  (value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    const read = readLabel(value);
    return typeof read === 'string' ? refuse(sink, 'value_error', read, value) : read;
  },
  { type: 'string' },
);

/** Labels by which agents are filtered: NAME=VALUE each, or NAME for any value. */
export const labelFilter = (): z.ZodType<readonly WantedLabel[]> =>
  listOrNone(label, LIMITS.ListAgentsRequest.labels);

const demandedLabels = list(label, LIMITS.AgentLabels.labels).transform((labels, sink) => {
  const names = new Set<string>();
  for (const [index, { name, value }] of labels.entries()) {
    if (value === null) report(sink, 'value_error', `must be ${name}=VALUE`, name, [index]);
    if (names.has(name)) report(sink, 'value_error', `is the label ${name} again`, name, [index]);
    names.add(name);
  }
  return labels as DemandedLabel[];
});

/** Labels that agents must have: NAME=VALUE each, every name once. */
export const agentLabels = (): z.ZodType<{ readonly labels: readonly DemandedLabel[] } | undefined> =>
  nullable(z.object({ labels: orElse(demandedLabels, []) }));
