import { createAutomaton } from './automaton.js';
import { foldCase } from './fold-case.js';
import type { StepMeter } from './linear-pattern.js';
import type { MatchMode } from './value-matcher.js';
import { isWordBoundary, MAX_CANDIDATES } from './word-finder.js';

/** A part of a text, in UTF-16 code units. */
export interface FoundSpan {
  readonly start: number;
  readonly end: number;
}

/** Finds all places of a text that match one of the values. They may overlap. */
export type ValueFinder = (text: string, meter: StepMeter) => FoundSpan[];

/** Steps of comparing one value with the side of a text. */
const STEPS_PER_VALUE = 2;

/** Of the same values as a value matcher. Folding keeps positions, so those of a folded text are those of the text. */
export function createValueFinder(
  values: readonly string[],
  mode: MatchMode,
  caseSensitive: boolean,
): ValueFinder {
  const comparable = caseSensitive ? (text: string) => text : foldCase;
  const distinct = [...new Set(values.map(comparable))];
  if (mode === 'contains') return createWordsFinder(distinct, !caseSensitive);
  const isAt: Readonly<Record<typeof mode, (text: string, value: string) => boolean>> = {
    exact: (text, value) => text === value,
    starts_with: (text, value) => text.startsWith(value),
    ends_with: (text, value) => text.endsWith(value),
  };
  const matches = isAt[mode];
  return (text, meter) => {
    meter.spend?.(distinct.length * STEPS_PER_VALUE);
    const folded = comparable(text);
    let length = 0;
    for (const value of distinct) if (value.length > length && matches(folded, value)) length = value.length;
    if (length === 0) return [];
    return mode === 'ends_with'
      ? [{ start: text.length - length, end: text.length }]
      : [{ start: 0, end: length }];
  };
}

function createWordsFinder(values: readonly string[], folds: boolean): ValueFinder {
  const { trie, shorter, output, walk } = createAutomaton(values, folds);
  return (text) => {
    const found: FoundSpan[] = [];
    let candidates = 0;
    walk(text, (node, end) => {
      if (!isWordBoundary(text, end)) return false;
      for (let candidate = output[node] ?? 0; candidate !== 0; candidate = shorter[candidate] ?? 0) {
        candidates += 1;
        if (candidates > MAX_CANDIDATES) throw new Error('comparing the text with the list costs too much');
        const start = end - trie.valueLength(candidate);
        if (!isWordBoundary(text, start)) continue;
        // The longest one that ends here: the others are part of it.
        found.push({ start, end });
        break;
      }
      return false;
    });
    return found;
  };
}
