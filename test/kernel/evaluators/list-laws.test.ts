import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { createValueMatcher, type MatchMode } from '../../../packages/linear-text/src/value-matcher.js';

/** What the list evaluator is defined by: one pattern of the escaped values. */
function reference(values: readonly string[], mode: MatchMode, caseSensitive: boolean) {
  const alternatives = values.map((value) => RE2JS.quote(value)).join('|');
  const pattern = {
    exact: `^(?:${alternatives})$`,
    contains: `\\b(?:${alternatives})\\b`,
    starts_with: `^(?:${alternatives})`,
    ends_with: `(?:${alternatives})$`,
  }[mode];
  return RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
}

const characters = [
  ...'abAB01_ .+-\nsSkK',
  'ſ',
  '\u212a',
  'é',
  'É',
  'ß',
  'ẞ',
  'ς',
  'Σ',
  '😀',
  '\u{10400}',
  '\u{10428}',
];
const word = fc.array(fc.constantFrom(...characters), { maxLength: 8 }).map((parts) => parts.join(''));
const fewWord = fc
  .array(fc.constantFrom('a', 'b', ' ', '.', 'ſ', 's'), { maxLength: 10 })
  .map((parts) => parts.join(''));
const value = fc.oneof(word, fewWord).filter((text) => text.trim() !== '');
const mode = fc.constantFrom<MatchMode>('exact', 'contains', 'starts_with', 'ends_with');
/** Texts in which a value is likely to occur, lone surrogates and NUL included. */
const textOver = (values: readonly string[]) =>
  fc
    .array(
      fc.oneof(fc.constantFrom(...values), word, fewWord, fc.constantFrom('\ud83d', '\ude00', '\0', ' ')),
      {
        maxLength: 6,
      },
    )
    .map((parts) => parts.join(''));

describe('createValueMatcher', () => {
  it('agrees with the pattern that defines the list evaluator', () => {
    const seen = { matched: 0, unmatched: 0 };
    fc.assert(
      fc.property(
        fc
          .array(value, { minLength: 1, maxLength: 12 })
          .chain((values) => fc.record({ values: fc.constant(values), text: textOver(values) })),
        mode,
        fc.boolean(),
        ({ values, text }, matchMode, caseSensitive) => {
          const expected = reference(values, matchMode, caseSensitive).test(text);
          seen[expected ? 'matched' : 'unmatched'] += 1;
          expect(createValueMatcher(values, matchMode, caseSensitive)(text)).toBe(expected);
        },
      ),
      { numRuns: 3_000 },
    );
    expect(Math.min(seen.matched, seen.unmatched)).toBeGreaterThan(300);
  });

  it('agrees with it for values that are beginnings and endings of each other', () => {
    const overlapping = fc
      .array(fc.constantFrom('a', 'b', '.'), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        fc.array(overlapping, { minLength: 1, maxLength: 30 }),
        fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 20 }).map((parts) => parts.join('')),
        mode,
        (values, text, matchMode) => {
          const expected = reference(values, matchMode, true).test(text);
          expect(createValueMatcher(values, matchMode, true)(text)).toBe(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('does not depend on the order of the values or on repeated ones', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 8 }), word, mode, (values, text, matchMode) => {
        const once = createValueMatcher(values, matchMode, false)(text);
        expect(createValueMatcher([...values].reverse().concat(values), matchMode, false)(text)).toBe(once);
      }),
    );
  });

  it.each<MatchMode>(['exact', 'contains', 'starts_with', 'ends_with'])(
    'finds each of 10,000 values (%s)',
    (matchMode) => {
      const values = Array.from({ length: 10_000 }, (_, index) => `value-${index}-x`);
      const matches = createValueMatcher(values, matchMode, false);
      expect(values.every((text) => matches(text.toUpperCase()))).toBe(true);
      expect(matches('value-10000-x')).toBe(false);
    },
  );

  it('does not compare values that are endings of each other one by one', () => {
    const text = 'aa..'.repeat(100_000);
    // Each ends where a word ends and begins inside one: none may match, at 100,000 places.
    const values = Array.from({ length: 700 }, (_, index) => `a${'..aa'.repeat(index)}`);
    const matches = createValueMatcher(values, 'contains', false);
    expect(matches(text)).toBe(false);
    expect(matches(`${text}.a`)).toBe(true);
  });

  it('finds a value behind many occurrences of it inside words', () => {
    const inside = 'catalog '.repeat(100);
    for (const caseSensitive of [true, false]) {
      const matches = createValueMatcher(['cat', 'dog'], 'contains', caseSensitive);
      expect(matches(inside)).toBe(false);
      expect(matches(`${inside}cat`)).toBe(true);
      expect(matches(`cat${inside}`)).toBe(false);
      expect(matches(`${inside.repeat(10)}dog`)).toBe(true);
    }
  });

  it('agrees with the pattern for long lists and long texts', () => {
    const many = fc.array(value, { minLength: 9, maxLength: 40 });
    fc.assert(
      fc.property(
        many.chain((values) => fc.record({ values: fc.constant(values), text: textOver(values) })),
        fc.boolean(),
        fc.boolean(),
        ({ values, text }, caseSensitive, long) => {
          const padded = long ? `${'catalog '.repeat(600)}${text}` : text;
          const expected = reference(values, 'contains', caseSensitive).test(padded);
          expect(createValueMatcher(values, 'contains', caseSensitive)(padded)).toBe(expected);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('refuses a text made so that every place has thousands of candidates', () => {
    const values = Array.from({ length: 700 }, (_, index) => `a${'..aa'.repeat(index)}`);
    const matches = createValueMatcher(values, 'contains', false);
    expect(matches(`\u017f ${'aa..'.repeat(1_000)}`)).toBe(false);
    expect(() => matches(`\u017f ${'aa..'.repeat(100_000)}`)).toThrow(/costs too much/);
  });
});
