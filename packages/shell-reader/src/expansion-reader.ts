import * as is from './characters.js';
import { ansiValue, parameterMeaning } from './expansion-values.js';
import { TextCursor } from './text-cursor.js';
import type { ShellVisitor, Word } from './types.js';
import { WordDraft } from './word-draft.js';

/** Operators of `${name…}` that take a word in which, inside double quotes, a single quote is an ordinary character. */
const WORD_OPERATORS = new Set([is.DASH, is.PLUS, is.EQUALS, is.QUESTION]);

/** What makes arithmetic more than numbers: names and subscripts are evaluated again. */
const NO_NUMBERS = /[^-+*/%<>=!&|^~?:,;()\s\d]/;

/** Reads quotes and expansions, which are pieces of words; what runs commands is left to `commandsUntil`. */
export abstract class ExpansionReader extends TextCursor {
  constructor(
    protected readonly visitor: ShellVisitor,
    text: string,
    start: number,
    end: number,
    depth: number,
  ) {
    super(text, start, end, depth);
  }

  /** Reads commands up to a closing character, or to the end for -1. The character is passed. */
  protected abstract commandsUntil(close: number): void;

  protected atProcess(code: number): boolean {
    return (code === is.LESS || code === is.GREATER) && this.peek(1) === is.OPEN;
  }

  protected singleQuoted(): string {
    const closing = this.text.indexOf("'", this.pos + 1);
    if (closing < 0 || closing >= this.end) this.fail('a single quote is not closed');
    const value = this.text.slice(this.pos + 1, closing);
    this.pos = closing + 1;
    return value;
  }

  /** Reads `"…"`. */
  protected readDouble(draft: WordDraft): void {
    const start = this.pos;
    this.pos += 1;
    let from = this.pos;
    for (;;) {
      const code = this.peek();
      if (code === -1) this.fail('a double quote is not closed', start);
      if (code === is.DOUBLE_QUOTE || code === is.BACKSLASH || code === is.DOLLAR || code === is.BACKQUOTE) {
        draft.value += this.text.slice(from, this.pos);
        if (code === is.DOUBLE_QUOTE) break;
        if (code === is.BACKSLASH) this.#escapedInDouble(draft);
        else this.readExpansion(draft, true);
        from = this.pos;
      } else this.pos += 1;
    }
    this.pos += 1;
  }

