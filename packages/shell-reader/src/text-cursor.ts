import { BACKSLASH, HASH, NEWLINE, RETURN, SPACE, TAB } from './characters.js';
import { Unreadable } from './types.js';

/** Deepest nesting of groups, substitutions and expansions. The recursion of the reader is as deep. */
const MAX_DEPTH = 100;
/** Most texts that are read a second time, because what began as arithmetic is none. */
const MAX_RETRIES = 8;

/** A position in a text, of which the part before `end` is read. */
export class TextCursor {
  protected pos: number;
  protected end: number;
  protected depth: number;
  #retries = 0;

  constructor(
    protected readonly text: string,
    start: number,
    end: number,
    depth: number,
  ) {
    this.pos = start;
    this.end = end;
    this.depth = depth;
  }

  /** The character at the position, or one that far after it; -1 at the end. */
  protected peek(ahead = 0): number {
    const at = this.pos + ahead;
    return at < this.end ? this.text.charCodeAt(at) : -1;
  }

  /** Passes blanks, comments and lines that are continued. */
  protected skipBlanks(): void {
    for (;;) {
      const code = this.peek();
      if (code === SPACE || code === TAB) this.pos += 1;
      else if (code === BACKSLASH && this.peek(1) === NEWLINE) this.pos += 2;
      else if (code === RETURN && this.peek(1) === NEWLINE) this.pos += 1;
      else if (code === HASH) this.#skipComment();
      else return;
    }
  }

  #skipComment(): void {
    // No search by indexOf: it would pass the end of a backquoted command, again for each of them.
    while (this.pos < this.end && this.peek() !== NEWLINE) this.pos += 1;
  }

  /** Runs `read` one level deeper. */
  protected nested<T>(read: () => T): T {
    if (this.depth >= MAX_DEPTH) this.fail(`it nests deeper than ${MAX_DEPTH} levels`);
    this.depth += 1;
    const result = read();
    this.depth -= 1;
    return result;
  }

  /** Returns to a position, to read what follows in another way. */
  protected retry(pos: number): void {
    this.#retries += 1;
    if (this.#retries > MAX_RETRIES) this.fail('too much of it can be read in two ways');
    this.pos = pos;
  }

  protected fail(message: string, at = this.pos): never {
    throw new Unreadable(message, at);
  }
}
