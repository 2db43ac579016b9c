/**
 * A number that a double cannot represent as written, other than an integer written in full. Immutable: only
 * its text is stored, which `stringifyJson` prints.
 */
export class Decimal {
  readonly #text: string;
  /** Whether it is whole: true for large integers written with an exponent. */
  readonly isInteger: boolean;

  /** @param parts from which `textOfParts` makes the text shared by equal numbers */
  constructor(parts: DecimalParts) {
    this.#text = textOfParts(parts);
    this.isInteger = isWhole(parts);
  }

  toString(): string {
    return this.#text;
  }

  /** The nearest double. */
  toNumber(): number {
    return Number(this.#text);
  }

  /** Prevents printers of plain JSON from treating it as an empty object. */
  toJSON(): never {
    throw new TypeError('a decimal number is printed by stringifyJson only');
  }
}

/** A number as its decimal digits. */
export interface DecimalParts {
  readonly negative: boolean;
  /** Without zeros at either end; empty for 0. */
  readonly digits: string;
  /** Position of the decimal point from the first digit: 12.5 has 2, 0.05 has -1. */
  readonly point: number;
}

const ZERO = 0x30;

/**
 * The digits of a number in JSON or JavaScript notation. Without a regular expression, which may overflow the
 * stack on millions of digits.
 */
export function partsOf(written: string): DecimalParts {
  const mark = Math.max(written.indexOf('e'), written.indexOf('E'));
  const negative = written.startsWith('-');
  const significand = written.slice(negative ? 1 : 0, mark < 0 ? written.length : mark);
  const dot = significand.indexOf('.');
  const whole = dot < 0 ? significand.length : dot;
  const all = dot < 0 ? significand : significand.slice(0, dot) + significand.slice(dot + 1);
  let start = 0;
  while (all.charCodeAt(start) === ZERO) start += 1;
  if (start === all.length) return { negative: false, digits: '', point: 0 };
  let end = all.length;
  while (all.charCodeAt(end - 1) === ZERO) end -= 1;
  const exponent = mark < 0 ? 0 : Number(written.slice(mark + 1));
  return { negative, digits: all.slice(start, end), point: whole - start + exponent };
}

/** Whether two numbers of the same sign are equal. */
export function areSameDigits(left: DecimalParts, right: DecimalParts): boolean {
  return left.point === right.point && left.digits === right.digits;
}

export function isWhole({ digits, point }: DecimalParts): boolean {
  return point >= digits.length;
}

/** Most digits of an integer that JavaScript prints without an exponent. */
const MAX_WRITTEN_OUT = 21;
/** Most zeros that JavaScript prints between the point and the first digit. */
const MAX_LEADING_ZEROS = 5;

/** Whether a number is written without an exponent: if this takes hardly more characters than digits. */
export function isWrittenOut({ digits, point }: DecimalParts): boolean {
  return point >= -MAX_LEADING_ZEROS && point <= Math.max(MAX_WRITTEN_OUT, digits.length);
}

/** The text of a number, in the notation of JavaScript. */
export function textOfParts(parts: DecimalParts): string {
  const { negative, digits, point } = parts;
  const sign = negative ? '-' : '';
  if (digits === '') return '0';
  if (!isWrittenOut(parts)) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${sign}${digits.charAt(0)}${rest}e${point > 0 ? '+' : '-'}${Math.abs(point - 1)}`;
  }
  if (isWhole(parts)) return `${sign}${digits}${'0'.repeat(point - digits.length)}`;
  if (point > 0) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
  return `${sign}0.${'0'.repeat(-point)}${digits}`;
}
