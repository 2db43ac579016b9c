/**
 * The texts of an object or a list that a check searches: its compact JSON text, every string value and every
 * member name in it, at any depth, each verbatim.
 */
export interface SearchTexts {
  /** The compact JSON text. */
  readonly json: string;
  /** The string values, in the order of the data. */
  readonly values: readonly string[];
  /** The names of members, in the order of the data, duplicates included. */
  readonly names: readonly string[];
  /**
   * Values and names that are escaped in the JSON text, and other forms of them. All others occur verbatim in the JSON text, between
   * two quotes: a search without `^` and `$` that matches in one of them also matches in the JSON text,
   * because a quote is not a word character, like the end of a text.
   */
  readonly hidden: readonly string[];
}
