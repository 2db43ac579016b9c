import { JsonTooDeepError, JsonUndecodableError } from './json-errors.js';
import { isContainer, type JsonValue } from './json-value.js';

/** Deepest nesting of objects and lists that the service takes. Every recursion over JSON relies on it. */
export const MAX_JSON_DEPTH = 200;

/**
 * Deepest nesting of what the service itself stored: free-form JSON of the full depth inside the members around it,
 * of which a condition tree has the most.
 */
export const MAX_STORED_JSON_DEPTH = MAX_JSON_DEPTH + 56;

/** Nesting beyond which a text is a bomb rather than data that is a little too deep. */
const HOPELESS_JSON_DEPTH = 10_000;

/**
 * Refuses a JSON text that nests too deep, before anything is built from it: over `levels` with a JsonTooDeepError,
 * in the ten thousands with a JsonUndecodableError. Of a text that is no JSON it says nothing reliable beyond the
 * first mistake, and bounds the depth up to there.
 */
export function checkTextDepth(text: string, levels: number): void {
  // A text cannot nest deeper than it has brackets. Nearly every text passes here, in a fraction of the parse.
  if (openings(text, levels) <= levels) return;
  const depth = depthOfText(text);
  if (depth > HOPELESS_JSON_DEPTH) throw new JsonUndecodableError('the JSON nests hopelessly deep');
  if (depth > levels) throw new JsonTooDeepError(levels);
}

/** Opening brackets in the text, those inside strings included; stops counting once there are more than `enough`. */
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

/** Whether objects and lists nest deeper than `levels` in a value of any depth; `[]` is one level deep. */
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
