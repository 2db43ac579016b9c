import * as is from './characters.js';
import { ExpansionReader } from './expansion-reader.js';
import type { Word } from './types.js';
import { WordDraft } from './word-draft.js';

/** What braces that make several words consist of. */
const MARKED = new Set([is.OPEN_BRACE, is.COMMA, is.CLOSE_BRACE, is.DOT]);

/** Reads words, with quotes and expansions; what runs commands is left to `commandsUntil`. */
export abstract class WordReader extends ExpansionReader {
  /** Reads the word at the position; its length is 0 where none begins. */
  protected readWord(): Word {
    const start = this.pos;
    while (this.pos < this.end && is.isOrdinary(this.text.charCodeAt(this.pos))) this.pos += 1;
    const value = this.text.slice(start, this.pos);
    const next = this.peek();
    if ((next === -1 || is.endsWord(next)) && !this.atProcess(next))
      return WordDraft.plain(value, start, this.pos);
    const draft = new WordDraft(start);
    draft.value = value;
    draft.verbatim = this.#readRest(draft, start);
    draft.end = this.pos;
    return draft;
  }

  /** Reads what follows the plain begin of a word. Returns where the value stands unchanged, or -1. */
  #readRest(draft: WordDraft, start: number): number {
    let from = this.pos;
    let braces = 0;
    let alternatives = false;
    let pieces = 0;
    let verbatim = -1;
    for (;;) {
      const code = this.peek();
      if (code === -1 || (is.endsWord(code) && !this.atProcess(code))) break;
      if (code === is.STAR || code === is.QUESTION || code === is.OPEN_BRACKET) draft.pattern = true;
      else if (code === is.OPEN_BRACE) {
        braces += 1;
        draft.marks ??= [];
      } else if (code === is.COMMA || (code === is.DOT && this.peek(1) === is.DOT)) alternatives = braces > 0;
      else if (code === is.CLOSE_BRACE && alternatives) draft.pattern = true;
      else if (code === is.RETURN && this.peek(1) === is.NEWLINE) break;
      else if (this.#isQuoting(code)) {
        draft.value += this.text.slice(from, this.pos);
        const at = this.pos;
        const inside = this.#readQuoting(code, draft);
        pieces += 1;
        verbatim = at === start ? inside : -1;
        from = this.pos;
        continue;
      }
      if (draft.marks !== undefined && MARKED.has(code)) {
        draft.marks.push(draft.value.length + this.pos - from);
      }
      this.pos += 1;
    }
    draft.value += this.text.slice(from, this.pos);
    if (pieces === 0) return start;
    return pieces === 1 && from === this.pos ? verbatim : -1;
  }

  #isQuoting(code: number): boolean {
    if (code === is.BACKSLASH || code === is.QUOTE || code === is.DOUBLE_QUOTE) return true;
    return code === is.DOLLAR || code === is.BACKQUOTE || code === is.LESS || code === is.GREATER;
  }

  /** Reads a quoted piece or an expansion. Returns where its value stands unchanged, or -1. */
  #readQuoting(code: number, draft: WordDraft): number {
    const start = this.pos;
    if (code === is.BACKSLASH) {
      const next = this.text.codePointAt(this.pos + 1);
      if (this.pos + 1 >= this.end || next === undefined) {
        this.pos += 1;
        draft.value += '\\';
      } else if (next === is.NEWLINE) {
        this.pos += 2;
      } else {
        draft.quoted = true;
        const character = String.fromCodePoint(next);
        draft.value += character;
        this.pos += 1 + character.length;
      }
      return -1;
    }
    if (code === is.QUOTE) {
      draft.quoted = true;
      draft.value += this.singleQuoted();
      return start + 1;
    }
    if (code === is.DOUBLE_QUOTE) {
      draft.quoted = true;
      const length = draft.value.length;
      this.readDouble(draft);
      return draft.value.length - length === this.pos - start - 2 ? start + 1 : -1;
    }
    if (code === is.LESS || code === is.GREATER) {
      this.pos += 2;
      this.substitution(start, is.CLOSE);
      draft.addUnknown(false, '');
      draft.substitutes = true;
      return -1;
    }
    this.readExpansion(draft, false);
    return -1;
  }
}
