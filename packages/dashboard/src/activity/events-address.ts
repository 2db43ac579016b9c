import { fixedRange, type Range, rangeParameters } from '../ui/range/range.js';

/** Outcomes of checks, by the decision of the control that matched. */
const OUTCOMES = { deny: 'denied', steer: 'steered', observe: 'observed' } as const;

/** The events that a number counts. */
export interface EventsOf {
  readonly range?: Range;
  readonly from?: string;
  readonly to?: string;
  readonly agent?: string | undefined;
  readonly control?: number | undefined;
  /** Only matches of controls with this decision. */
  readonly action?: 'deny' | 'steer' | 'observe';
  readonly errors?: boolean;
}

/** Address of the page with the events that a number counts. */
export function eventsAddress({ range = '', from, to, agent, control, action, errors }: EventsOf): string {
  const query = new URLSearchParams();
  if (agent !== undefined) query.set('agent', agent);
  if (control !== undefined) query.set('control', String(control));
  if (errors === true) query.set('outcome', 'error');
  else if (action !== undefined) query.set('outcome', OUTCOMES[action]);
  const times = from !== undefined && to !== undefined ? fixedRange(Date.parse(from), Date.parse(to)) : range;
  for (const [name, value] of Object.entries(rangeParameters(times))) query.set(name, value);
  return `/events?${query}`;
}
