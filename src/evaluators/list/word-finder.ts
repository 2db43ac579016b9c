import { type Automaton, createAutomaton } from './automaton.js';
import { isWordBoundary, isWordUnit } from './word-boundary.js';

/**
 * Most candidates looked at in one text, about 20 milliseconds. Values that are endings of each other, in a text made
 * for them that holds a letter of `WORDLIKE` too, could otherwise cost text × values; honest data stay far below.
 */
export const MAX_CANDIDATES = 2_000_000;

/** Says whether one of some values occurs in a text between word boundaries. */
export type WordFinder = (text: string) => boolean;

/** The letters that `(?i)` takes for an ASCII letter and `\b` does not: the long s and the Kelvin sign. */
const WORDLIKE = /[\u017f\u212a]/;

/**
 * Looks for all values in one pass over the text. With `folds` the values must be folded, and case is ignored. Where
 * words begin and end is decided by the text as it came.
 */
export function createWordFinder(values: readonly string[], folds: boolean): WordFinder {
  const automaton = createAutomaton(values, folds);
  const { trie, shorter, output } = automaton;
  const settled = settledNodes(automaton, values);

  const occursAmong = (text: string): boolean => {
    let candidates = 0;
    return automaton.walk(text, (node, end) => {
      if (!isWordBoundary(text, end)) return false;
      for (let candidate = output[node] ?? 0; candidate !== 0; candidate = shorter[candidate] ?? 0) {
        if (isWordBoundary(text, end - trie.valueLength(candidate))) return true;
        candidates += 1;
        if (candidates > MAX_CANDIDATES) throw new Error('comparing the text with the list costs too much');
      }
      return false;
    });
  };

  return (text) => {
    if (folds && WORDLIKE.test(text)) return occursAmong(text);
    return automaton.walk(text, (node, end) => {
      if (!isWordBoundary(text, end)) return false;
      if (settled[node] === 1) return true;
      const length = trie.valueLength(node);
      return length > 0 && isWordBoundary(text, end - length);
    });
  };
}

/**
 * Which nodes end in a value that begins at a word boundary behind the beginning of the node, and so in every text:
 * the code units on both sides of that place are part of the node. That spares a text to be compared with values that
 * are endings of each other one by one. Holds unless the text has a letter of `WORDLIKE`.
 */
function settledNodes({ trie, fallback }: Automaton, values: readonly string[]): Uint8Array {
  const settled = new Uint8Array(trie.size);
  for (let node = 1; node < trie.size; node += 1) {
    const ending = fallback[node] ?? 0;
    if (ending === 0) continue;
    if (settled[ending] === 1) {
      settled[node] = 1;
    } else if (trie.valueLength(ending) > 0) {
      const text = values[trie.valueIndex(node)] ?? '';
      const start = trie.depth(node) - trie.depth(ending);
      if (isWordUnit(text.charCodeAt(start - 1)) !== isWordUnit(text.charCodeAt(start))) settled[node] = 1;
    }
  }
  return settled;
}
