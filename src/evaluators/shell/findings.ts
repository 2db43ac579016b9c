import type { TextFinding } from '../detectors/finding.js';
import type { Forbidden } from './config.js';
import type { Place } from './places.js';
import type { Rules } from './rules.js';

export type Found = (finding: TextFinding) => void;

/** Reports findings in one text of a shell, at their places in the checked text. */
export class Findings {
  constructor(
    private readonly rules: Rules,
    private readonly place: Place,
    private readonly found: Found,
  ) {}

  add(kind: string, start: number, end: number, score: number): void {
    this.found({ kind, start: this.place.startOf(start), end: this.place.endOf(end), score });
  }

  /** What is a finding only if it is forbidden. */
  forbidden(kind: Forbidden, start: number, end: number, score = 1): void {
    if (score > 0 && this.rules.forbids(kind)) this.add(kind, start, end, score);
  }

  /** A program that cannot be told. */
  unknown({ start, end }: { readonly start: number; readonly end: number }): void {
    if (this.rules.unknownScore > 0) this.add('unknown_program', start, end, this.rules.unknownScore);
  }
}
