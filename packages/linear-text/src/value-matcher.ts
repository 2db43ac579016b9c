import { MAX_TABLE_CELLS } from './automaton.js';
import { foldCase } from './fold-case.js';
import { createWordFinder } from './word-finder.js';

/** How an item is compared with the values. */
export type MatchMode = 'exact' | 'contains' | 'starts_with' | 'ends_with';

/** Decides whether a text matches one of the values. Time is linear in the text, for any number of values. */
export type ValueMatcher = (text: string) => boolean;

/**
 * Compiles a non-empty set of non-empty values without lone surrogates: so a value never begins or ends
 * inside a character of the text, and code units can be compared instead of characters.
 */
export function createValueMatcher(
  values: readonly string[],
  mode: MatchMode,
  caseSensitive: boolean,
): ValueMatcher {
  const comparable = caseSensitive ? (text: string) => text : foldCase;
  const distinct = [...new Set(values.map(comparable))];
  switch (mode) {
    case 'exact':
      return exactMatcher(distinct, comparable);
    case 'contains':
      return createWordFinder(distinct, !caseSensitive);
    case 'starts_with': {
      const findPrefix = createPrefixFinder(distinct);
      const longest = longestOf(distinct);
      return (text) => findPrefix(comparable(text.length > longest ? text.slice(0, longest) : text));
    }
    case 'ends_with': {
      const findPrefix = createPrefixFinder(distinct.map(reversed));
      const longest = longestOf(distinct);
      return (text) => {
        const end = text.length > longest ? text.slice(-longest) : text;
        return findPrefix(reversed(comparable(end)));
      };
    }
  }
}

/** Memory of a value besides its characters, in bytes. */
const VALUE_BYTES = 120;
/** Memory of the automaton for a character of a value, in bytes, without its table. */
const AUTOMATON_BYTES = 60;

/** Estimated maximum memory of a matcher, in bytes. */
export function matcherBytes(values: readonly string[], mode: MatchMode): number {
  const length = values.reduce((sum, value) => sum + value.length, 0);
  const plain = values.length * VALUE_BYTES + 2 * length;
  if (mode !== 'contains') return plain;
  const units = new Set<number>();
  for (const value of values) for (let at = 0; at < value.length; at += 1) units.add(value.charCodeAt(at));
  return plain + AUTOMATON_BYTES * length + 4 * Math.min(MAX_TABLE_CELLS, (units.size + 1) * (length + 1));
}

function exactMatcher(values: readonly string[], comparable: (text: string) => string): ValueMatcher {
  const set = new Set(values);
  const longest = longestOf(values);
  return (text) => text.length <= longest && set.has(comparable(text));
}

/**
 * Whether a text begins with one of the values. Values that begin with another value are dropped; of the
 * rest, in order, only the last one that is not greater than the text can be its prefix.
 */
function createPrefixFinder(values: readonly string[]): (text: string) => boolean {
  const sorted = [...values].sort(byCodeUnits);
  const minimal: string[] = [];
  for (const value of sorted) {
    const last = minimal.at(-1);
    if (last === undefined || !value.startsWith(last)) minimal.push(value);
  }
  return (text) => {
    let low = 0;
    let high = minimal.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((minimal[middle] ?? '') <= text) low = middle + 1;
      else high = middle;
    }
    const candidate = minimal[low - 1];
    return candidate !== undefined && text.startsWith(candidate);
  };
}

function byCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** The code units in reverse order. */
function reversed(text: string): string {
  return text.split('').reverse().join('');
}

function longestOf(values: readonly string[]): number {
  return values.reduce((longest, value) => Math.max(longest, value.length), 0);
}
