import type { StepMeter } from './linear-pattern.js';
import type { SearchTexts } from './search-texts.js';
import { createValueMatcher, type MatchMode, type ValueMatcher } from './value-matcher.js';

/** Search steps that take as long as comparing one text. */
export const STEPS_PER_ITEM = 20;

/** Says which items of some data are in a list. */
export interface ItemMatcher {
  /** Whether an item with only one text is in the list. */
  readonly matches: ValueMatcher;
  /**
   * Whether an object or a list is: when one of its texts is. With `isDemand`, for the list of what is allowed, that
   * would let everything pass that has something allowed in it beside other things. So there, unless texts that contain
   * a value count, the JSON text must be in the list, or all string values, of which there must be one; names do not
   * count.
   */
  hits(texts: SearchTexts, isDemand: boolean, meter: StepMeter): boolean;
}

/** Compiles a non-empty list of values; see `createValueMatcher`. */
export function createItemMatcher(
  values: readonly string[],
  mode: MatchMode,
  caseSensitive: boolean,
): ItemMatcher {
  const matches = createValueMatcher(values, mode, caseSensitive);
  const hitsAny = (texts: readonly string[], meter: StepMeter): boolean => {
    meter.spend?.(texts.length * STEPS_PER_ITEM);
    return texts.some(matches);
  };
  const hitsAll = (texts: readonly string[], meter: StepMeter): boolean => {
    meter.spend?.(texts.length * STEPS_PER_ITEM);
    return texts.length > 0 && texts.every(matches);
  };
  return {
    matches,
    hits(texts, isDemand, meter) {
      if (matches(texts.json)) return true;
      // Whole words are found in the JSON text wherever they are not hidden there: quotes are no word characters.
      if (mode === 'contains') return hitsAny(texts.hidden, meter);
      if (isDemand) return hitsAll(texts.values, meter);
      return hitsAny(texts.values, meter) || hitsAny(texts.names, meter);
    },
  };
}
