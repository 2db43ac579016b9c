import type { StepMeter } from './linear-pattern.js';
import type { SearchTexts } from './normalize-text.js';
import { createValueFinder, type ValueFinder } from './value-finder.js';
import { createValueMatcher, type MatchMode, type ValueMatcher } from './value-matcher.js';

/** Search steps equivalent in time to comparing one text. */
export const STEPS_PER_ITEM = 20;

/** Decides which items of the data are in a list. */
export interface ItemMatcher {
  /** Whether an item with a single text is in the list. */
  readonly matches: ValueMatcher;
  /** Where values match in a text. What it needs is made with the first search. */
  readonly findAll: ValueFinder;
  /**
   * Whether an object or a list is in the list: when one of its texts is. With `isDemand`, for an allow list,
   * this would accept anything that contains an allowed text beside others. There, except in the mode
   * `contains`, the JSON text must be in the list, or all string values, at least one; names do not count.
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
  let finder: ValueFinder | undefined;
  return {
    matches,
    findAll(text, meter) {
      finder ??= createValueFinder(values, mode, caseSensitive);
      return finder(text, meter);
    },
    hits(texts, isDemand, meter) {
      if (matches(texts.json)) return true;
      // Whole words are found in the JSON text unless they are hidden there: quotes are not word characters.
      if (mode === 'contains') return hitsAny(texts.hidden, meter);
      if (isDemand) return hitsAll(texts.values, meter);
      return [texts.values, texts.names, texts.hidden].some((some) => hitsAny(some, meter));
    },
  };
}
