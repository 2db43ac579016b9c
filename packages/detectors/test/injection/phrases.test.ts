import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readableBase64 } from '../../src/injection/carriers.js';
import { foldText } from '../../src/injection/fold.js';
import { createPhraseMatcher } from '../../src/injection/phrase-matcher.js';
import type { PhraseRule } from '../../src/injection/phrase-rule.js';
import { INJECTION_RULES } from '../../src/injection/search.js';

function matchesOf(
  rules: readonly PhraseRule[],
  text: string,
): [rule: PhraseRule, start: number, end: number][] {
  const found: [PhraseRule, number, number][] = [];
  createPhraseMatcher(rules)(text, ({ rule, start, end }) => found.push([rule, start, end]));
  return found;
}

describe('the rules', () => {
  const match = createPhraseMatcher(INJECTION_RULES);
  const texts = INJECTION_RULES.flatMap((rule) =>
    rule.slots.flatMap((literals, slot) =>
      literals.map((literal) => {
        const words = rule.slots.map((others, at) => (at === slot ? literal : (others[0] ?? '')));
        return [rule, words.map((word) => word.replace(/(?<=.)\*$/, '')).join(' ')] as const;
      }),
    ),
  );

  it('each match with each of their literals', () => {
    const silent = texts.filter(([rule, text]) => {
      let isFound = false;
      match(foldText(text).text, (found) => {
        isFound ||= found.rule === rule;
      });
      return !isFound;
    });
    expect(texts.length).toBeGreaterThan(1_000);
    expect(silent.map(([{ id }, text]) => [id, text])).toEqual([]);
  });

  it('have scores that leave room for more', () => {
    expect(INJECTION_RULES.filter(({ score }) => !(score >= 0.2 && score <= 0.8))).toEqual([]);
  });
});

/** All places where a literal of few letters occurs as a word. */
function placesOf(text: string, literal: string): [start: number, end: number][] {
  const isLetter = (unit: string | undefined) => unit !== undefined && /[a-z]/.test(unit);
  const places: [number, number][] = [];
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1)) {
    const end = at + literal.length;
    if (!isLetter(text[at - 1]) && !isLetter(text[end])) places.push([at, end]);
  }
  return places;
}

/** The ends of all sequences of a rule, by trying all of them. */
function endsByTrying(rule: PhraseRule, text: string): Set<number> {
  let ends: Set<number> | undefined;
  for (const literals of rule.slots) {
    const next = new Set<number>();
    for (const [start, end] of literals.flatMap((literal) => placesOf(text, literal))) {
      const follows = (last: number) => start >= last && start - last <= rule.gap;
      if (ends === undefined || [...ends].some(follows)) next.add(end);
    }
    ends = next;
  }
  return ends ?? new Set();
}

it('the matcher finds what trying all sequences finds', () => {
  const word = fc.constantFrom('a', 'b', 'ab', 'ba', 'aab', 'b a', 'a b', 'ab a', 'a b ab');
  const slot = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => [...new Set(words)]);
  const rule = fc.record({
    id: fc.constant('x'),
    category: fc.constant('override' as const),
    score: fc.constant(0.5),
    slots: fc.array(slot, { minLength: 1, maxLength: 3 }),
    gap: fc.nat(6),
  });
  const text = fc
    .array(fc.constantFrom('a', 'b', 'ab', ' ', ' ', '.', 'ba', 'aab'), { maxLength: 40 })
    .map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), text, (rules, text) => {
      const found = matchesOf(rules, text);
      for (const rule of rules) {
        const ends = new Set(found.filter(([one]) => one === rule).map(([, , end]) => end));
        expect([...ends].sort()).toEqual([...endsByTrying(rule, text)].sort());
      }
    }),
    { numRuns: 500 },
  );
});

describe('a folded text', () => {
  const characters = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'é',
      'ß',
      'Ⅷ',
      'ﬁ',
      '\u200b',
      '\u{e0041}',
      '𝒜',
      '🅰',
      'а',
      'Я',
      '中',
      'が',
      '\ud800',
      '\udc00',
      '한',
    ),
  );
  const texts = fc.array(characters, { maxLength: 30 }).map((pieces) => pieces.join(''));

  it('has a place in the original for each of its code units, in order', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { text: folded, offsets } = foldText(text);
        if (offsets === null) {
          expect(folded.length).toBe(text.length);
          return;
        }
        expect(offsets.length).toBe(folded.length + 1);
        expect(offsets.at(-1)).toBe(text.length);
        for (let at = 1; at < offsets.length; at += 1) {
          expect(offsets[at]).toBeGreaterThan(offsets[at - 1] ?? -1);
        }
      }),
    );
  });

  it('is the same for ASCII whether or not other characters follow', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(foldText(`${text}中`).text).toBe(`${foldText(text).text}中`);
      }),
    );
  });

  it('is its own folded text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = foldText(text).text;
        expect(foldText(once).text).toBe(once);
      }),
    );
  });
});

it('base64 is found wherever it begins, and whatever is around it', () => {
  const sentence = 'the whole of this sentence was encoded before';
  const encoded = Buffer.from(sentence).toString('base64');
  fc.assert(
    fc.property(
      fc.nat(200),
      fc.nat(200),
      fc.constantFrom(' ', '.', 'ab ', '😀'),
      (before, behind, filler) => {
        const text = `${filler.repeat(before)} ${encoded} ${filler.repeat(behind)}`;
        expect(readableBase64(text)).toEqual([
          {
            start: filler.length * before + 1,
            end: filler.length * before + 1 + encoded.replace(/=+$/, '').length,
            decoded: sentence,
          },
        ]);
      },
    ),
  );
});
