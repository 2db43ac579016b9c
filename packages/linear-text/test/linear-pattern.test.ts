import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { SearchTooCostly } from '../src/lazy-dfa.js';
import { compilePattern, MAX_PATTERN_LENGTH } from '../src/linear-pattern.js';
import { estimateCost } from '../src/pattern-cost.js';

describe('compilePattern', () => {
  it.each([
    ['\\Z', 'the end-of-text escape of other engines'],
    ['\\u0041', 'a JavaScript code point'],
    ['\\C', 'a single byte'],
    ['a**', 'a doubled quantifier'],
    ['a++', 'a possessive quantifier'],
    ['a?+', 'a possessive quantifier'],
    ['a{2}{3}', 'a doubled repetition'],
    ['a{1001}', 'more than 1,000 repetitions'],
    ['(?:a{100}){11}', 'more than 1,000 repetitions by nesting'],
    ['(?=a)', 'look-ahead'],
    ['(?!a)', 'negative look-ahead'],
    ['(?<=a)b', 'look-behind'],
    ['(?<!a)b', 'negative look-behind'],
    ['(a)\\1', 'a back-reference'],
    ['(?P=name)', 'a named back-reference'],
    ['(?>a)', 'an atomic group'],
    ['(', 'an open group'],
    ['[a', 'an open class'],
    ['*', 'a quantifier without operand'],
    ['\\', 'a lone backslash'],
    ['(?P<n>a)(?P<n>b)', 'a repeated group name'],
  ])('refuses %s (%s)', (pattern) => {
    expect(() => compilePattern(pattern)).toThrow();
    expect(() => compilePattern(pattern, { ignoreCase: true })).toThrow();
  });

  it.each([
    ['', 'anything', true],
    ['b+', 'abbc', true],
    ['^b', 'abbc', false],
    ['b$', 'ab\n', false],
    ['(?m)b$', 'ab\n', true],
    ['a.b', 'a\nb', false],
    ['(?s)a.b', 'a\nb', true],
    ['\\bcat\\b', 'a cat!', true],
    ['\\bé', 'é', false],
    ['\\d', '٣', false],
    ['\\w', 'ß', false],
    ['\\s', '\u00a0', false],
    ['(?P<n>a)', 'a', true],
    ['(?<n>a)', 'a', true],
    ['\\Qa.b\\E', 'a.b', true],
    ['\\Qa.b\\E', 'axb', false],
    ['^\\pL$', 'ß', true],
    ['\\x{1F600}', '😀', true],
    ['(?U)a+', 'aa', true],
    ['(?i)s', 'ſ', true],
    ['(?i)k', 'K', true],
    ['a\\z', 'ba', true],
    ['\\0', '\0', true],
    ['^.$', '\ud800', true],
    ['b', 'a\udc00b', true],
  ])('%s on %j: %s', (pattern, text, found) => {
    expect(compilePattern(pattern).test(text)).toBe(found);
  });

  it('ignores case over the whole pattern, alternatives included', () => {
    const pattern = compilePattern('abc|def', { ignoreCase: true });
    expect([pattern.test('ABC'), pattern.test('DEF'), pattern.test('AEF')]).toEqual([true, true, false]);
  });

  it('refuses a pattern text that is too long', () => {
    expect(() => compilePattern('a'.repeat(MAX_PATTERN_LENGTH + 1))).toThrow(/characters/);
  });

  it.each([
    ['repetitions', 'a{1000}'.repeat(1_300)],
    ['nested repetitions', '(?:(?:ab){30}){30}'.repeat(200)],
    ['Unicode classes', `[${'\\pL'.repeat(20_000)}]`],
    ['wide ranges that fold case', `(?i)${'[a-\\x{1e943}]'.repeat(4_000)}`],
    ['wide ranges written out', `(?i)${'[a-\u{1e943}]'.repeat(4_000)}`],
    ['class names that never end', `[${'[:['.repeat(20_000)}`],
    ['a program just too large', 'a{1000}'.repeat(20)],
  ])('refuses a pattern that is too large: %s', (_kind, pattern) => {
    expect(() => compilePattern(pattern)).toThrow(/too large/);
  });

  it('accepts a large list of words', () => {
    const words = Array.from({ length: 3_000 }, (_, index) => `word${index}`);
    expect(compilePattern(words.join('|')).test('a word2999!')).toBe(true);
  });

  it('refuses a search that takes too many steps, and only that', () => {
    const pattern = compilePattern('(?:[ab]*a[ab]{18}){50}c');
    const [hostile = ''] = fc.sample(
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 20_000, maxLength: 20_000 }),
      { numRuns: 1, seed: 7 },
    );
    expect(() => pattern.test(`c${hostile}`)).toThrow(
      /too much: 1053 instructions on a text of 20001 characters/,
    );
    expect(pattern.test(hostile)).toBe(false);
    expect(pattern.test(`c${'ab'.repeat(50_000)}`)).toBe(false);
  });

  it.each([
    '\\b(?:\\d[ -]*?){13,16}\\b',
    '(?i)(?:password|secret|token)\\s*[:=]\\s*\\S{8,}',
    '(?i)ignore (?:all )?(?:previous|prior|above) (?:instructions|rules)',
    '[\\w.+-]+@[\\w-]+\\.[\\w.-]{2,24}\\b[^@]*!!',
    `(?:${Array.from({ length: 200 }, (_, index) => `word${index}x`).join('|')})`,
    '(?s)BEGIN.{0,200}END{2}',
  ])('searches a megabyte of ordinary text for %s', (pattern) => {
    const text = 'On 2024-05-01 user jane@example.org wrote: my words BEGIN here, token 12 34. '.repeat(
      13_500,
    );
    expect(text.length).toBeGreaterThan(1_000_000);
    expect(compilePattern(pattern).test(text)).toBe(false);
  });

  it('never refuses a text without any of the literals', () => {
    const pattern = compilePattern('(?:[ab]*a[ab]{18}){50}.(?i:needle)');
    const [hostile = ''] = fc.sample(
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 20_000, maxLength: 20_000 }),
      { numRuns: 1, seed: 7 },
    );
    expect(pattern.literals).toEqual(['needle']);
    expect(pattern.test(hostile)).toBe(false);
    expect(() => pattern.test(`${hostile} NEEDLE`)).toThrow(/too much/);
  });

  it('takes texts of a literal pattern as they are', () => {
    expect(compilePattern('Needle').test('a Needle')).toBe(true);
    expect(compilePattern('Needle').test('a needle')).toBe(false);
    expect(compilePattern('Needle', { ignoreCase: true }).test('a needle')).toBe(true);
  });
});

