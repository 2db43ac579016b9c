import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { ControlProgram, EvaluatorResult } from '../../../src/kernel/core/types.js';
import type { ControlFailure } from './compile-program.js';
import { aDefinition, aLeaf, aProgram, aResult, aStep, fakeEvaluator, idsOf } from './support.js';

/** An evaluator that counts what it is asked. */
function counting(answer: (config: JsonObject) => EvaluatorResult | Promise<EvaluatorResult>) {
  const asked: JsonValue[] = [];
  const evaluator = fakeEvaluator('counted', (config, data) => {
    asked.push(data);
    return answer(config);
  });
  return { asked, evaluator };
}

const leaf = (config: JsonObject = {}, path = 'input.q') => aLeaf('counted', config, path);

describe('equal leaves', () => {
  it('are evaluated once per step, in whatever controls and places of a tree', () => {
    const { asked, evaluator } = counting(() => aResult());
    const program = aProgram(
      [
        aDefinition(leaf()),
        aDefinition({ and: [leaf(), { not: leaf() }] }, 'observe'),
        aDefinition({ or: [leaf(), leaf()] }),
      ],
      [evaluator],
    );
    for (const q of ['first', 'second', 'first']) {
      expect(program.evaluate(aStep({ input: { q } }), 'pre', 'verdict')).toMatchObject({ is_safe: false });
    }
    expect(asked).toEqual(['first', 'second', 'first']);
  });

  it('have the same path, evaluator and configuration, its members in the same order', () => {
    const { asked, evaluator } = counting(() => aResult());
    const other = fakeEvaluator('other', () => aResult());
    const leaves = [
      leaf({ a: 1, b: 2 }),
      leaf({ b: 2, a: 1 }),
      leaf({ a: 1, b: '2' }),
      leaf({ a: 1, b: 2 }, 'input'),
      leaf({ a: 1, b: 9_007_199_254_740_993n }),
      leaf({ a: 1, b: 9_007_199_254_740_992n }),
      aLeaf('other', { a: 1, b: 2 }, 'input.q'),
    ];
    const program = aProgram(
      leaves.map((one) => aDefinition(one, 'observe')),
      [evaluator, other],
    );
    expect(program.evaluate(aStep(), 'pre', 'full')).toMatchObject({ matches: { length: leaves.length } });
    expect(asked).toHaveLength(6);
  });

  it('await the same promise', async () => {
    const { asked, evaluator } = counting(async () => {
      await Promise.resolve();
      return aResult({ confidence: 0.5 });
    });
    const definitions = [
      aDefinition(leaf()),
      aDefinition({ and: [leaf(), leaf()] }),
      aDefinition({ not: leaf() }),
    ];
    const verdict = await aProgram(definitions, [evaluator]).evaluate(aStep(), 'pre', 'full');
    expect(asked).toHaveLength(1);
    expect([idsOf(verdict.matches), idsOf(verdict.non_matches)]).toEqual([[2, 1], [3]]);
  });

  it('are reported for each control that fails because of them', () => {
    const failures: ControlFailure[] = [];
    const { asked, evaluator } = counting(() => {
      throw new Error('broken');
    });
    const definitions = [aDefinition(leaf()), aDefinition({ not: leaf() }), aDefinition({ and: [leaf()] })];
    const program = aProgram(definitions, [evaluator], { onFailure: (failure) => failures.push(failure) });
    expect(program.evaluate(aStep(), 'pre', 'verdict')).toMatchObject({ errors: { length: 3 } });
    expect(asked).toHaveLength(1);
    expect(failures).toEqual(
      [3, 2, 1].map((id) => ({
        controlId: id,
        controlName: `control-${id}`,
        problem: 'evaluator counted: broken',
      })),
    );
  });

  it('have the trace of their own place each', () => {
    const { evaluator } = counting(() => aResult({ message: 'said' }));
    const definitions = [aDefinition({ or: [leaf(), leaf()] }), aDefinition(leaf())];
    const verdict = aProgram(definitions, [evaluator]).evaluate(aStep(), 'pre', 'full');
    expect(verdict).toMatchObject({
      matches: [
        { result: { metadata: { condition_trace: { type: 'leaf', evaluated: true, message: 'said' } } } },
        {
          result: {
            metadata: {
              condition_trace: { type: 'or', children: [{ evaluated: true }, { evaluated: false }] },
            },
          },
        },
      ],
    });
  });
});

/** Only tool steps, so that a program can be used without any evaluator being asked. */
const SCOPE = { scope: { step_types: ['tool'] } };

/** After this a program has what it uses again from evaluation to evaluation. */
function useOnce(program: ControlProgram): void {
  expect(program.evaluate(aStep({ type: 'llm' }), 'pre', 'verdict')).toMatchObject({ is_safe: true });
}

describe('what an evaluation found out', () => {
  it('is not mixed up with that of an evaluation under way', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = fakeEvaluator('slow', async (_config, data) => {
      await gate;
      return aResult({ message: String(data) });
    });
    const said = (q: string) => aLeaf('slow', {}, `input.${q}`);
    const program = aProgram(
      [said('q'), { and: [said('q'), said('r')] }].map((condition) => aDefinition(condition, 'deny', SCOPE)),
      [slow],
    );
    useOnce(program);
    const verdicts = ['a', 'b', 'c'].map((q) =>
      program.evaluate(aStep({ input: { q, r: q } }), 'pre', 'full'),
    );
    release();
    const messages = (await Promise.all(verdicts)).map((verdict) => verdict.matches[1]?.result.message);
    expect(messages).toEqual(['a', 'b', 'c']);
  });

  it('is not mixed up with that of a step that an evaluator evaluates', () => {
    const nested = fakeEvaluator('nested', (_config, data) => {
      if (data === 'outer') void program.evaluate(aStep({ input: { q: 'inner' } }), 'pre', 'verdict');
      return aResult({ message: String(data) });
    });
    const echo = aLeaf('nested', {}, 'input.q');
    const program = aProgram(
      [echo, { and: [echo, echo] }].map((condition) => aDefinition(condition, 'deny', SCOPE)),
      [nested],
    );
    useOnce(program);
    const verdict = program.evaluate(aStep({ input: { q: 'outer' } }), 'pre', 'full');
    expect(verdict).toMatchObject({ matches: [{}, { result: { message: 'outer' } }] });
  });
});
