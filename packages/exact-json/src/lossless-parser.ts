import {
  JsonNumberError,
  JsonSyntaxError,
  JsonTooDeepError,
  JsonTooLargeError,
  JsonUndecodableError,
} from './json-errors.js';
import { type JsonNumber, readFractional } from './json-number.js';
import type { JsonObject, JsonValue } from './json-value.js';

/** Digits of the longest accepted integer: converting digits to an integer takes quadratic time. */
const MAX_INTEGER_DIGITS = 4_300;

/**
 * Most work for the integers of one text, in squares of their digits: this takes some 40 ms to parse and to
 * print. Integers of less than a hundred digits never reach it in an accepted text.
 */
const MAX_INTEGER_WORK = 200 * MAX_INTEGER_DIGITS ** 2;

/** Words that are values, by their first character; a minus usually precedes digits. */
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

const [TAB, NEWLINE, RETURN, BLANK] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [PLUS, MINUS, POINT, ZERO, NINE, UPPER_E, LOWER_E] = [0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x45, 0x65];

/** Integers of this many digits are exact in a double, intermediate results included. */
const EXACT_DIGITS = 15;

/**
 * Parses one JSON text. Recursion is as deep as the text, at most `maxDepth`. Operates on character codes:
 * after the end of the text they are NaN, which equals none of them.
 */
class LosslessParser {
  private readonly text: string;
  private readonly maxDepth: number;
  private at = 0;
  private integerWork = 0;

  constructor(text: string, maxDepth: number) {
    this.text = text;
    this.maxDepth = maxDepth;
  }

  parse(): JsonValue {
    this.visible();
    const value = this.value(0);
    this.visible();
    if (this.at < this.text.length) this.fail();
    return value;
  }

  private value(depth: number): JsonValue {
    const first = this.text.charCodeAt(this.at);
    if (first === QUOTE) return this.string();
    if (first >= ZERO && first <= NINE) return this.number();
    if (first === OPEN_OBJECT || first === OPEN_LIST) {
      if (depth >= this.maxDepth) throw new JsonTooDeepError(this.maxDepth);
      this.at += 1;
      return first === OPEN_OBJECT ? this.object(depth + 1) : this.list(depth + 1);
    }
    const word = WORDS.get(this.text.charAt(this.at));
    if (word !== undefined && this.text.startsWith(word[0], this.at)) {
      this.at += word[0].length;
      return word[1];
    }
    return this.number();
  }

  private object(depth: number): JsonObject {
    const object: JsonObject = {};
    let next = this.visible();
    if (next === CLOSE_OBJECT) {
      this.at += 1;
      return object;
    }
    for (;;) {
      if (next !== QUOTE) this.fail();
      const key = this.string();
      if (this.visible() !== COLON) this.fail();
      this.at += 1;
      this.visible();
      const value = this.value(depth);
      // Assigning `__proto__` would set the prototype instead of a member.
      if (key === '__proto__') define(object, key, value);
      else object[key] = value;
      next = this.visible();
      if (next !== COMMA && next !== CLOSE_OBJECT) this.fail();
      this.at += 1;
      if (next === CLOSE_OBJECT) return object;
      next = this.visible();
    }
  }

  private list(depth: number): JsonValue[] {
    const list: JsonValue[] = [];
    if (this.visible() === CLOSE_LIST) {
      this.at += 1;
      return list;
    }
    for (;;) {
      list.push(this.value(depth));
      const next = this.visible();
      if (next !== COMMA && next !== CLOSE_LIST) this.fail();
      this.at += 1;
      if (next === CLOSE_LIST) return list;
      this.visible();
    }
  }

