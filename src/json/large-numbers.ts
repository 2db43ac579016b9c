import { endOfString } from './json-size.js';

/**
 * What a text must contain for `JSON.parse` to change a number: an integer beyond 2^53 has 16 digits, and a number
 * beyond the largest double 16 digits or an exponent of three. Two expressions, because each of them alone skips most
 * of the text.
 */
const LONG_DIGITS = /[0-9]{16}/;
const LARGE_EXPONENT = /[eE][+]?[0-9]{3}/;

const [QUOTE, POINT, PLUS, ZERO, NINE, UPPER_E, LOWER_E] = [0x22, 0x2e, 0x2b, 0x30, 0x39, 0x45, 0x65];

/**
 * Whether a JSON text may have a number that `JSON.parse` would change: outside of strings an integer part of 16
 * digits, or an exponent of three. False positives cost time only.
 */
export function mayHaveLargeNumbers(text: string): boolean {
  if (!LONG_DIGITS.test(text) && !LARGE_EXPONENT.test(text)) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (isDigit(code)) {
      const end = endOfDigits(text, at);
      if (end - at >= 16 && text.charCodeAt(at - 1) !== POINT) return true;
      at = end - 1;
    } else if (code === LOWER_E || code === UPPER_E) {
      const start = text.charCodeAt(at + 1) === PLUS ? at + 2 : at + 1;
      if (endOfDigits(text, start) - start >= 3) return true;
    }
  }
  return false;
}

function endOfDigits(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
