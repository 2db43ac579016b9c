import * as is from './characters.js';
import { CLOSING } from './simple-command-reader.js';
import { NAME, TestReader } from './test-reader.js';
import type { Word } from './types.js';

/** Words that begin a compound command. */
export const OPENING = new Set(['if', 'while', 'until', 'for', 'select', 'case', '{', '[[', 'function']);

/** A subscript in which a command runs, in a text that is none yet. */
const RUNS_IN_SUBSCRIPT = /\[[^\]]*(?:\$\(|`)/;

/** In `((…))`: two operands, or what looks like a flag or a path after the name of a program. */
const MAY_BE_COMMAND = /[\w)\]}"'][ \t\n]+(?:[\w"'$`.~]|--?[A-Za-z]|\/\w)/;

/** Reads compound commands and functions; lists of commands in them, and each command, are left to the commands. */
export abstract class CompoundReader extends TestReader {
  /** Reads commands as long as one begins. Returns how many there are. */
  protected abstract list(): number;

  /** Reads a command. Returns false, at the same position, where none begins. */
  protected abstract command(): boolean;

  protected compound(opening: string): boolean {
    if (opening === 'function') return this.#functionWord();
    if (opening === 'if') this.#condition();
    else if (opening === 'while' || opening === 'until') this.#loop(opening);
    else if (opening === 'for' || opening === 'select') this.#iteration(opening);
    else if (opening === 'case') this.#cases();
    else if (opening === '[[') this.readTest();
    else {
      this.#commands('{');
      this.expectWord('}');
    }
    this.redirects();
    return true;
  }

