import { FOLD_RUNS } from './fold-table.js';

const ASCII_ONLY = /^[\0-\x7f]*$/;
/** Characters per call of String.fromCharCode: far below the limit of arguments per call. */
const CHUNK = 8_192;

/** Folded code unit of every code unit; surrogates map to themselves. */
const foldedUnits = Uint16Array.from({ length: 0x10000 }, (_, unit) => unit);
/** Folded code point of the code points beyond U+FFFF that have one. */
const foldedAstral = new Map<number, number>();

for (let at = 0; at + 3 < FOLD_RUNS.length; at += 4) {
  const [first = 0, last = 0, step = 1, distance = 0] = FOLD_RUNS.slice(at, at + 4);
  for (let code = first; code <= last; code += step) {
    if (code < 0x10000) foldedUnits[code] = code + distance;
    else foldedAstral.set(code, code + distance);
  }
}

/** Folded form of a code unit; half of a surrogate pair is unchanged. */
export function foldUnit(unit: number): number {
  return foldedUnits[unit] ?? unit;
}

/**
 * Folded form of the second half of a surrogate pair, given both; folding never changes the first half. For
 * any other two code units the second one is unchanged.
 */
export function foldSecondHalf(first: number, second: number): number {
  if ((first & 0xfc00) !== 0xd800 || (second & 0xfc00) !== 0xdc00) return second;
  const code = 0x10000 + ((first & 0x3ff) << 10) + (second & 0x3ff);
  const folded = foldedAstral.get(code);
  return folded === undefined ? second : 0xdc00 + (folded & 0x3ff);
}

let variantsByFolded: ReadonlyMap<number, readonly number[]> | undefined;

/** All code points, or lone code units, that fold to `folded`, itself included. */
export function caseVariants(folded: number): readonly number[] {
  variantsByFolded ??= groupVariants();
  return variantsByFolded.get(folded) ?? [folded];
}

/** Folded form of a code point. */
export function foldCodePoint(code: number): number {
  return code < 0x10000 ? foldUnit(code) : (foldedAstral.get(code) ?? code);
}

function groupVariants(): ReadonlyMap<number, readonly number[]> {
  const groups = new Map<number, number[]>();
  const add = (code: number, folded: number) => {
    const group = groups.get(folded);
    if (group === undefined) groups.set(folded, [folded, code]);
    else group.push(code);
  };
  foldedUnits.forEach((folded, unit) => {
    if (folded !== unit) add(unit, folded);
  });
  for (const [code, folded] of foldedAstral) add(code, folded);
  return groups;
}

/**
 * Folds case as RE2's `(?i)` does: two texts differ only in case exactly when their folded forms are equal.
 * The folded text has the same length, so that positions in both correspond. Lone surrogates are kept.
 */
export function foldCase(text: string): string {
  if (ASCII_ONLY.test(text)) return text.toLowerCase();
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const code = text.codePointAt(at) ?? unit;
      if (code > 0xffff) {
        const folded = (foldedAstral.get(code) ?? code) - 0x10000;
        units[at] = 0xd800 + (folded >> 10);
        at += 1;
        units[at] = 0xdc00 + (folded & 0x3ff);
        continue;
      }
    }
    units[at] = foldedUnits[unit] ?? unit;
  }
  let folded = '';
  for (let at = 0; at < units.length; at += CHUNK) {
    folded += String.fromCharCode(...units.subarray(at, at + CHUNK));
  }
  return folded;
}
