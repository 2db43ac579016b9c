import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision, Verdict } from '../../../src/kernel/core/types.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import { compileProgram } from './compile-program.js';
import { aDefinition, aLeaf, aProgram, aResult, aStep, fakeEvaluator, idsOf, verdictOf } from './support.js';

type Answer = 'match' | 'miss' | 'fail';

const scripted = fakeEvaluator('scripted', (config) => {
  if (config.answer === 'fail') throw new Error('secret detail');
  return aResult({ matched: config.answer === 'match', message: `${config.answer}`, metadata: { a: 1 } });
});
const control = (decision: Decision, answer: Answer) => aDefinition(aLeaf('scripted', { answer }), decision);
const evaluators = [scripted];

describe('a verdict', () => {
  it('follows the rules for safety and confidence, whatever the controls', () => {
    const controls = fc.array(
      fc.record({
        decision: fc.constantFrom<Decision>('deny', 'steer', 'observe'),
        answer: fc.constantFrom<Answer>('match', 'miss', 'fail'),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(controls, (given) => {
        const has = (decision: Decision, answer: Answer) =>
          given.some((one) => one.decision === decision && one.answer === answer);
        const verdict = verdictOf(
          given.map(({ decision, answer }) => control(decision, answer)),
          aStep(),
          { evaluators },
        );
        const unsafe = has('deny', 'match') || has('deny', 'fail') || has('steer', 'match');
        const sound = given.filter(({ answer }) => answer !== 'fail').length;
        const confidence = has('deny', 'fail')
          ? 0
          : has('deny', 'match')
            ? 1
            : given.length === 0
              ? 1
              : sound / given.length;
        const idsWith = (wanted: Answer) =>
          given.flatMap(({ answer }, index) => (answer === wanted ? [index + 1] : [])).reverse();
        expect(verdict.is_safe).toBe(!unsafe);
        expect(verdict.confidence).toBe(confidence);
        expect(verdict.reason === null).toBe(verdict.is_safe);
        expect(idsOf(verdict.matches)).toEqual(idsWith('match'));
        expect(idsOf(verdict.errors)).toEqual(idsWith('fail'));
        expect(idsOf(verdict.non_matches)).toEqual(idsWith('miss'));
      }),
    );
  });

  it('orders by control id descending, whatever the order of the controls', () => {
    const definition = control('observe', 'match');
    const controls = [3, 12, 1, 7].map((id) => ({ id, name: `control-${id}`, definition }));
    const program = compileProgram([...controls, { id: 9, name: 'off', definition: { enabled: false } }], {
      registry: createRegistry(evaluators),
      newExecutionId: () => 'id',
    });
    expect(program.controlIds).toEqual([12, 9, 7, 3, 1]);
    const verdict = program.evaluate(aStep(), 'pre', 'verdict') as Verdict;
    expect(idsOf(verdict.matches)).toEqual([12, 7, 3, 1]);
  });

  it('is safe with full confidence when there are no controls', () => {
    expect(verdictOf([])).toEqual({
      is_safe: true,
      confidence: 1,
      reason: null,
      matches: [],
      errors: [],
      non_matches: [],
      selected_controls: 0,
      evaluated_controls: 0,
      skipped_controls: 0,
    });
  });

  it('counts the controls in the scope of the step, and those that were evaluated without an error', () => {
    const controls = [control('deny', 'match'), control('observe', 'miss'), control('steer', 'fail')];
    expect(verdictOf(controls, aStep(), { evaluators })).toMatchObject({
      selected_controls: 3,
      evaluated_controls: 2,
      skipped_controls: 0,
    });
    const elsewhere = { ...control('deny', 'match'), scope: { stages: ['post'] } };
    expect(verdictOf([...controls, elsewhere], aStep(), { evaluators })).toMatchObject({
      selected_controls: 3,
      evaluated_controls: 2,
    });
  });

  it('copies the guidance, required actions included, into every list', () => {
    const steering_context = { message: 'ask', required_actions: ['approve', 'log'] };
    const definitions = (['match', 'miss', 'fail'] as const).map((answer) => ({
      ...control('observe', answer),
      action: { decision: 'observe', steering_context },
    }));
    const { matches, errors, non_matches } = verdictOf(definitions, aStep(), { evaluators });
    for (const [item] of [matches, errors, non_matches])
      expect(item?.steering_context).toEqual(steering_context);
  });

  it('draws execution ids only for what it returns', () => {
    const definitions = [control('observe', 'match'), control('observe', 'miss'), control('observe', 'fail')];
    const drawn: string[] = [];
    const newExecutionId = () => {
      drawn.push('id');
      return `id-${drawn.length}`;
    };
    const program = aProgram(definitions, evaluators, { newExecutionId });
    void program.evaluate(aStep(), 'pre', 'verdict');
    expect(drawn).toHaveLength(2);
    void program.evaluate(aStep(), 'pre', 'full');
    expect(drawn).toHaveLength(5);
  });

  it('has no metadata and no non-matches with detail verdict', () => {
    const definitions = [control('observe', 'match'), control('observe', 'miss'), control('observe', 'fail')];
    const verdict = verdictOf(definitions, aStep(), { detail: 'verdict', evaluators });
    expect(verdict.non_matches).toEqual([]);
    expect(verdict.matches[0]?.result).toEqual({
      matched: true,
      confidence: 1,
      message: 'match',
      metadata: null,
      error: null,
    });
    expect(verdict.errors[0]?.result.metadata).toBeNull();
  });
});

describe('the reason of a verdict', () => {
  const reasonOf = (...controls: ReturnType<typeof control>[]) =>
    verdictOf(controls, aStep(), { evaluators }).reason;

  it('names the control and states why', () => {
    expect(reasonOf(control('deny', 'match'))).toBe('deny control "control-1" matched: match');
    expect(reasonOf(control('deny', 'fail'))).toBe(
      'deny control "control-1" could not be evaluated: Internal evaluator error',
    );
    expect(reasonOf(control('steer', 'match'))).toBe('steer control "control-1" matched: match');
  });

  it('names what denies before what steers, and nothing that does not count', () => {
    const reason = reasonOf(
      control('deny', 'fail'),
      control('deny', 'match'),
      control('observe', 'match'),
      control('steer', 'fail'),
      control('steer', 'match'),
    );
    expect(reason?.match(/control-\d/g)).toEqual(['control-2', 'control-1', 'control-5']);
  });

  it('stays short, however many controls match and however long their messages', () => {
    const chatty = fakeEvaluator('chatty', () => aResult({ message: 'm'.repeat(10_000) }));
    const definitions = Array.from({ length: 50 }, () => aDefinition(aLeaf('chatty')));
    const { reason } = verdictOf(definitions, aStep(), { evaluators: [chatty] });
    expect(reason).toContain('and 45 more');
    expect(reason?.length).toBeLessThan(1_500);
  });
});