  private string(): string {
    const { text } = this;
    const start = this.at;
    let end = start + 1;
    let plain = true;
    for (;;) {
      const code = text.charCodeAt(end);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        plain = false;
        end += 1;
        // An escape at the very end hides the end of the text.
        if (end >= text.length) this.fail(start);
      } else if (!(code >= BLANK)) {
        if (end >= text.length) this.fail(start);
        plain = false;
      }
      end += 1;
    }
    this.at = end + 1;
    if (plain) return text.slice(start + 1, end);
    try {
      return JSON.parse(text.slice(start, this.at)) as string;
    } catch {
      return this.fail(start);
    }
  }

  private number(): JsonNumber {
    const { text } = this;
    const start = this.at;
    const negative = text.charCodeAt(start) === MINUS;
    if (negative) this.at += 1;
    const firstDigit = this.at;
    let integer = 0;
    if (text.charCodeAt(firstDigit) === ZERO) this.at += 1;
    else integer = this.digits();
    const integerEnd = this.at;
    if (text.charCodeAt(this.at) === POINT) {
      this.at += 1;
      this.digits();
    }
    const significandEnd = this.at;
    const mark = text.charCodeAt(this.at);
    if (mark === LOWER_E || mark === UPPER_E) {
      this.at += 1;
      const sign = text.charCodeAt(this.at);
      if (sign === PLUS || sign === MINUS) this.at += 1;
      this.digits();
    }
    if (this.at === integerEnd) {
      if (integerEnd - firstDigit <= EXACT_DIGITS) return negative ? -integer : integer;
      this.integerWork += (integerEnd - firstDigit) ** 2;
      if (integerEnd - firstDigit <= MAX_INTEGER_DIGITS && this.integerWork > MAX_INTEGER_WORK) {
        throw new JsonTooLargeError('JSON has too many integers of hundreds of digits');
      }
      return readInteger(text.slice(start, integerEnd));
    }
    const written = text.slice(start, this.at);
    // The point is one of the characters; the rest is an e and two digits, perhaps with a sign.
    const isExact = significandEnd - firstDigit <= EXACT_DIGITS && this.at - significandEnd <= 3;
    return isExact ? Number(written) : readFractional(written, start);
  }

  /**
   * Reads at least one digit; returns the integer, inexact beyond EXACT_DIGITS. A loop, because a regular
   * expression may overflow the stack on millions of them.
   */
  private digits(): number {
    const { text } = this;
    const start = this.at;
    let at = start;
    let integer = 0;
    for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) {
      integer = integer * 10 + (code - ZERO);
      at += 1;
    }
    this.at = at;
    if (at === start) this.fail();
    return integer;
  }

  /** Skips blanks; returns the code of the next character, NaN at the end. */
  private visible(): number {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== BLANK && code !== NEWLINE && code !== RETURN && code !== TAB) return code;
      this.at += 1;
    }
  }

  private fail(at = this.at): never {
    throw syntaxError(this.text, at);
  }
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

function syntaxError(text: string, at: number): JsonSyntaxError {
  const offset = codePointsBefore(text, at);
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', lineStart)) {
    line += 1;
    lineStart = end + 1;
  }
  return new JsonSyntaxError(offset, line, offset - codePointsBefore(text, lineStart) + 1);
}

function codePointsBefore(text: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1;
  return count;
}

/**
 * Parses JSON without changing any number: an integer beyond 2^53 becomes a bigint, a number that a double
 * cannot represent a Decimal. `NaN` and `Infinity` become null. Up to four times slower than `JSON.parse`,
 * linear in the text. Throws a JsonSyntaxError, a JsonTooDeepError, a JsonTooLargeError, a JsonNumberError on
 * a number beyond the range of a double, or a JsonUndecodableError on an integer of more than 4,300 digits.
 */
export function parseLosslessly(text: string, maxDepth: number): JsonValue {
  try {
    return new LosslessParser(text, maxDepth).parse();
  } catch (error) {
    // The offset in characters is counted only here.
    throw error instanceof JsonNumberError
      ? new JsonNumberError(codePointsBefore(text, error.offset))
      : error;
  }
}