  #commands(after: string): void {
    if (this.list() === 0) this.fail(`a command is missing after ${after}`);
  }

  protected atCaseEnd(): boolean {
    return this.peek() === is.SEMICOLON && (this.peek(1) === is.SEMICOLON || this.peek(1) === is.AMPERSAND);
  }

  /**
   * Whether a word stands here, without quotes. Words are not read to look at them: those with substitutions would be
   * read twice on each level.
   */
  protected atPlain(word: string): boolean {
    if (!this.text.startsWith(word, this.pos)) return false;
    const next = this.peek(word.length);
    return (
      next === -1 || is.endsWord(next) || (next === is.RETURN && this.peek(word.length + 1) === is.NEWLINE)
    );
  }

  /** `(…)` or `((…))`. */
  protected parenthesis(): boolean {
    const start = this.pos;
    this.pos += 1;
    if (this.peek() === is.OPEN && this.readArithmetic()) {
      if (MAY_BE_COMMAND.test(this.text.slice(start, this.pos))) {
        this.fail('some shells read arithmetic here, and others commands', start);
      }
      this.arithmetic(start + 2, this.pos - 2);
      this.redirects();
      return true;
    }
    this.pos = start + 1;
    this.nested(() => {
      this.#commands('(');
      if (this.peek() !== is.CLOSE) this.unexpected();
      this.pos += 1;
    });
    this.redirects();
    return true;
  }

  #condition(): void {
    this.#commands('if');
    this.expectWord('then');
    this.#commands('then');
    for (;;) {
      const word = this.#closing();
      if (word === 'fi') return;
      if (word === 'elif') {
        this.#commands('elif');
        this.expectWord('then');
        this.#commands('then');
      } else if (word === 'else') {
        this.#commands('else');
        this.expectWord('fi');
        return;
      } else this.unexpected();
    }
  }

  #loop(opening: string): void {
    this.#commands(opening);
    this.expectWord('do');
    this.#commands('do');
    this.expectWord('done');
  }

  #iteration(opening: string): void {
    this.skipBlanks();
    if (opening === 'for' && this.peek() === is.OPEN && this.peek(1) === is.OPEN) {
      this.pos += 1;
      const start = this.pos + 1;
      if (!this.readArithmetic()) this.unexpected();
      this.arithmetic(start, this.pos - 2);
    } else {
      const name = this.readWord();
      if (name.end === name.start || name.dynamic) this.fail('a name of a variable is missing', name.start);
      this.#assigns(name);
      this.skipLines();
      const word = this.readWord();
      if (word.value === 'in' && !word.quoted) this.#wordsOfLine();
      else this.pos = word.start;
    }
    this.skipBlanks();
    if (this.peek() === is.SEMICOLON) this.pos += 1;
    this.skipLines();
    const body = this.#closing('{');
    if (body !== 'do' && body !== '{') this.unexpected();
    this.#commands(body);
    this.expectWord(body === 'do' ? 'done' : '}');
  }

  /** A word that names a variable. */
  #assigns(name: Word): void {
    if (NAME.test(name.value)) this.visitor.assigned(name.value, name.start, name.end);
    else this.evaluates(name);
  }

  #wordsOfLine(): void {
    for (this.skipBlanks(); !is.endsWord(this.peek()) && this.peek() !== -1; this.skipBlanks()) {
      const word = this.readWord();
      // A value that runs something where its variable is calculated with.
      if (RUNS_IN_SUBSCRIPT.test(word.value)) this.evaluates(word);
    }
    if (this.peek() !== is.SEMICOLON && this.peek() !== is.NEWLINE) this.unexpected();
  }

  #cases(): void {
    this.skipBlanks();
    this.someWord('a word is missing after case');
    this.skipLines();
    this.expectWord('in');
    for (;;) {
      this.skipLines();
      if (this.atPlain('esac')) break;
      if (this.peek() === is.OPEN) this.pos += 1;
      this.#patterns();
      this.list();
      this.skipBlanks();
      if (!this.atCaseEnd()) break;
      this.pos += this.peek(1) === is.SEMICOLON && this.peek(2) === is.AMPERSAND ? 3 : 2;
    }
    this.expectWord('esac');
  }

  #patterns(): void {
    for (;;) {
      this.skipBlanks();
      this.someWord();
      this.skipBlanks();
      const code = this.peek();
      this.pos += 1;
      if (code === is.CLOSE) return;
      if (code !== is.PIPE) this.fail('a pattern of case is not closed', this.pos - 1);
    }
  }

  #functionWord(): boolean {
    this.skipBlanks();
    const name = this.someWord('a function has no name');
    this.skipBlanks();
    if (this.peek() === is.OPEN) this.passParentheses();
    return this.functionBody(name);
  }

  protected functionBody(name: Word): boolean {
    this.skipLines();
    const start = this.pos;
    const opening = this.peek() === is.OPEN ? '(' : this.readWord().value;
    this.pos = start;
    if (opening !== '(' && (!OPENING.has(opening) || opening === 'function')) {
      this.fail('a function has no body');
    }
    this.visitor.enterFunction(name.value);
    this.nested(() => this.command());
    this.visitor.leaveFunction(name.start, this.pos);
    return true;
  }

  protected coprocess(): boolean {
    this.skipBlanks();
    const start = this.pos;
    const name = this.readWord();
    this.skipBlanks();
    const isNamed =
      !OPENING.has(name.value) &&
      (this.peek() === is.OPEN || [...OPENING].some((word) => this.atPlain(word)));
    if (name.start < name.end && !isNamed && !OPENING.has(name.value)) this.simple(start, name);
    else {
      if (isNamed) this.#assigns(name);
      else this.pos = start;
      if (!this.nested(() => this.command())) this.unexpected();
    }
    this.visitor.background(start, this.pos);
    return true;
  }

  /** The closing word that the position is at. It is passed. */
  #closing(other?: string): string {
    this.skipBlanks();
    const { value, quoted, start } = this.readWord();
    if (!quoted && (CLOSING.has(value) || value === other)) return value;
    this.pos = start;
    return '';
  }

  protected expectWord(expected: string): void {
    this.skipBlanks();
    const { value, quoted, start } = this.readWord();
    if (value === expected && !quoted) return;
    this.pos = start;
    this.fail(`${expected} is missing`);
  }
}
