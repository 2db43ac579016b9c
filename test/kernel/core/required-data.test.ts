import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { Decision } from '../../../src/kernel/core/types.js';
import type { ControlFailure } from './compile-program.js';
import { aDefinition, aLeaf, aProgram, aStep, idsOf, verdictOf } from './support.js';

const LACKING = 'The step lacks data that the control requires';

function requiring(path: string, required: JsonValue = true): JsonObject {
  const leaf = aLeaf('regex', { pattern: 'secret' }, path);
  return { ...leaf, selector: { path, required } };
}

describe('a selector with required', () => {
  it.each<[string, JsonValue]>([
    ['no input', null],
    ['an input without the member', { other: 'text' }],
    ['a member that is null', { text: null }],
    ['an input that is a text', 'text'],
    ['an input that is a list', [{ text: 'secret' }]],
    ['a member below a text', { text: undefined as never }],
  ])('denies a step with %s, and says why', (_what, input) => {
    const verdict = verdictOf([aDefinition(requiring('input.text'))], aStep({ input }));
    expect(verdict).toMatchObject({ is_safe: false, matches: [], non_matches: [] });
    expect(verdict.errors[0]?.result).toMatchObject({ matched: false, error: LACKING, message: LACKING });
    expect(verdict.errors[0]?.result.metadata).toMatchObject({
      condition_trace: { type: 'leaf', selector_path: 'input.text', error: LACKING },
    });
  });

  it.each<[string, JsonValue, boolean]>([
    ['the data match', { text: 'a secret' }, false],
    ['the data do not match', { text: 'harmless' }, true],
    ['the data are empty', { text: '' }, true],
    ['the data are false', { text: false }, true],
  ])('changes nothing where %s', (_what, input, isSafe) => {
    const step = aStep({ input });
    const verdict = verdictOf([aDefinition(requiring('input.text'))], step);
    const plain = verdictOf([aDefinition(aLeaf('regex', { pattern: 'secret' }, 'input.text'))], step);
    expect(verdict.is_safe).toBe(isSafe);
    expect({ ...verdict, matches: idsOf(verdict.matches) }).toEqual({
      ...plain,
      matches: idsOf(plain.matches),
    });
  });

  it('leaves the verdict of other decisions than deny, like every error of a check', () => {
    for (const decision of ['steer', 'observe'] as const) {
      const verdict = verdictOf([aDefinition(requiring('input.text'), decision)], aStep({ input: {} }));
      expect(verdict).toMatchObject({ is_safe: true, errors: [{ result: { error: LACKING } }] });
    }
  });

  it('is an error in every place of a condition that is reached', () => {
    const lacking = requiring('input.text');
    const isThere = aLeaf('regex', { pattern: 'hello' }, 'input.q');
    const unsafe = (condition: JsonObject) => !verdictOf([aDefinition(condition)], aStep()).is_safe;
    expect(unsafe({ not: lacking })).toBe(true);
    expect(unsafe({ and: [lacking, isThere] })).toBe(true);
    expect(unsafe({ or: [lacking, isThere] })).toBe(true);
    // Not reached: a match has decided.
    const { errors, matches } = verdictOf([aDefinition({ or: [isThere, lacking] })], aStep());
    expect([errors, idsOf(matches)]).toEqual([[], [1]]);
  });

  it('is apart from the same check without it in the same program', () => {
    const plain = aLeaf('regex', { pattern: 'secret' }, 'input.text');
    const definitions = [
      aDefinition(plain),
      aDefinition(requiring('input.text')),
      aDefinition(requiring('input.text', false)),
    ];
    const verdict = verdictOf(definitions, aStep({ input: {} }));
    expect([idsOf(verdict.errors), idsOf(verdict.non_matches)]).toEqual([[2], [3, 1]]);
  });

  it('is no failure of the evaluator, of which the operator would be told', () => {
    const failures: ControlFailure[] = [];
    const definitions = [aDefinition(requiring('input.text')), aDefinition(aLeaf('none'))];
    const program = aProgram(definitions, [], { onFailure: (failure) => failures.push(failure) });
    program.evaluate(aStep({ input: {} }), 'pre', 'full');
    expect(failures.map(({ controlId }) => controlId)).toEqual([2]);
  });

  it('is damaged, and so denies, if it is neither true nor false', () => {
    const verdict = verdictOf([aDefinition(requiring('input.q', 'yes'))], aStep());
    expect(verdict.is_safe).toBe(false);
  });

  it('never lets more through', () => {
    const value = fc.oneof(fc.constant(null), fc.constantFrom('secret', 'x', ''), fc.integer());
    const inputs = fc.oneof(value, fc.dictionary(fc.constantFrom('a', 'b'), value), fc.array(value));
    const paths = fc.constantFrom('input', 'input.a', 'input.b', 'output.a', '*', 'name');
    const decisions = fc.constantFrom<Decision>('deny', 'steer', 'observe');
    fc.assert(
      fc.property(inputs, paths, decisions, (input, path, decision) => {
        const step = aStep({ input });
        const plain = verdictOf([aDefinition(aLeaf('regex', { pattern: 'secret' }, path), decision)], step);
        const required = verdictOf([aDefinition(requiring(path), decision)], step);
        expect(required.is_safe && !plain.is_safe).toBe(false);
      }),
    );
  });
});
