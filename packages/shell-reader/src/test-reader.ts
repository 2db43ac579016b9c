import * as is from './characters.js';
import { SimpleCommandReader } from './simple-command-reader.js';

const UNARY = /^-[a-zA-Z]$/;
const BINARY = /^(?:=|==|!=|=~|<|>|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef)$/;
/** Operators whose operand is the name of a variable, or whose operands are arithmetic. */
const NAMES = /^-[vR]$/;
const CALCULATES = /^-(?:eq|ne|lt|le|gt|ge)$/;
export const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NUMBER = /^[-+]?\d+$/;

/**
 * Reads `[[ … ]]`. Its words are no commands, but shells without it run what follows `||` in it: anything that is no
 * expression cannot be read.
 */
export abstract class TestReader extends SimpleCommandReader {
  /** Reads the rest, up to and including `]]`. */
  protected readTest(): void {
    let open = 0;
    for (;;) {
      this.skipLines();
      while (this.#passes('!') || this.#passes('(')) {
        if (this.text[this.pos - 1] === '(') open += 1;
        this.skipLines();
      }
      this.#operand();
      for (this.skipLines(); open > 0 && this.peek() === is.CLOSE; this.skipLines()) {
        this.pos += 1;
        open -= 1;
      }
      if (open === 0 && this.#passes(']]')) return;
      if (!this.text.startsWith('&&', this.pos) && !this.text.startsWith('||', this.pos)) this.unexpected();
      this.pos += 2;
    }
  }

  /** One word, an operator with its word, or two words with an operator between them. */
  #operand(): void {
    const first = this.readWord();
    if (first.end === first.start || (first.value === ']]' && !first.quoted)) this.unexpected();
    this.skipLines();
    if (UNARY.test(first.value) && !this.#atEnd()) {
      const second = this.someWord();
      if (NAMES.test(first.value) && !NAME.test(second.value)) this.evaluates(second);
      this.skipLines();
      return;
    }
    if (this.#atEnd()) return;
    const code = this.peek();
    const isComparison = (code === is.LESS || code === is.GREATER) && this.peek(1) !== is.OPEN;
    const operator = isComparison ? '' : this.readWord().value;
    if (isComparison) this.pos += 1;
    else if (!BINARY.test(operator)) this.unexpected();
    this.skipBlanks();
    const start = this.pos;
    this.#pattern();
    if (!CALCULATES.test(operator)) return;
    // Both sides are arithmetic.
    if (!NUMBER.test(first.value)) this.evaluates(first);
    const second = this.text.slice(start, this.pos);
    if (!NUMBER.test(second)) this.visitor.evaluated(second, start, this.pos);
  }

  #atEnd(): boolean {
    const code = this.peek();
    if (code === -1 || code === is.CLOSE || code === is.AMPERSAND || code === is.PIPE) return true;
    return this.text.startsWith(']]', this.pos);
  }

  /** The right side of an operator: a word, or a pattern with parentheses, up to a blank outside them. */
  #pattern(): void {
    const start = this.pos;
    for (let open = 0; ; ) {
      const code = this.peek();
      if (code === is.OPEN) open += 1;
      else if (code === is.CLOSE && open > 0) open -= 1;
      else if (open > 0 && code !== -1 && is.endsWord(code)) {
        if (code === is.SEMICOLON || code === is.AMPERSAND || code === is.NEWLINE) this.unexpected();
      } else if (code === is.PIPE && this.peek(1) !== is.PIPE) {
        // An alternative of a regular expression.
      } else {
        const word = this.readWord();
        if (word.end > word.start) continue;
        if (open > 0 || this.pos === start) this.unexpected();
        return;
      }
      this.pos += 1;
    }
  }

  #passes(word: string): boolean {
    if (!this.text.startsWith(word, this.pos)) return false;
    const next = this.peek(word.length);
    if (word !== '(' && next !== -1 && !is.endsWord(next)) return false;
    this.pos += word.length;
    return true;
  }
}
