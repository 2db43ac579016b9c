import type { Count } from './count.js';
import type { EventScope } from './event-keys.js';
import type { TimeWindow } from './time-range.js';

/** Counts of events. */
export interface Sums {
  readonly executions: Count;
  readonly matches: Count;
  readonly nonMatches: Count;
  readonly errors: Count;
  readonly denies: Count;
  readonly steers: Count;
  readonly observes: Count;
  readonly confidenceSum: number;
  /** Events that have a duration. */
  readonly durations: Count;
  /** In milliseconds. */
  readonly durationSum: number;
}

/** Sums of one control under one name. */
export interface NamedSums extends Sums {
  readonly controlId: number;
  readonly controlName: string;
}

/** Sums of one control of an agent under one name. */
export interface ControlSums extends NamedSums {
  readonly agentName: string;
}

/** Which events to count, and how many agents and controls to list. */
export interface StatisticsQuery {
  /** Whose events; those of `default` if absent. */
  readonly namespace?: EventScope;
  /** Name of an agent in the namespace; null for all. */
  readonly agentName: string | null;
  /** Null for all controls. */
  readonly controlId: number | null;
  readonly window: TimeWindow;
  readonly byBucket: boolean;
  /** Number of agents with most executions; 0 for none. */
  readonly agents: number;
  /** Number of controls of agents with most executions. */
  readonly controls: number;
  /** Number of controls with most executions over all agents; 0 for none. */
  readonly topControls: number;
  /** Whether these are the ones with most matches and errors instead. */
  readonly topByMatches?: boolean;
}

/** Figures of one consistent view, so that they agree with each other. */
export interface Statistics {
  /** By bucket; null for events in none. Buckets without an entry are empty. */
  readonly buckets: ReadonlyMap<number | null, Sums>;
  /** Most executions first, then by name. */
  readonly agents: readonly (Sums & { readonly agentName: string })[];
  /** Most executions first, then by agent, id and name. */
  readonly controls: readonly ControlSums[];
  /** The same over all agents. */
  readonly topControls: readonly NamedSums[];
}

export interface StatisticsStore {
  count(query: StatisticsQuery): Promise<Statistics>;
}
