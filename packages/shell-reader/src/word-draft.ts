import type { Word } from './types.js';

/** Stands in the value of a word for what is known only at run time. */
export const UNKNOWN = '\0';

/** A word, and what is known of it while it is being read. One class for all of them, because most of a text is words. */
export class WordDraft implements Word {
  value = '';
  end: number;
  dynamic = false;
  splits = false;
  substitutes = false;
  pattern = false;
  quoted = false;
  verbatim = -1;

  constructor(readonly start: number) {
    this.end = start;
  }

  /** A word without quotes and expansions. */
  static plain(value: string, start: number, end: number): WordDraft {
    const word = new WordDraft(start);
    word.value = value;
    word.end = end;
    word.verbatim = start;
    return word;
  }

  /** Adds what is known only at run time. */
  addUnknown(splits: boolean): void {
    this.value += UNKNOWN;
    this.dynamic = true;
    this.splits ||= splits;
  }
}
