import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { foldCase } from '../src/fold-case.js';

const LAST_CODE_POINT = 0x10ffff;
const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff;

/** Every code point that has, or might have, a case variant, by what the runtime maps it to. */
function casedGroups(): string[][] {
  const groups = new Map<string, string[]>();
  for (let code = 0; code <= LAST_CODE_POINT; code += 1) {
    if (isSurrogate(code)) continue;
    const character = String.fromCodePoint(code);
    const key = character.toUpperCase().toLowerCase().toUpperCase();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [character]);
    else group.push(character);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

const cased = casedGroups();

describe('foldCase', () => {
  it('makes two characters equal exactly when (?i) of the regex engine does', () => {
    const wrong: string[] = [];
    let equal = 0;
    for (const group of [...cased, ['ß', 'ẞ'], ['İ', 'i', 'I', 'ı']]) {
      for (const left of group) {
        const pattern = RE2JS.compile(`^${RE2JS.quote(left)}$`, RE2JS.CASE_INSENSITIVE);
        for (const right of group) {
          const same = foldCase(left) === foldCase(right);
          if (same && left !== right) equal += 1;
          if (same !== pattern.test(right)) wrong.push(`${left} ${right}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(equal).toBeGreaterThan(2_900);
  });

  it('changes no character that has no case variant', () => {
    const known = new Set([...cased.flat(), 'ß', 'ẞ']);
    const changed: string[] = [];
    for (let code = 0; code <= LAST_CODE_POINT; code += 1) {
      if (isSurrogate(code)) continue;
      const character = String.fromCodePoint(code);
      if (foldCase(character) !== character && !known.has(character)) changed.push(character);
    }
    expect(changed).toEqual([]);
  });

  it.each([
    ['SKY', 'sky'],
    ['\u017fKY', 'sky'],
    ['S\u212aY', 'sky'],
    ['ÄÖ', 'äö'],
    ['\u{10400}', '\u{10428}'],
  ])('folds %s and %s to the same text', (left, right) => {
    expect(foldCase(left)).toBe(foldCase(right));
  });

  it('keeps the length, lone surrogates and NUL', () => {
    const text = '\0A\ud800Ä\udc00\u{1e900}\udbff';
    const folded = foldCase(text);
    expect(folded).toHaveLength(text.length);
    expect(folded.charAt(0)).toBe('\0');
    expect(folded.charCodeAt(2)).toBe(0xd800);
    expect(folded.charCodeAt(4)).toBe(0xdc00);
    expect(folded.charCodeAt(7)).toBe(0xdbff);
  });

  it('folds texts longer than one chunk', () => {
    expect(foldCase('Ä'.repeat(20_000))).toBe(foldCase('ä').repeat(20_000));
  });
});
