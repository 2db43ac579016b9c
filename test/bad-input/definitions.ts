/** A check that is valid and matches nothing in these tests. */
export const LEAF = {
  selector: { path: 'input' },
  evaluator: { name: 'regex', config: { pattern: 'never-there' } },
};

/** A valid definition. */
export const DEFINITION = { condition: LEAF, execution: 'server', action: { decision: 'deny' } };

/** A valid definition with another condition. */
export function conditioned(condition: unknown): object {
  return { ...DEFINITION, condition };
}

/** A definition with one check of an evaluator. */
export function checking(name: unknown, config: unknown): object {
  return conditioned({ selector: { path: 'input' }, evaluator: { name, config } });
}

/** JSON text of a definition whose condition is `levels` deep. */
export function deepCondition(levels: number): string {
  const nested = `${'{"not":'.repeat(levels - 1)}${JSON.stringify(LEAF)}${'}'.repeat(levels - 1)}`;
  return `{"condition":${nested},"execution":"server","action":{"decision":"deny"}}`;
}
