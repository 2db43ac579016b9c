import type { PageAsked } from '../../contract/call/page.js';

/** A value by which controls can be filtered. */
export interface ControlFacet {
  readonly kind: 'step_type' | 'stage' | 'tag' | 'step_name' | 'decision';
  /** Any text at all. */
  readonly value: string;
}

/** Orders of a list of controls. */
export const CONTROL_ORDERS = ['name', 'updated', 'last_denied', 'agents'] as const;
export type ControlOrder = (typeof CONTROL_ORDERS)[number] | 'newest';

/** Filters of a control list. Null means no filter; all filters must match. The cursor is any integer. */
export interface ControlFilters extends PageAsked<number> {
  /** Part of the name, ignoring case. */
  readonly nameContains: string | null;
  readonly enabled: boolean | null;
  readonly templateBacked: boolean | null;
  /** Whether they are clones of other controls. */
  readonly cloned: boolean | null;
  /** Controls that name this step type, or none at all. */
  readonly stepType: string | null;
  /** Controls that name this stage, or none at all. */
  readonly stage: string | null;
  readonly execution: string | null;
  /** Controls that have exactly this tag. */
  readonly tag: string | null;
  /** Whether some agent has them. */
  readonly hasAgents: boolean | null;
  /** Controls with one of these; none for all. */
  readonly decisions: readonly string[];
  /** Controls that this agent has, linked or in its policies. */
  readonly agentName: string | null;
  /** Controls whose scope includes steps of this name. */
  readonly stepName: string | null;
  readonly orderBy: ControlOrder;
  readonly reverse: boolean;
}
