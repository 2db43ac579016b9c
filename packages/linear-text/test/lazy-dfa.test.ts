import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { type PatternCase, patternCase, textOver } from '../../../test/support/pattern-cases.js';
import { compileProgram, type Program } from '../src/engine.js';
import { LazyDfa, SearchTooCostly } from '../src/lazy-dfa.js';
import { createRuneClasses } from '../src/rune-classes.js';
import { MAX_TOTAL_STATE_BYTES, releaseWhenFull, take } from '../src/state-table.js';

const PLENTY = 1_000_000_000;

const dfaOf = (pattern: string, ignoreCase = false) =>
  new LazyDfa(compileProgram(pattern, ignoreCase).program);

function compiled({ pattern, ignoreCase }: PatternCase): { engine: RE2JS; program: Program } | null {
  try {
    return {
      engine: RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0),
      program: compileProgram(pattern, ignoreCase).program,
    };
  } catch {
    return null;
  }
}

/** The answer, or the name of what is thrown. */
function outcome(dfa: Pick<LazyDfa, 'test'>, text: string, maxSteps: number): boolean | string {
  try {
    return dfa.test(text, maxSteps);
  } catch (error) {
    if (error instanceof SearchTooCostly) return 'too costly';
    throw error;
  }
}

describe('LazyDfa', () => {
  it('finds what the regex engine finds', () => {
    let found = 0;
    let pairs = 0;
    fc.assert(
      fc.property(
        patternCase.chain((one) =>
          fc.tuple(fc.constant(one), fc.array(textOver(one.pieces), { minLength: 1, maxLength: 6 })),
        ),
        ([one, texts]) => {
          const both = compiled(one);
          fc.pre(both !== null);
          if (both === null) return;
          const dfa = new LazyDfa(both.program);
          for (const text of texts) {
            const expected = both.engine.test(text);
            pairs += 1;
            if (expected) found += 1;
            expect(dfa.test(text, PLENTY)).toBe(expected);
          }
        },
      ),
      { numRuns: 2_000 },
    );
    expect(Math.min(found, pairs - found)).toBeGreaterThan(pairs / 10);
  });

  it.each([
    ['((?:^){2})+(?m:^)', 'x', true],
    ['(?m:^)(?:.)?(?:^){1,3}', 'ab', true],
    ['(?m)a$^\\nb|^b', 'a\nb', true],
    ['\\B', '', true],
    ['\\b', '', false],
    ['a\\b\\b\\B?$', 'a', true],
    ['^$', '', true],
    ['(?m)^$', 'a\n', true],
    ['$^', 'a', false],
    ['a\\z', 'a\n', false],
    ['[^\\x00-\\x{10ffff}]', 'a', false],
    ['\\x{d83d}', '😀', false],
    ['\\x{d83d}', '\ud83dx', true],
    ['^.$', '😀', true],
  ])('%j in %j: %s', (pattern, text, found) => {
    expect(dfaOf(pattern).test(text, PLENTY)).toBe(found);
  });

  it('needs hardly more steps for a longer text of the same kind', () => {
    const dfa = dfaOf('[\\w.+-]+@[\\w-]+\\.[\\w.-]{2,10}\\b');
    expect(dfa.test('some.one at example.org, '.repeat(40_000), 400_000)).toBe(false);
    expect(dfa.test(`${'some.one at example.org, '.repeat(40_000)}a@b.org`, 400_000)).toBe(true);
  });

  it('gives up where every character leads to a new state', () => {
    const random = fc.sample(
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 5_000, maxLength: 5_000 }),
      {
        numRuns: 1,
        seed: 7,
      },
    );
    expect(outcome(dfaOf('(?:[ab]*a[ab]{18}){50}c'), random[0] ?? '', 2_000_000)).toBe('too costly');
  });

  it('is too costly or not whatever was searched before', () => {
    const seen = new Map<boolean | string, number>();
    const pattern = fc.constantFrom(
      '(?:[ab]*a[ab]{6}){3}c',
      '\\b(?:a?b?){20}\\b$',
      '(?m:^[ab]+$\\n?){3}c',
      '(?:a|b|ab){4,9}!',
    );
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n'), maxLength: 120 });
    fc.assert(
      fc.property(
        pattern,
        fc.array(text, { maxLength: 5 }),
        text,
        fc.integer({ min: 10, max: 30_000 }),
        (source, before, value, limit) => {
          const dfa = dfaOf(source);
          for (const earlier of before) outcome(dfa, earlier, PLENTY);
          const first = outcome(dfa, value, limit);
          expect(outcome(dfa, value, limit)).toBe(first);
          expect(outcome(dfaOf(source), value, limit)).toBe(first);
          seen.set(first, (seen.get(first) ?? 0) + 1);
        },
      ),
      { numRuns: 1_500 },
    );
    expect(Math.min(seen.get('too costly') ?? 0, seen.get(false) ?? 0)).toBeGreaterThan(50);
  });

  it('charges a search that could be too costly as if there had been none before, also where states were dropped', () => {
    const many = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 9_000, maxLength: 16_000 });
    const few = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '😀'), minLength: 40, maxLength: 400 });
    const search = fc.oneof(
      // Which of the last 13 characters were an a: there is no room for the states of two such texts.
      fc.tuple(
        fc.constant('a[ab]{12}c'),
        fc.array(many, { minLength: 1, maxLength: 3 }),
        fc.constant(1_500_000),
      ),
      fc.tuple(
        fc.constantFrom('(?i)\\b(?:ab|ba|bab)\\b.{0,20}\\b(?:aba|abb)\\b', '(?:[ab]*a[ab]{6}){3}c'),
        fc.array(few, { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 2_000, max: 20_000 }),
      ),
    );
    let warm = 0;
    fc.assert(
      fc.property(search, fc.boolean(), ([source, texts, limit], together) => {
        const dfa = dfaOf(source);
        for (const text of [...texts, ...texts]) {
          const fresh = dfaOf(source);
          const of = (one: LazyDfa) => [
            outcome(
              { test: (_, max) => (together ? one.testAny([text, 'b', text], max) : one.test(text, max)) },
              text,
              limit,
            ),
            one.steps,
          ];
          expect(of(dfa)).toEqual(of(fresh));
          warm += 1;
        }
      }),
      { numRuns: 40 },
    );
    expect(warm).toBeGreaterThan(100);
  });

  it('drops its states when they become too many, and continues', () => {
    // Which of the last 13 characters were an a: 8,192 states, for which there is no room.
    const pattern = 'a[ab]{12}c';
    const dfa = dfaOf(pattern);
    const engine = RE2JS.compile(pattern);
    const texts = fc.sample(
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 20_000, maxLength: 20_000 }),
      { numRuns: 3, seed: 3 },
    );
    for (const text of texts) {
      for (const length of [12_000, 12_001, 12_002, 12_003, 19_000, 20_000]) {
        const cut = `${text.slice(0, length)}c${text.slice(0, 100)}`;
        expect(dfa.test(cut, PLENTY)).toBe(engine.test(cut));
      }
    }
  });

  it('continues after the states of all patterns have been released', () => {
    const dfa = dfaOf('a.*b');
    expect(dfa.test('a..b', PLENTY)).toBe(true);
    take(MAX_TOTAL_STATE_BYTES + 1);
    releaseWhenFull();
    expect(dfa.test('a..b', PLENTY)).toBe(true);
    take(MAX_TOTAL_STATE_BYTES + 1);
    expect(dfa.test('a..', PLENTY)).toBe(false);
  });
});