  /** Inside double quotes a backslash escapes only some characters. */
  #escapedInDouble(draft: WordDraft): void {
    const next = this.peek(1);
    if (next === is.DOUBLE_QUOTE || next === is.BACKSLASH || next === is.DOLLAR || next === is.BACKQUOTE) {
      draft.value += String.fromCharCode(next);
    } else if (next !== is.NEWLINE) draft.value += this.text.slice(this.pos, this.pos + 2);
    this.pos += 2;
  }

  /** Reads what begins with a dollar sign or a backquote. */
  protected readExpansion(draft: WordDraft, inDouble: boolean): void {
    const start = this.pos;
    if (this.peek() === is.BACKQUOTE) {
      this.#backquoted(inDouble);
      draft.addUnknown(!inDouble, '');
      draft.substitutes = true;
      return;
    }
    this.#skipContinuation();
    const next = this.peek(1);
    let splits = !inDouble;
    let assumed = '';
    if (next === is.OPEN) {
      this.pos += 2;
      const at = this.pos;
      if (this.peek() === is.OPEN && this.readArithmetic()) this.arithmetic(at + 1, this.pos - 2);
      else {
        this.substitution(start, is.CLOSE);
        draft.substitutes = true;
      }
    } else if (next === is.OPEN_BRACE) {
      this.pos += 2;
      assumed = this.nested(() => this.#parameter(start, draft, inDouble));
    } else if (next === is.OPEN_BRACKET) {
      this.pos += 2;
      const at = this.pos;
      this.nested(() => this.readUntil(is.CLOSE_BRACKET, draft, inDouble, false));
      this.arithmetic(at, this.pos - 1);
    } else if (next === is.QUOTE && !inDouble) {
      draft.quoted = true;
      draft.value += this.#ansiQuoted();
      return;
    } else if (next === is.DOUBLE_QUOTE && !inDouble) {
      draft.quoted = true;
      this.pos += 1;
      this.readDouble(draft);
      return;
    } else if (next >= 0 && is.beginsName(next)) {
      this.pos += 2;
      while (this.pos < this.end && is.inName(this.peek())) this.pos += 1;
      if (this.text.slice(start + 1, this.pos) === 'IFS') assumed = ' ';
    } else if (is.isDigit(next) || (next >= 0 && '@*#?-$!'.includes(String.fromCharCode(next)))) {
      this.pos += 2;
      // Numbers are never several words.
      splits &&= !'#?!$'.includes(String.fromCharCode(next));
    } else {
      this.pos += 1;
      draft.value += '$';
      return;
    }
    draft.addUnknown(splits, assumed);
  }

  /** A dollar sign and what follows it may stand on two lines. */
  #skipContinuation(): void {
    while (this.peek(1) === is.BACKSLASH && this.peek(2) === is.NEWLINE) this.pos += 2;
  }

  #ansiQuoted(): string {
    const start = this.pos + 2;
    this.pos = start;
    while (this.peek() !== is.QUOTE) {
      if (this.peek() === -1) this.fail('a single quote is not closed', start - 1);
      this.pos += this.peek() === is.BACKSLASH ? 2 : 1;
    }
    this.pos += 1;
    return ansiValue(this.text.slice(start, this.pos - 1));
  }

  protected substitution(start: number, close: number): void {
    this.nested(() => this.commandsUntil(close));
    this.visitor.substitution(start, this.pos);
  }

  /** Inside backquotes, a backslash escapes a backquote, a backslash and a dollar sign; in double quotes also these. */
  #backquoted(inDouble: boolean): void {
    const start = this.pos;
    let escaped = false;
    this.pos += 1;
    for (; this.peek() !== is.BACKQUOTE; this.pos += 1) {
      if (this.peek() === -1) this.fail('a backquote is not closed', start);
      if (this.peek() !== is.BACKSLASH) continue;
      escaped = true;
      this.pos += 1;
    }
    const closing = this.pos;
    if (escaped) {
      const inside = this.text.slice(start + 1, closing);
      this.visitor.decoded(
        inside.replace(inDouble ? /\\([\\`$"])/g : /\\([\\`$])/g, '$1'),
        start,
        closing + 1,
      );
    } else {
      const outerEnd = this.end;
      this.pos = start + 1;
      this.end = closing;
      this.nested(() => this.commandsUntil(-1));
      this.end = outerEnd;
    }
    this.pos = closing + 1;
    this.visitor.substitution(start, this.pos);
  }

  /** Tells of a word that is evaluated. */
  protected evaluates({ value, start, end }: Word): void {
    this.visitor.evaluated(value, start, end);
  }

  /** Tells of arithmetic that is no plain calculation with numbers. */
  protected arithmetic(start: number, end: number): void {
    const value = this.text.slice(start, end);
    if (NO_NUMBERS.test(value)) this.visitor.evaluated(value, start, end);
  }

  /** Reads the rest of `${…}`. Returns what it is when no variable is set. */
  #parameter(start: number, draft: WordDraft, inDouble: boolean): string {
    const first = this.peek();
    if (first === is.SPACE || first === is.TAB || first === is.NEWLINE || first === is.PIPE) {
      // `${ command; }` of bash 5.3; a mistake in other shells.
      if (first === is.PIPE) this.pos += 1;
      this.substitution(start, is.CLOSE_BRACE);
      draft.substitutes = true;
      return '';
    }
    let at = 0;
    while (
      this.pos + at < this.end &&
      (is.inName(this.peek(at)) || (at === 0 && '#!@*?'.includes(this.text[this.pos] as string)))
    )
      at += 1;
    if (this.peek(at) === 58) at += 1;
    const begin = this.pos;
    this.readUntil(is.CLOSE_BRACE, draft, inDouble, inDouble && WORD_OPERATORS.has(this.peek(at)));
    return parameterMeaning(this.visitor, this.text, start, begin, this.pos);
  }

  /**
   * Reads up to a closing character outside quotes and expansions. `plainQuotes`: a single quote is an ordinary character
   * for some shells and a quote for others.
   */
  protected readUntil(close: number, draft: WordDraft, inDouble: boolean, plainQuotes: boolean): void {
    const start = this.pos;
    const unused = new WordDraft(this.pos);
    for (;;) {
      const code = this.peek();
      if (code === close) break;
      if (code === -1) this.fail(`${String.fromCharCode(close)} is missing`, start);
      if (code === is.QUOTE) {
        const value = this.singleQuoted();
        if (plainQuotes && /["$`\\}]/.test(value)) this.#failsAtQuote(start);
      } else if (code === is.DOLLAR && this.peek(1) === is.QUOTE && inDouble) this.pos += 1;
      else if (this.atProcess(code)) {
        const at = this.pos;
        this.pos += 2;
        this.substitution(at, is.CLOSE);
      } else this.#passPiece(unused);
    }
    this.pos += 1;
    draft.substitutes ||= unused.substitutes;
  }

  #failsAtQuote(start: number): never {
    this.fail('shells read this single quote in different ways', start);
  }

  /** Passes what is escaped, in double quotes or an expansion, or else one character; of `unused` the text has no meaning. */
  #passPiece(unused: WordDraft): void {
    const code = this.peek();
    if (code === is.BACKSLASH) this.pos += 2;
    else if (code === is.DOUBLE_QUOTE) this.readDouble(unused);
    else if (code === is.DOLLAR || code === is.BACKQUOTE) this.readExpansion(unused, false);
    else this.pos += 1;
    unused.clear();
  }

  /** Reads `(…))` as arithmetic. Returns false, at the same position, if it is no arithmetic. */
  protected readArithmetic(): boolean {
    const start = this.pos;
    const unused = new WordDraft(this.pos);
    let open = 0;
    return this.nested(() => {
      for (this.pos += 1; ; ) {
        const code = this.peek();
        if (code === -1) this.fail('arithmetic is not closed', start);
        if (code === is.CLOSE && open === 0) {
          if (this.peek(1) === is.CLOSE) break;
          this.retry(start);
          return false;
        }
        if (code === is.OPEN) open += 1;
        else if (code === is.CLOSE) open -= 1;
        if (code === is.QUOTE) {
          const at = this.pos;
          // It is an ordinary character for some shells.
          if (/["$`\\()]/.test(this.singleQuoted())) this.#failsAtQuote(at);
        } else this.#passPiece(unused);
      }
      this.pos += 2;
      return true;
    });
  }
}
