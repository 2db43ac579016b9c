import { JsonTooLargeError } from './json-errors.js';

/**
 * Most values of one JSON text, nested ones included; the name of a member counts as one more, because a new
 * name costs more than a small value. Parsing that many takes some 50 ms and blocks the thread; an ordinary
 * JSON text has to be several megabytes long to reach it.
 */
export const MAX_JSON_VALUES = 250_000;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, OPEN_LIST] = [0x7b, 0x5b];

/**
 * Rejects a JSON text of more than MAX_JSON_VALUES values and names with a JsonTooLargeError, before anything
 * is built from it. Empty objects and lists count twice. For invalid JSON it is reliable, and bounds the
 * values, only up to the first mistake.
 */
export function checkSize(text: string): void {
  // There are at least as many commas and opening brackets as values.
  if (text.length < MAX_JSON_VALUES) return;
  let left = MAX_JSON_VALUES - 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === COMMA || code === COLON || code === OPEN_OBJECT || code === OPEN_LIST) {
      left -= 1;
      if (left < 0) throw new JsonTooLargeError(`JSON has more than ${MAX_JSON_VALUES} values and names`);
    }
  }
}

/** Strings up to this length are read by character, which is faster for them than calling `indexOf`. */
const SHORT_STRING = 64;

/** Index of the closing quote of the string that begins at `start`; the end of the text if there is none. */
export function endOfString(text: string, start: number): number {
  const short = Math.min(text.length, start + SHORT_STRING);
  let at = start + 1;
  for (; at < short; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  for (let from = at; ; at += 1) {
    at = text.indexOf('"', at);
    if (at === -1) return text.length;
    if (!isEscaped(text, from, at)) return at;
    from = at + 1;
  }
}

/** Whether an odd number of backslashes stands before a character, where none before `from` belongs to it. */
function isEscaped(text: string, from: number, at: number): boolean {
  let first = at;
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}
