/** Something about a draft that is wrong, or that has less effect than it appears to have. */
export interface DraftProblem {
  /** Path of the member, for example `data.condition.and[0].evaluator.pattern` or `name`. */
  readonly field: string;
  readonly message: string;
  /** An error keeps the draft from being saved, a warning does not. */
  readonly severity: 'error' | 'warning';
  /** The rule of lint that says so, which has a section in docs/lint.md; absent for others. */
  readonly rule?: string;
}

/** A problem of a value below a form, with a path relative to that value. */
export interface RelativeProblem {
  readonly path: string;
  readonly message: string;
}
