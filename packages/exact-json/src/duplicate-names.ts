import { endOfString } from './json-size.js';
import { isContainer, type JsonValue } from './json-value.js';

/** A member that occurs in an object more than once. */
export interface DuplicateName {
  /** Path of the member: names and indexes. */
  readonly path: readonly (string | number)[];
}

const QUOTE = 0x22;
const [TAB, NEW_LINE, RETURN, BLANK] = [0x09, 0x0a, 0x0d, 0x20];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, COMMA, COLON] = [0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x3a];

/** An open object or list. */
interface Level {
  /** Names so far; null for a list. */
  readonly names: Set<string> | null;
  /** Current member name or item index. */
  key: string | number;
  /** Whether the next string is a name. */
  expectsName: boolean;
}

/**
 * Members that occur more than once in the same object of a JSON text, which is lost in a parser that keeps
 * the last one; at most `limit`. The text must be valid JSON. Names are compared unescaped: `"a"` is
 * `"\u0061"`. One pass without recursion.
 */
export function duplicateNames(text: string, limit: number): DuplicateName[] {
  const found: DuplicateName[] = [];
  const levels: Level[] = [];
  let at = 0;
  while (at < text.length && found.length < limit) {
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === QUOTE) {
      const end = endOfString(text, at) + 1;
      if (level?.names != null && level.expectsName) {
        const name = readName(text, at, end);
        if (level.names.has(name)) found.push({ path: [...levels.slice(0, -1).map(({ key }) => key), name] });
        level.names.add(name);
        level.key = name;
      }
      at = end;
      continue;
    }
    if (code === OPEN_OBJECT) levels.push({ names: new Set(), key: '', expectsName: true });
    else if (code === OPEN_LIST) levels.push({ names: null, key: 0, expectsName: false });
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) levels.pop();
    else if (level !== undefined && code === COLON) level.expectsName = false;
    else if (level !== undefined && code === COMMA) {
      if (typeof level.key === 'number') level.key += 1;
      else level.expectsName = true;
    }
    at += 1;
  }
  return found;
}

/**
 * Whether a valid JSON text has a member more than once in an object, where `value` is what a parser that keeps one of
 * them made of it. Compares numbers of members, which is several times faster than comparing their names.
 */
export function hasDuplicateNames(text: string, value: JsonValue): boolean {
  if (!isContainer(value)) return false;
  const members = memberCount(value);
  // Every name is followed by a colon; most texts have no others.
  return colonCount(text, members) !== members && nameCount(text) !== members;
}

/** Number of members of all objects in a value. */
function memberCount(value: JsonValue): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (isContainer(item)) count += memberCount(item);
    return count;
  }
  if (!isContainer(value)) return 0;
  for (const name in value) {
    count += 1;
    const member = value[name] as JsonValue;
    if (isContainer(member)) count += memberCount(member);
  }
  return count;
}

/** Number of colons in a text, those in strings included; stops beyond `enough`. */
function colonCount(text: string, enough: number): number {
  let count = 0;
  for (let at = text.indexOf(':'); at !== -1 && count <= enough; at = text.indexOf(':', at + 1)) count += 1;
  return count;
}

/** Number of names in a valid JSON text, of which repeated ones count each time. */
function nameCount(text: string): number {
  let count = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    let at = endOfString(text, start) + 1;
    while (isBlank(text.charCodeAt(at))) at += 1;
    if (text.charCodeAt(at) === COLON) count += 1;
    start = text.indexOf('"', at);
  }
  return count;
}

function isBlank(code: number): boolean {
  return code === BLANK || code === NEW_LINE || code === RETURN || code === TAB;
}

function readName(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end - 1);
  return written.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : written;
}
