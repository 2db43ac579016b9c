import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTILE_PARTS, hostileText } from '../../../../bench/support/detector-texts.mjs';
import { SECRET_FORMS } from '../../../../test/corpora/secrets/secrets-corpus.support.js';
import { FULL_CALL } from '../../../../test/support/check-call.js';
import { genericRules } from '../../src/secrets/generic-rules.js';
import { providerRules } from '../../src/secrets/provider-rules.js';
import type { RawFinding, SecretRule } from '../../src/secrets/rule.js';
import { createScan } from '../../src/secrets/scan.js';
import { secretlintRules } from '../../src/secrets/secretlint-rules.js';
import { secretsEvaluator } from '../../src/secrets/secrets.js';

const RULES = [...secretlintRules, ...providerRules, ...genericRules];
const NO_METER = (): void => undefined;

function inOrder(findings: readonly RawFinding[]): RawFinding[] {
  return [...findings].sort((left, right) => left.start - right.start || left.end - right.end);
}

/** Texts of secrets, of what they begin with, and of what stands around them. */
const piece = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...Object.values(SECRET_FORMS)),
      fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
    )
    .map(([form, numbers]) => {
      let turn = 0;
      return form((alphabet, length) =>
        Array.from({ length }, () => {
          turn += 1;
          return alphabet[((numbers[turn % 8] ?? 0) + turn * turn) % alphabet.length] ?? '';
        }).join(''),
      );
    }),
  fc.constantFrom(...RULES.flatMap(({ anchors }) => [...anchors])),
  fc.constantFrom(' ', '\n', '"', "'", '=', ': ', 'password', 'é', '😀', '_', '-', 'x', '://', '@', '.'),
);
const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

describe('the parts of a text that rules are given', () => {
  it.each(RULES.map((rule, index) => [rule.id, index, rule] as const))(
    'hold all that the rule %s (%i) finds in the whole text',
    (_id, _index, rule) => {
      const scan = createScan([rule]);
      fc.assert(
        fc.property(texts, (text) => {
          const whole: RawFinding[] = [];
          rule.find(text, (finding) => whole.push(finding));
          const found: RawFinding[] = [];
          scan(text, (finding) => found.push(finding), NO_METER);
          // What is longer than a part is found in part, or in another one.
          const fits = whole.every(({ start, end }) => end - start <= rule.after);
          if (!fits) return;
          // The rule itself does not look into words, as the scan does where they go on before an anchor.
          const isGlued = ({ start }: RawFinding) => /[\p{L}\p{N}_]/u.test(text[start - 1] ?? '');
          const inWords = found.filter(isGlued);
          expect(inOrder(found.filter((one) => !isGlued(one)))).toEqual(
            inOrder(whole.filter((one) => !isGlued(one))),
          );
          expect(inWords).toEqual(expect.arrayContaining(whole.filter(isGlued)));
          expect(new Set(inWords.map(({ start }) => start)).size).toBe(inWords.length);
        }),
        { numRuns: 60 },
      );
    },
  );

  it('do not overlap, whatever the text', () => {
    const words = fc.constantFrom('ab', 'abc', 'b', 'x', 'cab', ' ');
    const widths = fc.record({ before: fc.nat(6), after: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 200 }), widths, (pieces, { before, after }) => {
        const text = pieces.join('');
        const parts: string[] = [];
        const rule: SecretRule = {
          id: 'x',
          anchors: ['ab', 'abc', 'b'],
          before,
          after,
          find: (part) => void parts.push(part),
        };
        createScan([rule])(text, () => undefined, NO_METER);
        expect(parts.join('').length).toBeLessThanOrEqual(text.length + parts.length);
        const anchors = text.match(/b/g)?.length ?? 0;
        expect(parts.join('').match(/b/g)?.length ?? 0).toBeGreaterThanOrEqual(anchors === 0 ? 0 : 1);
      }),
    );
  });
});

describe('the work of a search', () => {
  const check = secretsEvaluator.compile({});
  const workOn = (text: string): number => {
    let work = 0;
    check.evaluate(text, {
      ...FULL_CALL,
      spend: (steps) => {
        work += steps;
      },
    });
    return work;
  };

  it.each(Object.keys(HOSTILE_PARTS.secrets ?? {}))('grows in proportion to a text of %s', (name) => {
    const [first = 0, ...rest] = [20_000, 40_000, 80_000, 160_000].map((length) =>
      workOn(hostileText('secrets', name, length)),
    );
    rest.forEach((work, index) => {
      expect(work / (first * 2 ** (index + 1))).toBeGreaterThan(0.8);
      expect(work / (first * 2 ** (index + 1))).toBeLessThan(1.2);
    });
  });

  it('is some steps for each hundred characters of a text without secrets', () => {
    expect(workOn('nothing to see here, '.repeat(5_000))).toBeLessThan(30_000);
  });
});
