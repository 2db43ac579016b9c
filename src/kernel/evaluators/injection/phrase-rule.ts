import type { InjectionCategory } from './categories.js';

/** A sequence of words with little between them. */
export interface PhraseRule {
  /** Unique; rules that say the same in several ways share one `id`, so that they count once in a sum of scores. */
  readonly id: string;
  readonly category: InjectionCategory;
  /** Score of one match by itself, 0 to 1. */
  readonly score: number;
  /**
   * For each word the literals that stand for it. One that begins, or ends, with a letter or digit of a script with
   * spaces does so at a word boundary, except that `*` at its end stands for the rest of a word.
   */
  readonly slots: readonly (readonly string[])[];
  /** Most code units between two words. */
  readonly gap: number;
}

/** Code units between two words where a rule does not say. */
const DEFAULT_GAP = 28;

/** A rule as it is written: words are separated by ` > `, literals by `|`. */
export type PhraseRow = readonly [id: string, score: number, words: string, gap?: number];

/** Reads the rules of a category. */
export function phraseRules(category: InjectionCategory, rows: readonly PhraseRow[]): PhraseRule[] {
  return rows.map(([id, score, words, gap = DEFAULT_GAP]) => ({
    id,
    category,
    score,
    slots: words.split(' > ').map((slot) => slot.split('|')),
    gap,
  }));
}

/** Rules of one literal each, which may contain any character. */
export function literalRules(
  category: InjectionCategory,
  rows: readonly (readonly [id: string, score: number, ...literals: string[]])[],
): PhraseRule[] {
  return rows.map(([id, score, ...literals]) => ({ id, category, score, slots: [literals], gap: 0 }));
}
