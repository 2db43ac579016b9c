import { JsonTooLargeError } from './json-errors.js';

/**
 * Most values of one JSON text, those inside others included; the name of a member counts as one more, because a new
 * name costs more than a small value. Reading so many takes some 50 ms, during which nothing else runs; a text of
 * ordinary JSON has to be several megabytes long to have as many.
 */
export const MAX_JSON_VALUES = 250_000;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, OPEN_LIST] = [0x7b, 0x5b];

/**
 * Refuses a JSON text of more than MAX_JSON_VALUES values and names with a JsonTooLargeError, before anything is built
 * from it. Empty objects and lists count twice. Of a text that is no JSON it says nothing reliable beyond the first
 * mistake, and bounds the values up to there.
 */
export function checkSize(text: string): void {
  // Commas and opening brackets are as many as values, or more.
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

/** Index of the quote that ends the string that begins at `start`; the end of the text when there is none. */
export function endOfString(text: string, start: number): number {
  // Most strings are short, and without escapes: looking at their characters is quicker than calling `indexOf`.
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}
