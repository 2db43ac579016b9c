import { createTrie, type Trie } from './trie.js';
import { isWordBoundary } from './word-boundary.js';

/**
 * Most candidates looked at in one text. Values that are endings of each other, in a text made for them, could
 * otherwise cost text × values; honest data stay far below.
 */
export const MAX_CANDIDATES = 20_000_000;

/** Finds whether one of many values occurs in a text between word boundaries. */
export interface WordFinder {
  /**
   * @param folded the text in the form in which values are compared
   * @param original the text as it came, of the same length; it decides where words begin and end
   */
  occursIn(folded: string, original: string): boolean;
}

/**
 * All values are looked for in one pass over the text (Aho–Corasick): after each character the automaton stands at
 * the longest beginning of a value that the text read so far ends in, and from there `shorter` leads to the values
 * that end at the same place.
 */
export function createWordFinder(values: readonly string[]): WordFinder {
  const trie = createTrie(values);
  const { fallback, shorter } = link(trie);
  return {
    occursIn(folded, original) {
      let node = 0;
      let candidates = 0;
      for (let at = 0; at < folded.length; at += 1) {
        node = advance(trie, fallback, node, folded.charCodeAt(at));
        let candidate = trie.valueLength(node) > 0 ? node : (shorter[node] ?? 0);
        if (candidate === 0 || !isWordBoundary(original, at + 1)) continue;
        while (candidate !== 0) {
          if (isWordBoundary(original, at + 1 - trie.valueLength(candidate))) return true;
          candidates += 1;
          if (candidates > MAX_CANDIDATES) throw new Error('comparing the text with the list costs too much');
          candidate = shorter[candidate] ?? 0;
        }
      }
      return false;
    },
  };
}

/** The node after one more code unit: on a dead end the automaton goes on with the next shorter beginning. */
function advance(trie: Trie, fallback: Int32Array, from: number, unit: number): number {
  let node = from;
  for (;;) {
    const next = trie.child(node, unit);
    if (next !== 0) return next;
    if (node === 0) return 0;
    node = fallback[node] ?? 0;
  }
}

function link(trie: Trie): { fallback: Int32Array; shorter: Int32Array } {
  const fallback = new Int32Array(trie.size);
  const shorter = new Int32Array(trie.size);
  // Nodes are numbered by depth, so what a node falls back to is linked before it.
  for (let node = 1; node < trie.size; node += 1) {
    const parent = trie.parent(node);
    const target = parent === 0 ? 0 : advance(trie, fallback, fallback[parent] ?? 0, trie.unit(node));
    fallback[node] = target;
    shorter[node] = trie.valueLength(target) > 0 ? target : (shorter[target] ?? 0);
  }
  return { fallback, shorter };
}
