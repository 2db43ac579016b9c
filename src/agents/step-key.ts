/** What tells one step of an agent from another. */
export type StepKey = { type: string; name: string };

/** The key of a step as one text. */
export function stepKey({ type, name }: StepKey): string {
  // The length keeps ("a", "bc") and ("ab", "c") apart, whatever characters they hold.
  return `${type.length}:${type}${name}`;
}

/** Sorts steps by type, then name. */
export function compareSteps(a: StepKey, b: StepKey): number {
  return compareTexts(a.type, b.type) || compareTexts(a.name, b.name);
}

/** Sorts texts by their code units, the same in every locale. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
