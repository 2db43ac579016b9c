import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePrefilter } from '../../../test/support/prefilter-differential.js';
import { foldCase } from '../src/fold-case.js';
import { createPrefilter } from '../src/prefilter.js';

function scan(sets: readonly (readonly string[] | null)[], text: string): number[] {
  const into = new Uint8Array(sets.length).fill(9);
  createPrefilter(sets).scan(text, into);
  return [...into];
}

describe('createPrefilter', () => {
  it('marks the sets of which a literal occurs, and those of which nothing is known', () => {
    expect(scan([['foo'], ['bar', 'oba'], null, ['x']], 'a foobaz')).toEqual([1, 1, 1, 0]);
    expect(scan([null], '')).toEqual([1]);
    expect(scan([], 'a')).toEqual([]);
    expect(scan([['a'], ['a']], 'b')).toEqual([0, 0]);
  });

  it('folds the text by the orbits of (?i)', () => {
    expect(scan([['sky'], ['\u{10400}x']], '\u017f\u212aY \u{10428}X')).toEqual([1, 1]);
  });

  it('distinguishes scans', () => {
    const prefilter = createPrefilter([['ab'], ['b']]);
    const into = new Uint8Array(2);
    for (const [text, expected] of [
      ['ab', [1, 1]],
      ['b', [0, 1]],
      ['', [0, 0]],
      ['ab', [1, 1]],
    ] as const) {
      prefilter.scan(text, into);
      expect([...into]).toEqual(expected);
    }
  });

  it('agrees with looking for every literal in the folded text', () => {
    const text = fc
      .array(fc.constantFrom('a', 'A', 'b', 's', 'ſ', 'K', '\u212a', '\u{10428}', '\ud801', '\udc00', '中'), {
        maxLength: 14,
      })
      .map((parts) => parts.join(''));
    const literal = text.map((value) => foldCase(value).slice(0, 5)).filter((value) => value !== '');
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.array(literal, { minLength: 1, maxLength: 4 })), { maxLength: 8 }),
        text,
        (sets, value) => {
          // Half of a pair next to its other half is another character, folded or not; literals have none.
          fc.pre(sets.every((set) => set === null || set.every((one) => one.isWellFormed())));
          const folded = foldCase(value);
          const expected = sets.map((set) => ((set?.some((one) => folded.includes(one)) ?? true) ? 1 : 0));
          expect(scan(sets, value)).toEqual(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('finds literals when their automaton is larger than its table', () => {
    const literals = Array.from({ length: 3_000 }, (_, index) =>
      Array.from({ length: 30 }, (_, at) =>
        String.fromCharCode(0x4e00 + ((index * 31 + at * 17) % 800)),
      ).join(''),
    );
    const text = `${literals[5]?.slice(0, 29)}${literals[2_999]}${literals[7]?.slice(1)}`;
    const folded = foldCase(text);
    const sets = literals.map((literal) => [literal]);
    expect(scan(sets, text)).toEqual(literals.map((literal) => (folded.includes(literal) ? 1 : 0)));
  });
});

describe('the regex evaluator behind the prefilter', () => {
  it('gives the same result as without it, and as the regex engine', () => {
    const report = comparePrefilter(1_000, 20_261);
    expect(Math.min(report.found, report.ruledOut)).toBeGreaterThan(report.pairs / 20);
  });
});
