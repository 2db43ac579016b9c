import { MAX_PROBLEMS } from './limits.js';
import type { ExpressionProblem, ExpressionProblemCode } from './types.js';

/** A part of the text of an expression, in UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** An expression that cannot be compiled, with all its problems. */
export class ExpressionError extends Error {
  readonly problems: readonly ExpressionProblem[];

  constructor(problems: readonly ExpressionProblem[]) {
    super(problems.map(({ start, message }) => `at character ${start + 1}: ${message}`).join('; '));
    this.name = 'ExpressionError';
    this.problems = problems;
  }
}

/** Collects problems, each place once, at most `MAX_PROBLEMS`. */
export class ProblemList {
  readonly problems: ExpressionProblem[] = [];

  add(
    code: ExpressionProblemCode,
    { start, end }: Span,
    message: string,
    suggestion: string | null = null,
  ): void {
    if (this.problems.length >= MAX_PROBLEMS) return;
    if (this.problems.some((one) => one.start === start && one.end === end && one.code === code)) return;
    this.problems.push({ code, start, end, message, suggestion });
  }
}

/** Most edits between a name and the one that is suggested for it. */
const MAX_EDITS = 2;

/** The name that was most likely meant; null if none is near. */
export function nearest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Math.min(MAX_EDITS, Math.floor(name.length / 2)) + 1;
  for (const candidate of known) {
    const edits = candidate.toLowerCase() === name.toLowerCase() ? 0.5 : editDistance(name, candidate, least);
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

/** Levenshtein distance with swaps of neighbours; `most` if it is at least that. */
function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) >= most) return most;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      let edits = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) edits = Math.min(edits, (before[column - 2] ?? 0) + 1);
      next.push(edits);
    }
    before = last;
    last = next;
  }
  return Math.min(last[other.length] ?? most, most);
}
