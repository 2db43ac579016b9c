export { alwaysMatches, matchesEveryText } from './always-matches.js';
export { type Automaton, createAutomaton, MAX_TABLE_CELLS } from './automaton.js';
export { endsAtTextOnly } from './end-anchor.js';
export { createItemMatcher, STEPS_PER_ITEM } from './item-matcher.js';
export { SearchTooCostly, UNITS_PER_STEP } from './lazy-dfa.js';
export {
  compilePattern,
  isTooLarge,
  type LinearPattern,
  MAX_CLASS_WORK,
  MAX_PATTERN_LENGTH,
} from './linear-pattern.js';
export { neverMatches } from './never-matches.js';
export {
  MAX_NORMALIZED_LENGTH,
  normalizeOnce,
  normalizeText,
  normalizeTexts,
  type SearchTexts,
} from './normalize-text.js';
export { compileCostOf, estimateCost } from './pattern-cost.js';
export { createPrefilter, type Prefilter } from './prefilter.js';
export { shorten } from './shorten.js';
export { matcherBytes } from './value-matcher.js';
export { isWordUnit } from './word-finder.js';
