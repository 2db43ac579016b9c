/** A member that occurs in an object more than once. */
export interface DuplicateName {
  /** Path of the member: names and indexes. */
  readonly path: readonly (string | number)[];
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
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
      const end = endOfString(text, at);
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

/** Index after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    at += code === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

function readName(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end - 1);
  return written.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : written;
}
