import type { Run } from './run.js';

/** Comparisons of characters in the time of one step. */
const COMPARISONS_PER_STEP = 21;
/** Characters that `startsWith` and `endsWith` compare in the time of one step. */
export const PREFIX_CHARACTERS_PER_STEP = 12;
/** Characters that a search of Knuth, Morris and Pratt reads in the time of one step. */
const CHARACTERS_PER_STEP = 2;
/** Product of the lengths up to which the search of the engine, whose time is that product at worst, is fast enough. */
const SMALL_SEARCH = 4_096;

/**
 * Index of `part` in `text` from `from` on; -1 without it. In time linear in both: places where a rare character of the part
 * occurs are tried first, and after too many of them without a match a Knuth–Morris–Pratt search continues.
 */
export function findText(run: Run, text: string, part: string, from = 0): number {
  const length = text.length - from;
  if (part.length === 0) return from <= text.length ? from : -1;
  if (part.length > length) return -1;
  if (part.length === 1) {
    run.spend(1 + length / 32);
    return text.indexOf(part, from);
  }
  if (length * part.length <= SMALL_SEARCH) {
    run.spend(1 + (length * part.length) / COMPARISONS_PER_STEP);
    return text.indexOf(part, from);
  }
  const offset = rarest(part);
  const character = part.charAt(offset);
  const tries = 16 + length / (4 * (part.length + 8));
  run.spend(1 + length / 32);
  let at = from;
  for (let count = 0; count < tries; count += 1) {
    const found = text.indexOf(character, at + offset);
    if (found < 0) return -1;
    at = found - offset;
    run.spend(2 + part.length / PREFIX_CHARACTERS_PER_STEP);
    if (text.startsWith(part, at)) return at;
    at += 1;
  }
  run.spend((text.length - at + part.length) / CHARACTERS_PER_STEP);
  return searchOn(text, part, at);
}

/** Index of the character that is probably the rarest: not a letter, if possible. */
function rarest(part: string): number {
  const length = Math.min(part.length, 32);
  for (let index = 0; index < length; index += 1) {
    const code = part.charCodeAt(index) | 0x20;
    if ((code < 0x61 || code > 0x7a) && code !== 0x20) return index;
  }
  return length - 1;
}

/** The search of D. E. Knuth, J. H. Morris and V. R. Pratt, "Fast pattern matching in strings", 1977. */
function searchOn(text: string, part: string, from: number): number {
  const borders = new Int32Array(part.length);
  for (let index = 1, border = 0; index < part.length; index += 1) {
    while (border > 0 && part.charCodeAt(index) !== part.charCodeAt(border))
      border = borders[border - 1] ?? 0;
    if (part.charCodeAt(index) === part.charCodeAt(border)) border += 1;
    borders[index] = border;
  }
  for (let index = from, matched = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    while (matched > 0 && code !== part.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (code === part.charCodeAt(matched)) matched += 1;
    if (matched === part.length) return index - matched + 1;
  }
  return -1;
}

/** The same from the end: every index counts from there. */
function searchBackwards(text: string, part: string, from: number): number {
  const end = part.length - 1;
  const borders = new Int32Array(part.length);
  for (let index = 1, border = 0; index < part.length; index += 1) {
    const code = part.charCodeAt(end - index);
    while (border > 0 && code !== part.charCodeAt(end - border)) border = borders[border - 1] ?? 0;
    if (code === part.charCodeAt(end - border)) border += 1;
    borders[index] = border;
  }
  for (let index = from, matched = 0; index >= 0; index -= 1) {
    const code = text.charCodeAt(index);
    while (matched > 0 && code !== part.charCodeAt(end - matched)) matched = borders[matched - 1] ?? 0;
    if (code === part.charCodeAt(end - matched)) matched += 1;
    if (matched === part.length) return index;
  }
  return -1;
}

/** Index of the last occurrence of `part` that begins at `last` or before; -1 without one. In linear time. */
export function findLastText(run: Run, text: string, part: string, last: number): number {
  if (text.length * part.length <= SMALL_SEARCH || part.length < 2) {
    run.spend(1 + (text.length * (part.length + 1)) / COMPARISONS_PER_STEP);
    return text.lastIndexOf(part, last);
  }
  run.spend((text.length + part.length) / CHARACTERS_PER_STEP);
  return searchBackwards(text, part, Math.min(last + part.length, text.length) - 1);
}

const SURROGATE = /[\ud800-\udfff]/;

/** Whether a text has characters of two code units. Counts reading it. */
export function hasPairs(run: Run, text: string): boolean {
  run.read(text);
  return SURROGATE.test(text);
}

/** Number of code points. */
export function codePoints(run: Run, text: string): number {
  if (!hasPairs(run, text)) return text.length;
  return text.length - pairsBefore(text, text.length);
}

function pairsBefore(text: string, end: number): number {
  let pairs = 0;
  for (let index = 1; index < end; index += 1) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xdc00) continue;
    if ((text.charCodeAt(index - 1) & 0xfc00) === 0xd800) {
      pairs += 1;
      index += 1;
    }
  }
  return pairs;
}

/** Index in code units of the code point with a number; the length for the number of code points, -1 beyond it. */
export function unitIndex(run: Run, text: string, point: number): number {
  if (point < 0) return -1;
  if (!hasPairs(run, text)) return point <= text.length ? point : -1;
  let index = 0;
  for (let left = point; left > 0; left -= 1) {
    if (index >= text.length) return -1;
    index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  }
  return index;
}

/** Number of the code point at an index in code units; -1 for -1. */
export function pointIndex(run: Run, text: string, index: number): number {
  if (index <= 0) return index;
  return hasPairs(run, text) ? index - pairsBefore(text, index) : index;
}
