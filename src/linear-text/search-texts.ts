/**
 * The texts of an object or a list in which a check searches: its compact JSON text, every string value in it and
 * every member name in it, at any depth, each as it is.
 */
export interface SearchTexts {
  /** The compact JSON text. */
  readonly json: string;
  /** The string values, in the order of the data. */
  readonly values: readonly string[];
  /** The names of members, in the order of the data, as often as they occur. */
  readonly names: readonly string[];
  /**
   * Values and names of which the JSON text has an escaped form. All others stand in the JSON text as they are, between
   * two quotes: a search without `^` and `$` that finds something in one of them finds it in the JSON text as well,
   * because a quote is no word character, like the end of a text.
   */
  readonly hidden: readonly string[];
}
