import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { foldCase } from '../src/fold-case.js';
import { containsAny, MAX_LITERALS, requiredLiterals } from '../src/required-literals.js';

describe('requiredLiterals', () => {
  it.each<[string, readonly string[]]>([
    ['needle', ['needle']],
    ['foo.*barbar', ['barbar']],
    ['foobar.*bar', ['foobar']],
    ['ab(c.d)ef', ['ab']],
    ['a(b.*)efg', ['efg']],
    ['ab(.c)def', ['def']],
    ['x(yz.)w', ['yz']],
    ['(?i)Pass\u017fword', ['passsword']],
    ['(?i)\u212aELVIN', ['kelvin']],
    ['(?i:AB)CD', ['abcd']],
    ['^\\bfoo\\b$', ['foo']],
    ['(?m)^foo$', ['foo']],
    ['\\Qa.b\\E', ['a.b']],
    ['\\x{41}bc\\x44', ['abcd']],
    ['colou?r', ['color', 'colour']],
    ['(?:foo|bar)+', ['foo', 'bar']],
    ['(?:foo|far|baz)x', ['foox', 'farx', 'bazx']],
    ['[ab]cd', ['acd', 'bcd']],
    ['[aA]cd', ['acd']],
    ['(?i)[st]op', ['sop', 'top']],
    ['a{3,5}b', ['aaab']],
    ['(abc){2,}', ['abc']],
    ['[\\w.+-]+@[\\w-]+\\.[\\w.-]+', ['@']],
    ['AKIA[0-9A-Z]{16}', ['akia']],
    ['foo(?:bar|[^x]z)', ['foo']],
    ['(?:foo.|bar*|ba+z)quux', ['quux']],
    ['(?i)\\x{10428}\\x{10429}', ['\u{10400}\u{10401}']],
  ])('knows for %s the literals %o', (pattern, expected) => {
    expect([...(requiredLiterals(pattern, false) ?? [])].sort()).toEqual([...expected].sort());
  });

  it.each([
    '',
    'a',
    'a|b',
    '.*',
    '\\d+',
    '(?:foo)?',
    '(?:foo)*',
    'foo|',
    'foo|.*',
    '(?:foo){0,3}',
    '[^a]',
    '\\pL\\pN',
    '\\x{d83d}\\x{de00}',
    '\\x{d83d}',
    '[\\x{d83d}x]yz?',
    '[^\\x00-\\x{10ffff}]',
    '^$',
    '\\b',
  ])('knows nothing of use for %j', (pattern) => {
    expect(requiredLiterals(pattern, false)).toBeNull();
  });

  it('folds the literals of a case-sensitive pattern as those of another', () => {
    expect(requiredLiterals('SECRET', false)).toEqual(['secret']);
    expect(requiredLiterals('SECRET', true)).toEqual(['secret']);
  });

  it('finds the words of a list up to a limit', () => {
    const words = (count: number) =>
      Array.from(
        { length: count },
        (_, index) => `${String.fromCodePoint(0x4e00 + index)}${String.fromCodePoint(0x5e00 + index)}x`,
      ).join('|');
    expect(requiredLiterals(words(MAX_LITERALS), false)).toHaveLength(MAX_LITERALS);
    expect(requiredLiterals(words(MAX_LITERALS + 1), false)).toBeNull();
  });

  it('gives up on patterns that are too deep instead of failing', () => {
    expect(requiredLiterals('(?:abc){0,1000}', false)).toBeNull();
    expect(requiredLiterals(`${'(a'.repeat(300)}${')'.repeat(300)}xyz`, false)).toEqual(['xyz']);
  });

  it('cuts long literals between characters', () => {
    for (const text of ['x'.repeat(1_000), '\u{10400}'.repeat(40), `a${'\u{10428}'.repeat(40)}`]) {
      const literals = requiredLiterals(RE2JS.quote(text), false) ?? [];
      expect(literals).toHaveLength(1);
      expect(literals[0]?.isWellFormed()).toBe(true);
      expect(literals[0]?.length).toBeGreaterThan(30);
      expect(containsAny(foldCase(`..${text}..`), literals)).toBe(true);
    }
  });
});
