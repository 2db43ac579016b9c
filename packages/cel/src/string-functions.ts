import { isMap, mapSize } from './equality.js';
import type { Run } from './run.js';
import { define, type FunctionDefinition } from './signatures.js';
import {
  codePoints,
  findLastText,
  findText,
  hasPairs,
  PREFIX_CHARACTERS_PER_STEP,
  pointIndex,
  unitIndex,
} from './text-search.js';
import { CelBytes, Fault, type Value } from './values.js';

const OUT_OF_RANGE = new Fault('the index is out of range');
/** White space of Unicode, which `trim` removes. */
const EDGE_SPACE = new Set([
  ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
  ...Array.from({ length: 11 }, (_, index) => 0x2000 + index),
]);
const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

export const STRING_FUNCTIONS: readonly FunctionDefinition[] = [
  define('string.contains(string): bool', 'Whether the text contains another.', (run, text, part) => {
    if (typeof text !== 'string' || typeof part !== 'string') return undefined;
    return findText(run, text, part) >= 0;
  }),
  define('string.startsWith(string): bool', 'Whether the text begins with another.', (run, text, part) => {
    if (typeof text !== 'string' || typeof part !== 'string') return undefined;
    run.spend(1 + part.length / PREFIX_CHARACTERS_PER_STEP);
    return text.startsWith(part);
  }),
  define('string.endsWith(string): bool', 'Whether the text ends with another.', (run, text, part) => {
    if (typeof text !== 'string' || typeof part !== 'string') return undefined;
    run.spend(1 + part.length / PREFIX_CHARACTERS_PER_STEP);
    return text.endsWith(part);
  }),
  define('string.charAt(int): string', 'The character at an index; empty at the end.', (run, text, index) => {
    if (typeof text !== 'string' || !isIndex(index)) return undefined;
    const at = unitIndex(run, text, index);
    return at < 0 ? OUT_OF_RANGE : String.fromCodePoint(...pointAt(text, at));
  }),
  define(
    ['string.indexOf(string): int', 'string.indexOf(string, int): int'],
    'Index of the first occurrence of a text, from an index on; -1 without one.',
    (run, text, part, from) => {
      if (typeof text !== 'string' || typeof part !== 'string') return undefined;
      if (from === undefined) return pointIndex(run, text, findText(run, text, part));
      if (!isIndex(from)) return undefined;
      const start = unitIndex(run, text, from);
      return start < 0 ? OUT_OF_RANGE : pointIndex(run, text, findText(run, text, part, start));
    },
  ),
  define(
    ['string.lastIndexOf(string): int', 'string.lastIndexOf(string, int): int'],
    'Index of the last occurrence of a text that begins at an index or before; -1 without one.',
    (run, text, part, from) => {
      if (typeof text !== 'string' || typeof part !== 'string') return undefined;
      if (from !== undefined && !isIndex(from)) return undefined;
      const start = from === undefined ? text.length : unitIndex(run, text, from);
      if (start < 0) return OUT_OF_RANGE;
      return pointIndex(run, text, findLastText(run, text, part, start));
    },
  ),
  define('string.lowerAscii(): string', 'The text with the letters A to Z in lower case.', (run, text) => {
    if (typeof text !== 'string') return undefined;
    run.makeText(text.length);
    return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  }),
  define('string.upperAscii(): string', 'The text with the letters a to z in upper case.', (run, text) => {
    if (typeof text !== 'string') return undefined;
    run.makeText(text.length);
    return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
  }),
  define(
    ['string.replace(string, string): string', 'string.replace(string, string, int): string'],
    'The text with occurrences of the first text replaced by the second, at most a number of times.',
    (run, text, part, other, limit) => {
      if (typeof text !== 'string' || typeof part !== 'string' || typeof other !== 'string') return undefined;
      if (limit !== undefined && !isIndex(limit)) return undefined;
      return pieces(run, text, part, limit === undefined || limit < 0 ? Infinity : limit + 1, other).join(
        other,
      );
    },
  ),
  define(
    ['string.split(string): list<string>', 'string.split(string, int): list<string>'],
    'The parts of the text between occurrences of a text, at most a number of them.',
    (run, text, part, limit) => {
      if (typeof text !== 'string' || typeof part !== 'string') return undefined;
      if (limit !== undefined && !isIndex(limit)) return undefined;
      if (limit === 0) return [];
      return pieces(run, text, part, limit === undefined || limit < 0 ? Infinity : limit, null);
    },
  ),
  define(
    ['string.substring(int): string', 'string.substring(int, int): string'],
    'The text from an index on, up to before another.',
    (run, text, from, to) => {
      if (typeof text !== 'string' || !isIndex(from) || (to !== undefined && !isIndex(to))) return undefined;
      const start = unitIndex(run, text, from);
      const end = to === undefined ? text.length : unitIndex(run, text, to);
      if (start < 0 || end < 0 || start > end) return OUT_OF_RANGE;
      run.makeText(end - start);
      return text.slice(start, end);
    },
  ),
  define('string.trim(): string', 'The text without white space at both ends.', (run, text) => {
    if (typeof text !== 'string') return undefined;
    let start = 0;
    let end = text.length;
    while (start < end && EDGE_SPACE.has(text.charCodeAt(start))) start += 1;
    while (end > start && EDGE_SPACE.has(text.charCodeAt(end - 1))) end -= 1;
    run.spend((start + text.length - end) / 2);
    run.makeText(end - start);
    return text.slice(start, end);
  }),
  define('string.reverse(): string', 'The characters of the text in reverse order.', (run, text) => {
    if (typeof text !== 'string') return undefined;
    run.makeText(text.length);
    run.spend(text.length);
    return [...text].reverse().join('');
  }),
  define(
    ['list<string>.join(): string', 'list<string>.join(string): string'],
    'The texts of a list as one, with a text between them.',
    (run, list, between) => {
      if (!Array.isArray(list) || (between !== undefined && typeof between !== 'string')) return undefined;
      let length = 0;
      run.spend(list.length);
      for (const item of list as readonly Value[]) {
        if (typeof item !== 'string') return undefined;
        length += item.length + (between?.length ?? 0);
      }
      run.makeText(length);
      return list.join(between ?? '');
    },
  ),
  define('strings::quote(string): string', 'The text in quotes, with escapes, for logs.', (run, text) => {
    if (typeof text !== 'string') return undefined;
    run.makeText(text.length * 2);
    const sound = hasPairs(run, text) ? text.toWellFormed() : text;
    return `"${[...sound].map((character) => ESCAPES[character] ?? character).join('')}"`;
  }),
  define(
    ['size(string): int', 'size(bytes): int', 'size(list): int', 'size(map): int'],
    'Number of characters, bytes, items or members.',
    sizeOf,
  ),
  define(
    ['string.size(): int', 'bytes.size(): int', 'list.size(): int', 'map.size(): int'],
    'Number of characters, bytes, items or members.',
    sizeOf,
  ),
];

