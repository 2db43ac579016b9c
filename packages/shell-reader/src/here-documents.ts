import * as is from './characters.js';
import type { SimpleCommand, Word } from './types.js';
import { WordDraft } from './word-draft.js';
import { WordReader } from './word-reader.js';

/** A here-document whose lines follow the current line. */
interface Pending {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly strips: boolean;
  command: SimpleCommand | undefined;
}

/** Reads here-documents: their delimiters with the commands, their lines after the end of the line. */
export abstract class HereDocumentReader extends WordReader {
  #pending: Pending[] = [];
  /** Here-documents of the commands around a substitution, which have not been read. */
  #outer = 0;

  /** Reads the delimiter after `<<` or `<<-`. */
  protected readDelimiter(operator: string): Word {
    const start = this.pos;
    let value = '';
    let quoted = false;
    for (let code = this.peek(); code !== -1 && !is.endsWord(code); code = this.peek()) {
      if (code === is.RETURN && this.peek(1) === is.NEWLINE) break;
      if (code === is.BACKSLASH) {
        if (this.peek(1) !== is.NEWLINE) value += this.text.slice(this.pos + 1, this.pos + 2);
        quoted ||= this.peek(1) !== is.NEWLINE;
        this.pos += 2;
      } else if (code === is.QUOTE || code === is.DOUBLE_QUOTE) {
        const closing = this.text.indexOf(String.fromCharCode(code), this.pos + 1);
        if (closing < 0 || closing >= this.end) this.fail('a quote is not closed');
        value += this.text.slice(this.pos + 1, closing);
        quoted = true;
        this.pos = closing + 1;
      } else if (
        code === is.BACKQUOTE ||
        (code === is.DOLLAR && this.peek(1) !== -1 && '({\'"'.includes(String.fromCharCode(this.peek(1))))
      ) {
        this.fail('the delimiter of a here-document has an expansion');
      } else {
        value += this.text[this.pos] as string;
        this.pos += 1;
      }
    }
    if (this.pos === start) this.fail('a here-document has no delimiter');
    if (value.includes('\n')) this.fail('the delimiter of a here-document has more than one line', start);
    this.#pending.push({ delimiter: value, quoted, strips: operator === '<<-', command: undefined });
    const word = WordDraft.plain(value, start, this.pos);
    word.quoted = quoted;
    word.verbatim = -1;
    return word;
  }

  protected get pendingCount(): number {
    return this.#pending.length;
  }

  /** Says whose input the here-documents since `from` are. */
  protected giveDocuments(command: SimpleCommand, from: number): void {
    for (let index = from; index < this.#pending.length; index += 1) {
      (this.#pending[index] as Pending).command = command;
    }
  }

  /** Passes the end of a line, and the here-documents that follow it. */
  protected passNewline(): void {
    this.pos += 1;
    if (this.#outer > 0) this.fail('a substitution follows a here-document and has more than one line');
    if (this.#pending.length === 0) return;
    const pending = this.#pending;
    this.#pending = [];
    for (const document of pending) this.#readDocument(document);
  }

  /** Reads commands that have here-documents of their own. */
  protected withOwnDocuments(read: () => void): void {
    const [pending, outer] = [this.#pending, this.#outer];
    this.#pending = [];
    this.#outer = outer + pending.length;
    read();
    // Shells differ in which lines these here-documents have.
    if (this.#pending.length > 0 && this.pos < this.end)
      this.fail('a here-document has no lines before the end of its commands');
    this.#pending = pending;
    this.#outer = outer;
  }

  #readDocument({ delimiter, quoted, strips, command }: Pending): void {
    const start = this.pos;
    let bodyEnd = this.end;
    for (;;) {
      if (this.pos >= this.end) break;
      const lineStart = this.pos;
      let from = lineStart;
      while (strips && this.text.charCodeAt(from) === is.TAB) from += 1;
      const lineEnd = this.#endOfLine(quoted);
      const length = lineEnd - from - (this.text.charCodeAt(lineEnd - 1) === is.RETURN ? 1 : 0);
      if (length === delimiter.length && this.text.startsWith(delimiter, from)) {
        bodyEnd = lineStart;
        this.pos = Math.min(lineEnd + 1, this.end);
        break;
      }
      this.pos = Math.min(lineEnd + 1, this.end);
    }
    const after = this.pos;
    if (!quoted) this.readBody(start, bodyEnd);
    this.pos = after;
    this.visitor.hereDocument(command, start, bodyEnd);
  }

  /** The end of the line at the position; in a body with expansions, lines that are continued are one. */
  #endOfLine(quoted: boolean): number {
    let at = this.pos;
    while (at < this.end && this.text.charCodeAt(at) !== is.NEWLINE) {
      at += !quoted && this.text.charCodeAt(at) === is.BACKSLASH ? 2 : 1;
    }
    return Math.min(at, this.end);
  }

  /** Reads the expansions of a text without quotes, as those of a here-document. */
  protected readBody(start: number, end: number): void {
    const outerEnd = this.end;
    this.pos = start;
    this.end = end;
    const unused = new WordDraft(start);
    while (this.pos < end) {
      const code = this.peek();
      if (code === is.BACKSLASH) this.pos += 2;
      else if (code === is.DOLLAR || code === is.BACKQUOTE) this.readExpansion(unused, true);
      else this.pos += 1;
      unused.clear();
    }
    this.end = outerEnd;
  }
}
