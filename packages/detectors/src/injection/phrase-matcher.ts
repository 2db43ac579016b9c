import { createAutomaton } from '../../../linear-text/src/index.js';
import { foldText } from './fold.js';
import type { PhraseRule } from './phrase-rule.js';

/** A match of a rule, in a folded text. */
export interface PhraseMatch {
  readonly rule: PhraseRule;
  readonly start: number;
  readonly end: number;
}

/** Finds all matches of the rules in a folded text. Returns how many literals it has seen: its work beyond one pass. */
export type PhraseMatcher = (text: string, found: (match: PhraseMatch) => void) => number;

/** A word of a rule that a literal stands for. */
interface Place {
  readonly rule: number;
  readonly slot: number;
}

interface Literal {
  readonly places: Place[];
  readonly wordStart: boolean;
  wordEnd: boolean;
}

/** Scripts that write words without blanks. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u30fc]/u;
const WORD = /[\p{Letter}\p{Number}_]/u;

let wordUnits: Uint8Array | undefined;

/** 1 for each code unit of a word of a script with blanks. Halves of pairs are none. */
function wordTable(): Uint8Array {
  wordUnits ??= Uint8Array.from({ length: 0x10000 }, (_, unit) => {
    const character = String.fromCharCode(unit);
    return WORD.test(character) && !UNSPACED.test(character) ? 1 : 0;
  });
  return wordUnits;
}

/** Longest literal, in code units. */
const MAX_LITERAL = 48;
/** Ends that are kept: several literals of a word may end at the same place. */
const KEPT = 2 * MAX_LITERAL;

/**
 * Compiles rules. A text is searched for the literals of all rules in one pass. For each rule and each number of its
 * words the matcher keeps where the last sequences of so many ended: a literal that is the next word continues the one
 * that ended last before it begins, if that is close enough; those before it ended further away. A literal overlaps no
 * more ends than it has code units, so as many are kept. So the time is linear in the text, whatever it says.
 */
export function createPhraseMatcher(rules: readonly PhraseRule[]): PhraseMatcher {
  const words = wordTable();
  const isWord = (unit: number): boolean => words[unit] === 1;
  const literals = readLiterals(rules, isWord);
  const values = [...literals.keys()];
  const { trie, output, shorter, walk } = createAutomaton(values, false);
  const literalAt = Array.from({ length: trie.size }, (_, node) =>
    trie.valueLength(node) > 0
      ? literals.get((values[trie.valueIndex(node)] ?? '').slice(0, trie.depth(node)))
      : undefined,
  );
  const first = new Int32Array(rules.length);
  let places = 0;
  rules.forEach(({ slots }, rule) => {
    first[rule] = places;
    places += slots.length;
  });
  const counts = new Int32Array(places);
  const starts = new Int32Array(places * KEPT);
  const ends = new Int32Array(places * KEPT);

  /** The index of the last sequence of a place that ended at `from` or before; -1 if there is none. */
  const lastBefore = (place: number, from: number): number => {
    const count = counts[place] ?? 0;
    for (let back = 1; back <= Math.min(count, KEPT); back += 1) {
      const index = place * KEPT + ((count - back) % KEPT);
      if ((ends[index] ?? 0) <= from) return index;
    }
    return -1;
  };

  return (text, found) => {
    counts.fill(0);
    let seen = 0;
    const reach = ({ rule: index, slot }: Place, from: number, end: number): void => {
      const rule = rules[index];
      if (rule === undefined) return;
      const place = (first[index] ?? 0) + slot;
      let start = from;
      if (slot > 0) {
        const last = lastBefore(place - 1, from);
        if (last < 0 || from - (ends[last] ?? 0) > rule.gap) return;
        start = starts[last] ?? from;
      }
      const count = counts[place] ?? 0;
      const kept = place * KEPT + (count % KEPT);
      starts[kept] = start;
      ends[kept] = end;
      counts[place] = count + 1;
      if (slot === rule.slots.length - 1) found({ rule, start, end });
    };
    walk(text, (node, end) => {
      for (let at = output[node] ?? 0; at !== 0; at = shorter[at] ?? 0) {
        const literal = literalAt[at];
        if (literal === undefined) continue;
        seen += 1;
        const start = end - trie.valueLength(at);
        if (literal.wordEnd && isWord(text.charCodeAt(end))) continue;
        if (literal.wordStart && start > 0 && isWord(text.charCodeAt(start - 1))) continue;
        seen += literal.places.length;
        for (const place of literal.places) reach(place, start, end);
      }
      return false;
    });
    return seen;
  };
}

/** The literals of all rules, folded, with the words that they stand for, the last words of a rule first. */
function readLiterals(rules: readonly PhraseRule[], isWord: (unit: number) => boolean): Map<string, Literal> {
  const literals = new Map<string, Literal>();
  rules.forEach(({ id, slots }, rule) => {
    for (let slot = slots.length - 1; slot >= 0; slot -= 1) {
      for (const written of new Set(slots[slot])) {
        const isStem = written.endsWith('*') && written.length > 1;
        const { text } = foldText(isStem ? written.slice(0, -1) : written);
        if (text === '' || text.length > MAX_LITERAL) {
          throw new Error(`the rule ${id} has a literal of ${text.length} characters`);
        }
        const key = text;
        const literal = literals.get(key) ?? {
          places: [],
          wordStart: isWord(text.charCodeAt(0)),
          wordEnd: isWord(text.charCodeAt(text.length - 1)),
        };
        // A stem in one rule and a word in another would need two literals.
        if (isStem) literal.wordEnd = false;
        literal.places.push({ rule, slot });
        literals.set(key, literal);
      }
    }
  });
  return literals;
}
