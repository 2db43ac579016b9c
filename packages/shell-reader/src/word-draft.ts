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
  /** Where braces, commas and points outside quotes are in the value, if there is a brace. */
  marks: number[] | undefined;
  #assumed: string[] | undefined;

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

  get assumed(): string {
    if (!this.dynamic) return this.value;
    let index = 0;
    return this.value.replaceAll(UNKNOWN, () => this.#assumed?.[index++] ?? '');
  }

  /** Adds what is known only at run time; `assumed` is what it is when no variable is set. */
  addUnknown(splits: boolean, assumed: string): void {
    this.value += UNKNOWN;
    this.dynamic = true;
    this.splits ||= splits;
    this.#assumed ??= [];
    this.#assumed.push(assumed);
  }

  /** Forgets the text, of which only the properties matter. */
  clear(): void {
    this.value = '';
    this.#assumed = undefined;
  }

  /** The same word with another text. */
  withValue(value: string): WordDraft {
    const word = new WordDraft(this.start);
    word.value = value;
    word.end = this.end;
    word.pattern = true;
    word.quoted = this.quoted;
    return word;
  }
}
