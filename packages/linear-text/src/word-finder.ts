import { type Automaton, createAutomaton } from './automaton.js';
import { foldCase } from './fold-case.js';

/**
 * Most candidates tested in one text, about 20 milliseconds. Values that are suffixes of each other, in a
 * text crafted for them that also has a letter of `WORDLIKE`, could otherwise cost text × values; ordinary
 * data stay far below.
 */
export const MAX_CANDIDATES = 2_000_000;

/** Limits up to which values are searched one by one, faster than a walk: number, length, text length. */
const MAX_FEW = 8;
const MAX_FEW_LENGTH = 32;
const MAX_FEW_TEXT = 4_096;
/** Occurrences of one value inside words after which a walk is faster. */
const MAX_FEW_OCCURRENCES = 16;

/** Decides whether one of the values occurs in a text between word boundaries. */
export type WordFinder = (text: string) => boolean;

/** The letters that `(?i)` treats as ASCII letters and `\b` does not: the long s and the Kelvin sign. */
const WORDLIKE = /[\u017f\u212a]/;

/**
 * Searches for all values, large numbers of them in one pass over the text. With `folds` the values must be
 * folded, and case is ignored. Word boundaries are those of the original text.
 */
export function createWordFinder(values: readonly string[], folds: boolean): WordFinder {
  const walk = createWalk(values, folds);
  if (values.length > MAX_FEW || values.some((value) => value.length > MAX_FEW_LENGTH)) return walk;
  return (text) => {
    if (text.length > MAX_FEW_TEXT) return walk(text);
    const folded = folds ? foldOnce(text) : text;
    for (const value of values) {
      let at = folded.indexOf(value);
      for (let occurrences = 0; at !== -1; occurrences += 1) {
        if (isWordBoundary(text, at) && isWordBoundary(text, at + value.length)) return true;
        if (occurrences === MAX_FEW_OCCURRENCES) return walk(text);
        at = folded.indexOf(value, at + 1);
      }
    }
    return false;
  };
}

let lastText = '';
let lastFolded = '';

/** Folds a text, cached: several lists of one step often use the same one. */
function foldOnce(text: string): string {
  if (text !== lastText) {
    lastFolded = foldCase(text);
    lastText = text;
  }
  return lastFolded;
}

function createWalk(values: readonly string[], folds: boolean): WordFinder {
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
 * Nodes with a value as suffix that begins at a word boundary inside the node, and so in every text: the code
 * units on both sides of the boundary are part of the node. Avoids comparing a text one by one with values
 * that are suffixes of each other. Holds unless the text has a letter of `WORDLIKE`.
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

/** Whether a code unit is an ASCII word character; false for NaN, as outside of a text. */
export function isWordUnit(unit: number): boolean {
  return (
    (unit >= 0x61 && unit <= 0x7a) ||
    (unit >= 0x41 && unit <= 0x5a) ||
    (unit >= 0x30 && unit <= 0x39) ||
    unit === 0x5f
  );
}

/** Whether an ASCII word begins or ends between the code units `at - 1` and `at`, like `\b` of RE2. */
export function isWordBoundary(text: string, at: number): boolean {
  return isWordUnit(text.charCodeAt(at - 1)) !== isWordUnit(text.charCodeAt(at));
}
