import { z } from 'zod';

/** What is said about a member that a schema does not have. */
export function unknownMember(schema: z.ZodType, path: readonly PropertyKey[], name: string): string {
  const known = membersOf(path.reduce<unknown>((at, step) => inner(at, step), schema));
  const [nearest] = known
    .map((one) => [distance(one, name.toLowerCase().replaceAll('-', '_')), one] as const)
    .sort(([left], [right]) => left - right);
  const hint =
    nearest !== undefined && nearest[0] <= Math.max(2, Math.floor(nearest[1].length / 3))
      ? `did you mean ${nearest[1]}?`
      : `known are ${known.join(', ')}`;
  return `is not known; ${hint}`;
}

/** The schema below what makes a value optional or gives it a default. */
function bare(schema: unknown): unknown {
  let at = schema;
  while (at instanceof z.ZodOptional || at instanceof z.ZodDefault || at instanceof z.ZodPrefault)
    at = at.unwrap();
  // Of a choice of forms, the one with members.
  return at instanceof z.ZodUnion ? at.options.map(bare).find((one) => one instanceof z.ZodObject) : at;
}

function inner(schema: unknown, step: PropertyKey): unknown {
  const at = bare(schema);
  if (at instanceof z.ZodArray) return at.element;
  return at instanceof z.ZodObject ? at.shape[String(step)] : undefined;
}

function membersOf(schema: unknown): string[] {
  const at = bare(schema);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

/** How many letters must be added, left out or replaced (Levenshtein). */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...left].entries()) {
    const next = [at + 1];
    for (let to = 1; to <= right.length; to += 1) {
      const replaced = (row[to - 1] ?? 0) + (letter === right[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
