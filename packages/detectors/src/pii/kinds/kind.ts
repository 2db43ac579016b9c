/** A kind of number that is found by its shape and a check. */
export interface ShapedKind {
  readonly name: string;
  /** The region (ISO 3166-1 alpha-2) that issues it; absent for kinds of all regions. */
  readonly region?: string;
  /** What it is, for the documentation. */
  readonly title: string;
  /** Where its structure and check are defined. */
  readonly source: string;
  /**
   * How it is written, and the score of each way without anything around it that tells more. `D` is a digit and `L` a
   * letter; numbers stand for as many digits; a space, `-`, `.`, `/` and `+` stand for themselves.
   */
  readonly shapes: Readonly<Record<string, number>>;
  /** Whether a code of one of the shapes is one: its letters are upper case, and it has no separators. */
  readonly check: (code: string) => boolean;
  /** Lower-case words, or phrases of up to three words, near it that make it more likely. */
  readonly context: readonly string[];
}
