/** What the effective controls of an agent are derived from. Ids are ascending. */
export interface ControlLinks {
  readonly policyIds: readonly number[];
  /** Controls that are linked to the agent itself, or bound to its target. */
  readonly controlIds: readonly number[];
}

/** The same links with further controls, as linked ones. */
export function withControls(links: ControlLinks, more: readonly number[]): ControlLinks {
  const { policyIds, controlIds } = links;
  if (more.every((id) => controlIds.includes(id))) return links;
  return {
    policyIds,
    controlIds: [...new Set([...controlIds, ...more])].sort((left, right) => left - right),
  };
}

/** Identifies links: equal for equal links. */
export function linksKey({ policyIds, controlIds }: ControlLinks): string {
  return `${policyIds.join()};${controlIds.join()}`;
}
