/** The events that a number counts. */
export interface EventsOf {
  readonly range?: string;
  readonly from?: string;
  readonly to?: string;
  readonly agent?: string | undefined;
  readonly control?: number | undefined;
  readonly action?: 'deny' | 'steer' | 'observe';
  readonly errors?: boolean;
}

/** Address of the page with the events that a number counts. */
export function eventsAddress({ range, from, to, agent, control, action, errors }: EventsOf): string {
  const query = new URLSearchParams();
  if (agent !== undefined) query.set('agent', agent);
  if (control !== undefined) query.set('control', String(control));
  if (action !== undefined) {
    query.set('action', action);
    query.set('matched', 'true');
  }
  if (errors === true) query.set('error', 'true');
  if (from !== undefined && to !== undefined) {
    query.set('range', 'custom');
    query.set('from', from);
    query.set('to', to);
  } else if (range !== undefined) query.set('range', range);
  return `/events?${query}`;
}
