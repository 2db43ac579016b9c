import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alwaysMatches } from '../src/always-matches.js';
import { compilePattern } from '../src/linear-pattern.js';

describe('a pattern that is found in every text', () => {
  it.each([
    '',
    '.*',
    '.+',
    '.',
    '^',
    '\\s*',
    'a?',
    '(?:x|y)*',
    '(?s)^.*$',
    '^.*$',
    '.+?',
    '(?i)b{0,3}',
    'a|',
    '(?s).',
  ])('is %j', (pattern) => {
    expect(alwaysMatches(pattern)).toBe(true);
  });

  it.each(['a', '^$', '\\b', '$a', '\\S', '^a*$', '[^x]', '..', '\\w*\\b', '^\\B'])(
    'is not %j',
    (pattern) => {
      expect(alwaysMatches(pattern)).toBe(false);
    },
  );

  it('is found in any text of one line, if it is said to be', () => {
    const part = fc.constantFrom('a', '.', '\\w', '\\b', '^', '$', '[^a]', '\\s', '(?:ab)');
    const repeated = fc
      .tuple(part, fc.constantFrom('', '*', '+', '?'))
      .map(([one, times]) => (/^(?:\\b|\^|\$)$/.test(one) ? one : one + times));
    const sequence = fc.array(repeated, { maxLength: 4 }).map((parts) => parts.join(''));
    const pattern = fc.array(sequence, { minLength: 1, maxLength: 3 }).map((some) => some.join('|'));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '-'), minLength: 1, maxLength: 5 });
    let certain = 0;
    fc.assert(
      fc.property(pattern, text, (given, data) => {
        if (!alwaysMatches(given)) return;
        certain += 1;
        expect(compilePattern(given).test(data)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
    expect(certain).toBeGreaterThan(100);
  });
});
