import { JsonSyntaxError } from '../../json/json-errors.js';
import { isContainer, type JsonValue } from '../../json/json-value.js';
import { parseJson } from '../../json/parse-json.js';

/** Longest text that is parsed, in UTF-16 code units: the worst kind of as many takes some 40 ms. */
export const MAX_JSON_TEXT_LENGTH = 400_000;

/** Says that data are no JSON document. */
export const NOT_JSON = Symbol('not JSON');

/**
 * The JSON document that data hold: an object or list as it is, a text parsed. Of duplicate keys the last wins, and a
 * byte order mark is no JSON. Throws on what cannot be told: JSON `null`, a text that is too long or nests too deep,
 * or an integer of more than 4,300 digits.
 */
export function readDocument(data: JsonValue): JsonValue | typeof NOT_JSON {
  if (isContainer(data)) return data;
  if (typeof data !== 'string') return NOT_JSON;
  if (data.length > MAX_JSON_TEXT_LENGTH) {
    throw new Error(`the text has ${data.length} characters, more than ${MAX_JSON_TEXT_LENGTH}`);
  }
  const value = parse(data);
  if (value !== null) return value;
  if (data.trim() === 'null') throw new Error('the text is JSON null');
  // NaN, Infinity and what is too large for a double: all are numbers to the parser of deployed servers.
  return Number.NaN;
}

function parse(text: string): JsonValue | typeof NOT_JSON {
  try {
    // The length bounds the number of values; of a text that is no JSON the number says nothing.
    return parseJson(text, { anySize: true });
  } catch (error) {
    if (error instanceof JsonSyntaxError) return NOT_JSON;
    throw error;
  }
}
