import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endsAtTextOnly } from '../src/end-anchor.js';
import { compilePattern } from '../src/linear-pattern.js';
import { neverMatches } from '../src/never-matches.js';

describe('a pattern that is found in no text', () => {
  it.each([
    'a^b',
    '$a',
    'a\\Ab',
    '\\za',
    'a\\b\\w',
    '\\w\\b\\w',
    'x\\B ',
    '[^\\s\\S]',
    'ab$c|x^y',
    '(?:a^)+b',
    '^\\b$',
    '(?m)a$b',
    '(?m)a^b',
    ' \\b ',
    'é\\bé',
    '(?i)k^',
    'a$\\n',
    '(?s).^',
  ])('is %s', (pattern) => {
    expect(neverMatches(pattern)).toBe(true);
  });

  it.each([
    '',
    'a',
    '^$',
    '^a$',
    'a|x^y',
    '(?:a^)*b',
    '(?m)a$\\nb',
    '(?m)\\n^b',
    'a\\b ',
    'a\\B\\w',
    '\\Ba',
    'a\\b',
    '\\b\\d{16}\\b',
    '.\\b.',
    '[^a]',
    '(?i)K\\b',
    '$',
    '\\n$',
    '(?i)\\u{0}'.replace('\\u{0}', 'straße'),
  ])('is not %s', (pattern) => {
    expect(neverMatches(pattern)).toBe(false);
  });

  it('may be one that is found in the empty text only, where texts are not empty', () => {
    for (const pattern of ['^$', '\\A\\z', '(?:^$)+']) {
      expect(neverMatches(pattern)).toBe(false);
      expect(neverMatches(pattern, { onlyNonEmptyTexts: true })).toBe(true);
    }
    for (const pattern of ['^', '$', 'a*', '(?m)^$']) {
      expect(neverMatches(pattern, { onlyNonEmptyTexts: true })).toBe(false);
    }
  });

  it('is not reported for a pattern that is too large to decide', () => {
    expect(neverMatches(`${'(?:abc){900}'}^b`)).toBe(false);
  });

  const alphabet = ['a', '_', '\n', ' '];
  const texts = [''];
  for (let length = 1; length <= 4; length += 1) {
    texts.push(
      ...texts
        .filter((text) => text.length === length - 1)
        .flatMap((text) => alphabet.map((one) => text + one)),
    );
  }
  const atom = fc.constantFrom(
    'a',
    '_',
    '\\n',
    ' ',
    '.',
    '^',
    '$',
    '\\b',
    '\\B',
    '\\A',
    '\\z',
    '\\w',
    '\\W',
    '[^a]',
  );
  const { pattern: patterns } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.tuple(atom, atom).map((parts) => parts.join('')),
      atom,
      fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `${left}${right}`),
      fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('?', '*', '+'))
        .map(([inner, times]) => `(?:${inner})${times}`),
      tie('pattern').map((inner) => `(?m:${inner})`),
    ),
  }));

  /** Parts of a pattern that read a character: its shortest match is no longer than their number. */
  const readingParts = (pattern: string) => pattern.match(/\\[nwW]|\[\^a\]|[a_ .]/g)?.length ?? 0;

  it('is found in none of all short texts; every other small one is found in one of them', () => {
    fc.assert(
      fc.property(patterns, (pattern) => {
        const compiled = compilePattern(pattern);
        const found = texts.filter((text) => compiled.test(text));
        if (neverMatches(pattern)) expect(found).toEqual([]);
        if (neverMatches(pattern, { onlyNonEmptyTexts: true })) expect(found.filter(Boolean)).toEqual([]);
        // An assertion may ask for a character on each side of a match.
        if (readingParts(pattern) > 2) return;
        expect(neverMatches(pattern)).toBe(found.length === 0);
        expect(neverMatches(pattern, { onlyNonEmptyTexts: true })).toBe(!found.some(Boolean));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a pattern with a bare end', () => {
  it.each(['^send$', 'a|b$', '(?:x$)', 'a\\z', '$'])('is %s', (pattern) => {
    expect(endsAtTextOnly(pattern)).toBe(true);
  });

  it.each([
    '^send',
    'send\\s*$',
    'send\\n?$',
    '(?s)send.*$',
    '(?m)^send$',
    'send[\\r\\n]*\\z',
    'a\\$',
    '[$]',
    '',
  ])('is not %s', (pattern) => {
    expect(endsAtTextOnly(pattern)).toBe(false);
  });

  it('misses a text with a line break behind one in which it is found', () => {
    expect(compilePattern('^send$').test('send')).toBe(true);
    expect(compilePattern('^send$').test('send\n')).toBe(false);
    expect(compilePattern('^send\\s*$').test('send\n')).toBe(true);
  });
});
