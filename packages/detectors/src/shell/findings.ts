import type { TextFinding } from '../detector/finding.js';
import type { Forbidden } from './config.js';
import type { Rules } from './rules.js';

/** A range of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Positions in a text that is part of another: shifted, or all at the part, when escapes make the two differ. */
export interface Place {
  startOf(position: number): number;
  endOf(position: number): number;
}

export const WHOLE_TEXT: Place = { startOf: (position) => position, endOf: (position) => position };

export const shiftedBy = (outer: Place, offset: number): Place => ({
  startOf: (position) => outer.startOf(position + offset),
  endOf: (position) => outer.endOf(position + offset),
});

export function fixedAt(outer: Place, { start, end }: Span): Place {
  const [first, last] = [outer.startOf(start), outer.endOf(end)];
  return { startOf: () => first, endOf: () => last };
}

export type Found = (finding: TextFinding) => void;

/** What only a text that certainly runs is told of. */
const OF_CERTAIN_TEXTS =
  /^(?:unknown_program|unreadable|program_not_allowed|substitution|background|redirect_outside)$/;

/** How certainly a text runs: 1, or less for one that may run; of those only what is denied or forbidden is told. */
export type Certainty = number;

/** Reports findings in one text of a shell, at their places in the checked text. */
export class Findings {
  /** Kinds of the findings in the current command. */
  readonly #kinds = new Set<string>();
  /** Begin of the last finding that is certain. */
  #lastAt = -1;

  constructor(
    private readonly rules: Rules,
    private readonly place: Place,
    private readonly found: Found,
    private readonly certainty: Certainty,
  ) {}

  add(kind: string, { start, end }: Span, score = 1): void {
    if (this.certainty < 1 && OF_CERTAIN_TEXTS.test(kind)) return;
    this.#kinds.add(kind);
    const least = Math.min(score, this.certainty);
    if (least === 1) this.#lastAt = start;
    this.found({ kind, start: this.place.startOf(start), end: this.place.endOf(end), score: least });
  }

  /** Begins another command. */
  next(): void {
    if (this.#kinds.size > 0) this.#kinds.clear();
  }

  /** Passes what a text that may run contains, unless the current command has that kind for certain. */
  guessed(): Found {
    return (finding) => {
      if (!this.#kinds.has(finding.kind)) this.found(finding);
    };
  }

  /** What is a finding only if it is forbidden. */
  forbidden(kind: Forbidden, span: Span, score = 1): void {
    if (score > 0 && this.rules.forbids(kind)) this.add(kind, span, score);
  }

  /** A program that cannot be told. */
  unknown(span: Span): void {
    if (this.rules.unknownScore > 0) this.add('unknown_program', span, this.rules.unknownScore);
  }

  /** What is outside the subset that is understood: it matters where only listed programs may run. */
  outside(span: Span): void {
    if (!this.rules.isStrict) return;
    // What is found in a substitution says enough about the word that has it.
    if (this.#lastAt >= span.start && this.#lastAt < span.end) return;
    this.unknown(span);
  }
}
