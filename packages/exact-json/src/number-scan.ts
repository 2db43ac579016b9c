import { endOfString } from './json-size.js';

/**
 * What a text must contain for `JSON.parse` to change a number, or to accept one beyond the range of a
 * double: sixteen digits, perhaps with a point, or an exponent of three. Two expressions, because each of
 * them alone skips most of the text.
 */
const MANY_DIGITS = /[0-9][0-9.]{15}/;
const LARGE_EXPONENT = /[eE][+-]?[0-9]{3}/;

const [QUOTE, PLUS, MINUS, POINT, ZERO, NINE, UPPER_E, LOWER_E] = [
  0x22, 0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x45, 0x65,
];

/** Number of digits that any double can hold. */
const HELD_DIGITS = 15;
/** Digits of an exponent that keeps such a number within the range of a double. */
const HELD_EXPONENT_DIGITS = 2;

/**
 * Whether a JSON text may have a number, outside of strings, that `JSON.parse` would change or should reject.
 * False positives only cost time.
 */
export function mayLoseDigits(text: string): boolean {
  if (!MANY_DIGITS.test(text) && !LARGE_EXPONENT.test(text)) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (isDigit(code)) {
      const end = endOfNumber(text, at);
      // A number this short that is out of range has an exponent after its first digits.
      if ((end - at > HELD_DIGITS || hasLargeExponent(text, at, end)) && !isHeld(text.slice(at, end))) {
        return true;
      }
      at = end - 1;
    }
  }
  return false;
}

/** The index after a number or a similar token. */
function endOfNumber(text: string, start: number): number {
  let end = start;
  for (;;) {
    const code = text.charCodeAt(end);
    const continues =
      isDigit(code) ||
      code === POINT ||
      code === LOWER_E ||
      code === UPPER_E ||
      ((code === PLUS || code === MINUS) && isExponentMark(text.charCodeAt(end - 1)));
    if (!continues) return end;
    end += 1;
  }
}

function hasLargeExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (isExponentMark(text.charCodeAt(at))) return end - at > HELD_EXPONENT_DIGITS + 1;
  }
  return false;
}

/** Whether a double holds an unsigned number. False for invalid numbers. */
function isHeld(written: string): boolean {
  const number = Number(written);
  // Doubles are mostly written by software that writes no superfluous digit.
  if (String(number) === written) return !Number.isInteger(number) || Number.isSafeInteger(number);
  const mark = Math.max(written.indexOf('e'), written.indexOf('E'));
  if (mark < 0) return digitsOf(written) <= HELD_DIGITS;
  const exponent = digitsOf(written.slice(mark));
  return digitsOf(written.slice(0, mark)) <= HELD_DIGITS && exponent <= HELD_EXPONENT_DIGITS;
}

function digitsOf(text: string): number {
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) if (isDigit(text.charCodeAt(at))) digits += 1;
  return digits;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function isExponentMark(code: number): boolean {
  return code === LOWER_E || code === UPPER_E;
}
