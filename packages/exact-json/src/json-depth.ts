import { JsonTooDeepError, JsonUndecodableError } from './json-errors.js';
import { isContainer, type JsonValue } from './json-value.js';

/** Deepest accepted nesting of objects and lists. Every recursion over JSON relies on it. */
export const MAX_JSON_DEPTH = 200;

/**
 * Deepest nesting of JSON stored by the service itself: free-form JSON of the full depth inside its enclosing
 * members, which are deepest in a condition tree.
 */
export const MAX_STORED_JSON_DEPTH = MAX_JSON_DEPTH + 56;

/** Nesting beyond which a text is treated as undecodable instead of slightly too deep. */
const HOPELESS_JSON_DEPTH = 10_000;

/**
 * Rejects a JSON text that is too deeply nested, before anything is built from it: over `levels` with a
 * JsonTooDeepError, in the ten thousands with a JsonUndecodableError. For invalid JSON it is reliable, and
 * bounds the depth, only up to the first mistake.
 */
export function checkTextDepth(text: string, levels: number): void {
  // A text nests no deeper than its bracket count. Nearly every text ends here, in a fraction of the parse.
  if (openings(text, levels) <= levels) return;
  const depth = depthOfText(text);
  if (depth > HOPELESS_JSON_DEPTH)
    throw new JsonUndecodableError(`the JSON nests deeper than ${HOPELESS_JSON_DEPTH} levels`);
  if (depth > levels) throw new JsonTooDeepError(levels);
}

/** Number of opening brackets in the text, those inside strings included; stops beyond `enough`. */
function openings(text: string, enough: number): number {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > enough) return count;
    }
  }
  return count;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

function depthOfText(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      depth += 1;
      if (depth > deepest) deepest = depth;
      if (deepest > HOPELESS_JSON_DEPTH) return deepest;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1;
  }
  return deepest;
}

/** Whether a value of any depth nests objects and lists deeper than `levels`; `[]` is one level deep. */
export function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (!isContainer(value)) return false;
  if (levels <= 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) if (isDeeperThan(value[key] as JsonValue, levels - 1)) return true;
  return false;
}