describe('createRuneClasses', () => {
  it('puts no two code points into a class that an instruction distinguishes', () => {
    const codes = [
      ...Array(0x600).keys(),
      0x1e9e,
      0x212a,
      0xd83d,
      0xfffd,
      0x10400,
      0x10428,
      0x1f600,
      0x10ffff,
    ];
    fc.assert(
      fc.property(patternCase, (one) => {
        const both = compiled(one);
        fc.pre(both !== null);
        if (both === null) return;
        const classes = createRuneClasses(both.program);
        const reading = both.program.inst.filter(({ runes }) => runes.length > 0);
        for (const code of codes) {
          const sample = classes.samples[classes.classOf(code)] ?? -1;
          for (const instruction of reading) {
            if (instruction.matchRune(code) !== instruction.matchRune(sample)) {
              throw new Error(`${code} is not like ${sample} in ${one.pattern}`);
            }
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('needs few classes for large sets', () => {
    expect(createRuneClasses(compileProgram('\\pL+\\pN+[^a-z]', false).program).count).toBeLessThan(8);
  });

  it('keeps classes apart rather than to take long', () => {
    const pattern = Array.from({ length: 2_000 }, (_, index) => {
      const first = String.fromCharCode(0x4e00 + 2 * index);
      return `[${first}-\\x{ffff}]`;
    }).join('');
    const classes = createRuneClasses(compileProgram(pattern, false).program);
    expect(classes.count).toBeGreaterThan(2_000);
    expect(classes.classOf(0x4e00)).not.toBe(classes.classOf(0x4e02));
    expect(classes.classOf(0x4e00)).toBe(classes.classOf(0x4e01));
  });
});
