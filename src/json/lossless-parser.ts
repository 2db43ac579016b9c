import { JsonSyntaxError, JsonTooDeepError, JsonUndecodableError } from './json-errors.js';
import type { JsonObject, JsonValue } from './json-value.js';

/** Digits of the longest integer that is read: turning digits into an integer costs their square. */
const MAX_INTEGER_DIGITS = 4_300;

/** Words that are values, by their first character; a minus is followed by digits far more often. */
const WORDS: ReadonlyMap<string, readonly [string, JsonValue]> = new Map<
  string,
  readonly [string, JsonValue]
>([
  ['t', ['true', true]],
  ['f', ['false', false]],
  ['n', ['null', null]],
  ['N', ['NaN', null]],
  ['I', ['Infinity', null]],
  ['-', ['-Infinity', null]],
]);

const NO_WORD = ['', null] as const;

/** Reads one JSON text. Recursion is as deep as the text, at most `maxDepth`. */
class LosslessParser {
  private readonly text: string;
  private readonly maxDepth: number;
  private at = 0;

  constructor(text: string, maxDepth: number) {
    this.text = text;
    this.maxDepth = maxDepth;
  }

  parse(): JsonValue {
    this.skipBlanks();
    const value = this.value(0);
    this.skipBlanks();
    if (this.at < this.text.length) this.fail();
    return value;
  }

  private value(depth: number): JsonValue {
    const first = this.text[this.at];
    if (first === '"') return this.string();
    if (first === '{' || first === '[') {
      if (depth >= this.maxDepth) throw new JsonTooDeepError(this.maxDepth);
      this.at += 1;
      return first === '{' ? this.object(depth + 1) : this.list(depth + 1);
    }
    const [word, value] = WORDS.get(first ?? '') ?? NO_WORD;
    if (word !== '' && this.text.startsWith(word, this.at)) {
      this.at += word.length;
      return value;
    }
    return this.number();
  }

  private object(depth: number): JsonObject {
    const object: JsonObject = {};
    this.skipBlanks();
    if (this.skip('}')) return object;
    for (;;) {
      if (this.text[this.at] !== '"') this.fail();
      const key = this.string();
      this.skipBlanks();
      if (!this.skip(':')) this.fail();
      this.skipBlanks();
      const value = this.value(depth);
      // Assigning `__proto__` would set the prototype instead of a member.
      if (key === '__proto__') define(object, key, value);
      else object[key] = value;
      this.skipBlanks();
      if (this.skip('}')) return object;
      if (!this.skip(',')) this.fail();
      this.skipBlanks();
    }
  }

  private list(depth: number): JsonValue[] {
    const list: JsonValue[] = [];
    this.skipBlanks();
    if (this.skip(']')) return list;
    for (;;) {
      list.push(this.value(depth));
      this.skipBlanks();
      if (this.skip(']')) return list;
      if (!this.skip(',')) this.fail();
      this.skipBlanks();
    }
  }

  private string(): string {
    const start = this.at;
    let end = start + 1;
    for (; this.text[end] !== '"'; end += 1) {
      if (end >= this.text.length) this.fail(start);
      if (this.text[end] === '\\') end += 1;
    }
    this.at = end + 1;
    try {
      return JSON.parse(this.text.slice(start, this.at)) as string;
    } catch {
      return this.fail(start);
    }
  }

  private number(): number | bigint | null {
    const start = this.at;
    this.skip('-');
    if (!this.skip('0')) this.digits();
    const integerEnd = this.at;
    if (this.skip('.')) this.digits();
    if (this.skip('e') || this.skip('E')) {
      if (!this.skip('+')) this.skip('-');
      this.digits();
    }
    const written = this.text.slice(start, this.at);
    if (this.at === integerEnd) return readInteger(written);
    const number = Number(written);
    return Number.isFinite(number) ? number : null;
  }

  /** At least one digit. A loop, because a regular expression may run out of stack on millions of them. */
  private digits(): void {
    const start = this.at;
    while (isDigit(this.text.charCodeAt(this.at))) this.at += 1;
    if (this.at === start) this.fail();
  }

  private skip(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private skipBlanks(): void {
    for (;;) {
      const character = this.text[this.at];
      if (character !== ' ' && character !== '\n' && character !== '\r' && character !== '\t') return;
      this.at += 1;
    }
  }

  private fail(at = this.at): never {
    throw new JsonSyntaxError(codePointsBefore(this.text, at));
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function readInteger(written: string): number | bigint {
  const digits = written.startsWith('-') ? written.length - 1 : written.length;
  if (digits > MAX_INTEGER_DIGITS) {
    throw new JsonUndecodableError(`an integer has more than ${MAX_INTEGER_DIGITS} digits`);
  }
  const number = Number(written);
  return Number.isSafeInteger(number) ? number : BigInt(written);
}

function define(object: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function codePointsBefore(text: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1;
  return count;
}

/**
 * Reads JSON without changing any number: an integer beyond 2^53 becomes a bigint. `NaN`, `Infinity` and a number
 * too large for a double read as null. Several times slower than `JSON.parse`, linear in the text. Throws a
 * JsonSyntaxError, a JsonTooDeepError, or a JsonUndecodableError on an integer of more than 4,300 digits.
 */
export function parseLosslessly(text: string, maxDepth: number): JsonValue {
  return new LosslessParser(text, maxDepth).parse();
}
