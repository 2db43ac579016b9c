import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTILE_EXPRESSIONS, hostileSteps, NAMES } from '../../../bench/support/cel-hostile.mjs';
import type { JsonValue } from '../../exact-json/src/index.js';
import { type CelResult, type CelType, compileExpression, MAX_WORK } from '../src/index.js';

const ANY: CelType = { kind: 'any' };
const variables = new Map(NAMES.map((name): [string, CelType] => [name, ANY]));
const steps = hostileSteps() as unknown as JsonValue[][];
const sizes = new Map(steps.map((step) => [step, sizeOf(step)]));
/** What one operation may take beyond the limit before the evaluation ends: it is counted before it runs. */
const ONE_OPERATION = 1;

function evaluated(
  text: string,
  step: readonly JsonValue[],
): { readonly result: CelResult; readonly work: number; readonly bound: number } {
  const compiled = compileExpression(text, { variables, strictTypes: true });
  let work = 0;
  const values = { variable: (index: number) => step[index] as JsonValue };
  const result = compiled.evaluate(
    values,
    () => 0,
    (spent) => {
      work += spent;
    },
  );
  return { result, work, bound: compiled.workBound(sizes.get(step as JsonValue[]) ?? sizeOf(step)) };
}

/** Characters and values of a step. */
function sizeOf(value: JsonValue | readonly JsonValue[]): number {
  if (typeof value === 'string') return 1 + value.length;
  if (typeof value !== 'object' || value === null) return 1 + String(value).length;
  let size = 1;
  for (const [key, item] of Object.entries(value)) size += key.length + sizeOf(item as JsonValue);
  return size;
}

const outcomes: { readonly text: string; readonly isEnded: boolean }[] = [];

describe('the work of an evaluation', () => {
  it.each(HOSTILE_EXPRESSIONS)('is within the limit, or the evaluation ends with an error: %s', (text) => {
    for (const step of steps) {
      const { result, work, bound } = evaluated(text, step);
      outcomes.push({ text, isEnded: !result.ok });
      if (work > MAX_WORK)
        expect(result).toMatchObject({ ok: false, missing: null, error: expect.stringMatching(/limit/) });
      // Work is counted before it is done, so what was done is within the limit.
      expect(Math.min(work, MAX_WORK)).toBeLessThanOrEqual(Math.max(bound, ONE_OPERATION));
    }
  });

  it('ends evaluations on steps that are too large', () => {
    const ended = HOSTILE_EXPRESSIONS.filter((text) =>
      steps.some((step) => !evaluated(text, step).result.ok),
    );
    expect(ended.length).toBeGreaterThan(HOSTILE_EXPRESSIONS.length / 3);
  });

  it('counts every round of a loop, whatever the expression is', () => {
    const numbers = fc.constantFrom('x', 'y', '1', 'l.size()', 'size(s)');
    const texts = fc.constantFrom('s', 't', 's + t', 'string(x)', 's.lowerAscii()');
    const conditions = fc.oneof(
      fc.tuple(numbers, fc.constantFrom('<', '==', '>='), numbers).map((parts) => parts.join(' ')),
      fc.tuple(texts, texts).map(([one, other]) => `(${one}).contains(${other})`),
      fc.tuple(texts, texts).map(([one, other]) => `${one} == ${other}`),
    );
    const expressions = fc
      .tuple(fc.array(conditions, { minLength: 1, maxLength: 4 }), fc.constantFrom(' && ', ' || '))
      .map(([terms, operator]) => terms.map((term) => `(${term})`).join(operator));
    const length = fc.integer({ min: 0, max: 40 });
    fc.assert(
      fc.property(
        expressions,
        length,
        length,
        fc.string({ maxLength: 200 }),
        (condition, outer, inner, text) => {
          const xs = Array.from({ length: outer }, (_, at) => at);
          const ys = Array.from({ length: inner }, (_, at) => at);
          const step = NAMES.map(
            (name): JsonValue => ({ s: text, t: text.slice(1), l: xs, deep: ys })[name] ?? null,
          );
          const { work, bound } = evaluated(`l.map(x, deep.filter(y, ${condition})).size() >= 0`, step);
          expect(work).toBeGreaterThanOrEqual(outer * inner);
          expect(Math.min(work, MAX_WORK)).toBeLessThanOrEqual(bound);
        },
      ),
    );
  });

  it('does not outlive an evaluation: one after an error is as any other', () => {
    const compiled = compileExpression('l.all(x, l.all(y, x + y >= 0))', { variables, strictTypes: true });
    const large = Array.from({ length: 1_000 }, (_, at) => at);
    const given = (list: JsonValue) => ({ variable: () => list });
    expect(compiled.evaluate(given(large), () => 0)).toMatchObject({ ok: false });
    expect(compiled.evaluate(given([1, 2]), () => 0)).toEqual({ ok: true, value: true });
  });
});