function sizeOf(run: Run, value: Value): Value | undefined {
  if (typeof value === 'string') return codePoints(run, value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof CelBytes) return value.bytes.length;
  return isMap(value) ? mapSize(run, value) : undefined;
}

/** An index or a number of times: a whole number. Ones beyond exact doubles are out of every range all the same. */
export function isIndex(value: Value | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}

function pointAt(text: string, at: number): number[] {
  const point = text.codePointAt(at);
  return point === undefined ? [] : [point];
}

/**
 * The pieces between occurrences of `part`, at most `most`. `other` is what will be put between them; null to split. An empty
 * part occurs between characters, and to be replaced also at both ends.
 */
function pieces(run: Run, text: string, part: string, most: number, other: string | null): string[] {
  const found: string[] = [];
  let from = 0;
  while (found.length + 1 < most) {
    const isFirst = found.length === 0;
    const next = part === '' ? nextGap(text, from, other !== null, isFirst) : findText(run, text, part, from);
    if (next < 0) break;
    run.makeItems(1);
    run.makeText(next - from + (other?.length ?? 0));
    found.push(text.slice(from, next));
    from = next + part.length;
  }
  run.makeText(text.length - from);
  found.push(text.slice(from));
  return found;
}

function nextGap(text: string, from: number, withEnds: boolean, isFirst: boolean): number {
  if (withEnds && isFirst) return 0;
  const point = text.codePointAt(from);
  if (point === undefined) return -1;
  const next = from + (point > 0xffff ? 2 : 1);
  return withEnds || next < text.length ? next : -1;
}
