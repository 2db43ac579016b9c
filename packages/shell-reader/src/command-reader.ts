import * as is from './characters.js';
import { CompoundReader, OPENING } from './compound-reader.js';
import { CLOSING } from './simple-command-reader.js';
import { type Problem, type ShellVisitor, Unreadable } from './types.js';

/**
 * Reads the commands of a shell: POSIX.1-2024, Shell Command Language, with the usual extensions of bash. Runs nothing, in
 * time linear in the length of the text. Tells the visitor what it finds; returns why the rest cannot be read, or undefined.
 * A text that shells read in different ways cannot be read. Never throws, unless the visitor does.
 */
export const readShell = (text: string, visitor: ShellVisitor): Problem | undefined =>
  read(text, visitor, 'readAll');

/** Reads only the expansions in a text, as a shell does with arithmetic, subscripts and prompts. */
export const readExpansions = (text: string, visitor: ShellVisitor): Problem | undefined =>
  read(text, visitor, 'readExpansions');

function read(text: string, visitor: ShellVisitor, how: 'readAll' | 'readExpansions'): Problem | undefined {
  // No shell can be given this character, and values of words use it.
  const nothing = text.indexOf('\0');
  if (nothing >= 0) return { message: 'it contains a null character', at: nothing };
  try {
    new CommandReader(visitor, text, 0, text.length, 0)[how]();
    return undefined;
  } catch (error) {
    if (error instanceof Unreadable) return { message: error.message, at: error.at };
    throw error;
  }
}

/** Reads the commands of a text: grammar of POSIX (2.10) with the usual extensions of bash. */
class CommandReader extends CompoundReader {
  /** Reads the whole text. */
  readAll(): void {
    this.withOwnDocuments(() => {
      this.list();
      if (this.pos < this.end) this.unexpected();
    });
  }

  /** Reads the whole text as one in which only expansions have a meaning. */
  readExpansions(): void {
    this.readBody(this.pos, this.end);
  }

  protected commandsUntil(close: number): void {
    this.withOwnDocuments(() => {
      this.list();
      if (close === is.CLOSE_BRACE) this.expectWord('}');
      else if (this.peek() !== close) this.unexpected();
      else if (close !== -1) this.pos += 1;
    });
  }

  protected override list(): number {
    let count = 0;
    for (;;) {
      this.skipLines();
      const start = this.pos;
      if (!this.#andOr()) return count;
      count += 1;
      this.skipBlanks();
      const code = this.peek();
      if (code === is.AMPERSAND) {
        this.pos += 1;
        this.visitor.background(start, this.pos);
      } else if (code === is.SEMICOLON && !this.atCaseEnd()) this.pos += 1;
      else if (code !== is.NEWLINE) return count;
    }
  }

  /** Returns false, at the same position, where no command begins. */
  #andOr(): boolean {
    if (!this.#pipeline()) return false;
    for (;;) {
      this.skipBlanks();
      const code = this.peek();
      if ((code !== is.AMPERSAND && code !== is.PIPE) || this.peek(1) !== code) return true;
      this.pos += 2;
      this.skipLines();
      if (!this.#pipeline()) this.unexpected();
    }
  }

  #pipeline(): boolean {
    const start = this.pos;
    const outer = this.pipeFrom;
    const prefixed = this.#pipelinePrefixes();
    if (!this.command()) {
      if (prefixed && this.#atEndOfCommand()) return true;
      if (prefixed) this.unexpected();
      return false;
    }
    for (;;) {
      this.skipBlanks();
      if (this.peek() !== is.PIPE || this.peek(1) === is.PIPE) break;
      this.pos += this.peek(1) === is.AMPERSAND ? 2 : 1;
      this.skipLines();
      this.pipeFrom = start;
      if (!this.command()) this.unexpected();
    }
    this.pipeFrom = outer;
    return true;
  }

  /** Passes `!` and `time`. */
  #pipelinePrefixes(): boolean {
    let found = false;
    for (;;) {
      const isTime = this.atPlain('time');
      if (!isTime && !this.atPlain('!')) return found;
      found = true;
      this.#pass(isTime ? 'time' : '!');
      for (const option of isTime ? ['-p', '--'] : []) {
        if (this.atPlain(option)) this.#pass(option);
      }
    }
  }

  #pass(word: string): void {
    this.pos += word.length;
    this.skipBlanks();
  }

  #atEndOfCommand(): boolean {
    const code = this.peek();
    return code === -1 || code === is.NEWLINE || code === is.SEMICOLON;
  }

  protected override command(): boolean {
    const start = this.pos;
    if (this.peek() === is.OPEN) return this.parenthesis();
    const word = this.readWord();
    if (!word.quoted && !word.dynamic) {
      if (CLOSING.has(word.value)) {
        this.pos = start;
        return false;
      }
      if (OPENING.has(word.value)) return this.nested(() => this.compound(word.value));
      if (word.value === 'coproc') return this.coprocess();
      if (word.value === 'in' || word.value === '!') this.fail(`${word.value} is no command`, start);
    }
    return this.simple(start, word);
  }
}
