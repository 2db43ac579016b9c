/** What the effective controls of an agent are derived from. Ids are ascending. */
export interface ControlLinks {
  readonly policyIds: readonly number[];
  /** Controls that are linked to the agent itself. */
  readonly controlIds: readonly number[];
}

/** Identifies links: equal for equal links. */
export function linksKey({ policyIds, controlIds }: ControlLinks): string {
  return `${policyIds.join()};${controlIds.join()}`;
}
