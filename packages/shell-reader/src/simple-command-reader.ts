import { expandBraces } from './braces.js';
import * as is from './characters.js';
import { HereDocumentReader } from './here-documents.js';
import type { Assignment, Redirect, Word } from './types.js';
import { WordDraft } from './word-draft.js';

/** Words that begin or end a compound command, where a command may begin. */
export const CLOSING = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', 'esac', '}']);
/** Commands whose arguments may be assignments of lists. */
const DECLARING = new Set(['declare', 'typeset', 'local', 'export', 'readonly', 'alias', 'eval', 'let']);
const ASSIGNED_NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=/;
const ENDS_WITH_NAME = /^[^=]*=$/;
const DIGITS = /^[0-9]+$/;
const DESCRIPTOR_VARIABLE = /^\{[A-Za-z_][A-Za-z0-9_]*\}$/;
const DESCRIPTOR_ITEM = /^\{[A-Za-z_][A-Za-z0-9_]*\[.*\}$/s;
/** An item of a list of values with a plain subscript; another may go on behind a blank: `[x ]=1`. */
const PLAIN_SUBSCRIPT = /^\[\d+\]/;
const OPERATORS = ['<<<', '<<-', '<<', '<&', '<>', '<', '>>', '>&', '>|', '>', '&>>', '&>'] as const;

/** Reads simple commands and redirections; compound commands are left to the class that extends it. */
export abstract class SimpleCommandReader extends HereDocumentReader {
  /** Begin of the pipeline whose output the commands read; -1 for none. */
  protected pipeFrom = -1;

  protected abstract functionBody(name: Word): boolean;

  protected skipLines(): void {
    for (this.skipBlanks(); this.peek() === is.NEWLINE; this.skipBlanks()) this.passNewline();
  }

  protected passParentheses(): void {
    this.pos += 1;
    this.skipBlanks();
    if (this.peek() !== is.CLOSE) this.unexpected();
    this.pos += 1;
  }

  /** Reads a simple command whose first word, which may have no length, has been read. Returns false for none. */
  protected simple(start: number, first: Word): boolean {
    const words: Word[] = [];
    const assignments: Assignment[] = [];
    const redirects: Redirect[] = [];
    const documents = this.pendingCount;
    let end = start;
    if (first.end > first.start) {
      if (this.#isDescriptor(first)) redirects.push(this.#redirect(first.start));
      else this.#addWord(first, words, assignments);
      end = this.pos;
      this.skipBlanks();
    }
    for (;;) {
      const code = this.peek();
      if (code === is.OPEN && words.length === 1 && assignments.length === 0 && redirects.length === 0) {
        this.passParentheses();
        return this.functionBody(words[0] as Word);
      }
      if ((code === is.LESS || code === is.GREATER || code === is.AMPERSAND) && this.#atRedirect()) {
        redirects.push(this.#redirect(this.pos));
      } else {
        const word = this.readWord();
        if (word.end === word.start) break;
        if (this.#isDescriptor(word)) redirects.push(this.#redirect(word.start));
        else this.#addWord(word, words, assignments);
      }
      end = this.pos;
      this.skipBlanks();
    }
    if (end === start) return false;
    const command = { start, end, words, assignments, redirects, pipeFrom: this.pipeFrom };
    this.giveDocuments(command, documents);
    this.visitor.command(command);
    return true;
  }

  #addWord(word: Word, words: Word[], assignments: Assignment[]): void {
    const declares = words.length > 0 && word.value.includes('=') && DECLARING.has(words[0]?.value ?? '');
    const name = words.length === 0 || declares ? this.#assignedName(word) : undefined;
    if (name !== undefined && this.peek() === is.OPEN && ENDS_WITH_NAME.test(word.value)) this.#listValue();
    if (name === undefined || declares) {
      for (const each of word instanceof WordDraft ? expandBraces(word) : [word]) words.push(each);
    } else {
      const valueAt = word.value.indexOf('=', this.#subscriptEnd(word, name)) + 1;
      assignments.push({ name, start: word.start, end: this.pos, word, valueAt });
    }
  }

  /** Where the subscript of the assigned variable ends in the value of the word; the end of its name without one. */
  #subscriptEnd({ value, start, end }: Word, name: string): number {
    if (value[name.length] !== '[') return name.length;
    const close = value.indexOf(']', name.length);
    const subscript = value.slice(name.length + 1, close);
    if (!DIGITS.test(subscript)) this.visitor.evaluated(subscript, start, end);
    return close;
  }

  #assignedName(word: Word): string | undefined {
    if (!is.beginsName(this.text.charCodeAt(word.start)) || !word.value.includes('=')) return undefined;
    const name = ASSIGNED_NAME.exec(word.value)?.[1];
    // The name itself must be neither quoted nor an expansion, nor must what follows it be escaped.
    if (name === undefined || !this.text.startsWith(name, word.start)) return undefined;
    return '=+['.includes(this.text.charAt(word.start + name.length)) ? name : undefined;
  }

  /** The value of an assignment in parentheses. */
  #listValue(): void {
    const documents = this.pendingCount;
    for (this.pos += 1; ; ) {
      this.skipLines();
      if (this.pendingCount < documents) this.fail('a list of values contains the lines of a here-document');
      if (this.peek() === is.CLOSE) break;
      const word = this.someWord();
      const isItem = this.text.charCodeAt(word.start) === is.OPEN_BRACKET;
      if (isItem && !PLAIN_SUBSCRIPT.test(word.value)) this.evaluates(word);
    }
    this.pos += 1;
  }

  #isDescriptor(word: Word): boolean {
    const code = this.peek();
    if (code !== is.LESS && code !== is.GREATER) return false;
    if (DESCRIPTOR_ITEM.test(word.value)) this.fail('a descriptor is an item of an array', word.start);
    return !word.quoted && !word.dynamic && (DIGITS.test(word.value) || DESCRIPTOR_VARIABLE.test(word.value));
  }

  #atRedirect(): boolean {
    const next = this.peek(1);
    return this.peek() === is.AMPERSAND ? next === is.GREATER : next !== is.OPEN;
  }

  protected redirects(): void {
    const documents = this.pendingCount;
    for (this.skipBlanks(); ; this.skipBlanks()) {
      const start = this.pos;
      const code = this.peek();
      if (is.isDigit(code) || code === is.OPEN_BRACE) {
        const word = this.readWord();
        if (!this.#isDescriptor(word)) this.unexpected();
      } else if (!((code === is.LESS || code === is.GREATER || code === is.AMPERSAND) && this.#atRedirect()))
        break;
      this.visitor.redirect(this.#redirect(start));
    }
    if (this.pendingCount < documents) this.unexpected();
    const next = this.peek();
    if (next !== -1 && !is.endsWord(next)) this.#afterCompound();
    if (next === is.OPEN) this.unexpected();
  }

  /** After a compound command only a word that closes another may follow. */
  #afterCompound(): void {
    const word = this.readWord();
    if (word.quoted || !CLOSING.has(word.value))
      this.fail(`${JSON.stringify(word.value)} follows a command without a separator`, word.start);
    this.pos = word.start;
  }

  #redirect(start: number): Redirect {
    const operator = this.#operator();
    this.pos += operator.length;
    this.skipBlanks();
    if (operator === '<<' || operator === '<<-')
      return { operator, target: this.readDelimiter(operator), start };
    const target = this.readWord();
    const isNext = this.#isDescriptor(target);
    if (isNext || target.end === target.start)
      this.fail(`the file is missing after ${operator}`, target.start);
    return { operator, target, start };
  }

  #operator(): string {
    const found = OPERATORS.find((operator) => this.text.startsWith(operator, this.pos));
    if (found === undefined) this.unexpected();
    return found;
  }

  /** Reads a word; fails where none begins. */
  protected someWord(missing?: string): Word {
    const word = this.readWord();
    if (word.end > word.start) return word;
    return missing === undefined ? this.unexpected() : this.fail(missing);
  }

  protected unexpected(): never {
    const found = this.peek() === -1 ? 'the end' : JSON.stringify(this.text.slice(this.pos, this.pos + 10));
    this.fail(`${found} is unexpected here`);
  }
}