describe('estimateCost', () => {
  const atom = fc.constantFrom(
    'a',
    '.',
    '\\d',
    '[a-z]',
    '[^]x]',
    '\\x{41}',
    '\\pL',
    '\\Qq.\\E',
    '[[:alpha:]-]',
    '{',
  );
  const pattern = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      atom,
      fc.tuple(tie('node'), tie('node')).map(([left, right]) => `${left}${right}`),
      fc.tuple(tie('node'), tie('node')).map(([left, right]) => `(?:${left}|${right})`),
      tie('node').map((inner) => `(${inner})*`),
      tie('node').map((inner) => `(?i:${inner})?`),
      fc.tuple(tie('node'), fc.integer({ min: 1, max: 9 })).map(([inner, n]) => `(?:${inner}){${n}}`),
      fc.tuple(tie('node'), fc.integer({ min: 0, max: 9 })).map(([inner, n]) => `(?:${inner}){${n},}`),
    ),
  })).node;

  it('is never far below the size of the compiled program', () => {
    fc.assert(
      fc.property(pattern, (text) => {
        const size = sizeOf(text);
        fc.pre(size !== null);
        return estimateCost(text, false).instructions * 1.5 >= (size ?? 0);
      }),
      { numRuns: 500 },
    );
  });

  it('is exact enough for literals and repetitions', () => {
    expect(estimateCost('abc', false).instructions).toBe(5);
    expect(estimateCost('a{1000}', false).instructions).toBeGreaterThanOrEqual(1_000);
    expect(estimateCost('a{1000}', false).instructions).toBeLessThan(2_100);
  });

  function sizeOf(text: string): number | null {
    try {
      return RE2JS.compile(text).programSize();
    } catch {
      return null;
    }
  }
});

describe('a search within a limit of the caller', () => {
  const within = (pattern: string, text: string, maxSteps: number) => {
    let spent = 0;
    const found = compilePattern(pattern).testWithin(text, maxSteps, {
      spend: (steps) => {
        spent += steps;
      },
    });
    return { found, spent };
  };

  it('finds what a search without one finds', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('ab', 'a+b', '^a', 'b$', 'a.b|ba', '(?i)A{2}', '[^b]{3}'),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 30 }),
        (pattern, text) => {
          expect(within(pattern, text, 100_000).found).toBe(compilePattern(pattern).test(text));
        },
      ),
    );
  });

  it.each(['(a|b)*c', 'aaaaaaaaaaaaaaaaaaaaaaaaab', 'a{1,50}.*b.*c'])(
    'ends beyond it, having taken no more: %s',
    (pattern) => {
      let spent = 0;
      const meter = {
        spend: (steps: number) => {
          spent += steps;
        },
      };
      const search = () => compilePattern(pattern).testWithin('a'.repeat(200_000), 1_000, meter);
      expect(search).toThrow(SearchTooCostly);
      expect(spent).toBeLessThan(2_000);
    },
  );
});
