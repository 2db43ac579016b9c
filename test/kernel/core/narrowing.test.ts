import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { Evaluator, RequiredStepText } from '../../../src/kernel/core/evaluator.js';
import type { Verdict } from '../../../src/kernel/core/types.js';
import { aDefinition, aLeaf, aProgram, aResult, aStep, fakeEvaluator } from './support.js';

/** An evaluator that keeps to `requires` of its configuration, and counts its checks of steps that satisfy it. */
function needing() {
  const counted = { checks: 0, useless: 0 };
  const miss = aResult({ matched: false, message: 'not the step' });
  const base = fakeEvaluator('needs', () => miss);
  const evaluator: Evaluator = {
    ...base,
    compile(config: JsonObject) {
      const requires = (config.requires ?? []) as unknown as readonly RequiredStepText[];
      return {
        requires,
        evaluate(_data, { step, stage }) {
          counted.checks += 1;
          const isRight = requires.every(({ member, texts }) =>
            texts.includes(member === 'stage' ? stage : step[member]),
          );
          if (isRight) return aResult({ matched: config.matched === true });
          counted.useless += 1;
          return miss;
        },
      };
    },
  };
  const failing = fakeEvaluator('fails', () => {
    throw new Error('this check always fails');
  });
  const always = fakeEvaluator('always', (config) => aResult({ matched: config.matched === true }));
  return { counted, evaluators: [evaluator, failing, always] };
}

const NAMES = ['search', 'send', 'pay'];
const TYPES = ['tool', 'llm'];
const requirement = fc.oneof(
  fc.record({ member: fc.constant('name'), texts: fc.subarray(NAMES, { minLength: 1 }) }),
  fc.record({ member: fc.constant('type'), texts: fc.subarray(TYPES, { minLength: 1 }) }),
  fc.record({ member: fc.constant('stage'), texts: fc.subarray(['pre', 'post'], { minLength: 1 }) }),
);
const leaf = fc.oneof(
  fc
    .record({ requires: fc.array(requirement, { maxLength: 2 }), matched: fc.boolean() })
    .map((config) => aLeaf('needs', config as unknown as JsonObject)),
  fc.constant(aLeaf('fails')),
  fc.boolean().map((matched) => aLeaf('always', { matched })),
  fc.record({ requires: fc.array(requirement, { maxLength: 2 }), matched: fc.boolean() }).map((config) => ({
    selector: { path: 'input.absent', required: true },
    evaluator: { name: 'needs', config: config as unknown as JsonObject },
  })),
);
const { condition } = fc.letrec<{ condition: JsonObject }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small' },
    leaf as fc.Arbitrary<JsonObject>,
    fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
    tie('condition').map((not) => ({ not })),
  ),
}));
const scope = fc.record(
  {
    step_names: fc.subarray(NAMES, { minLength: 1 }),
    step_types: fc.subarray(TYPES, { minLength: 1 }),
    stages: fc.subarray(['pre', 'post'], { minLength: 1 }),
    step_name_regex: fc.constantFrom('^se', '('),
  },
  { requiredKeys: [] },
);
const definition = fc
  .record({ condition, scope, decision: fc.constantFrom('deny' as const, 'observe' as const) })
  .map(({ condition, scope, decision }) => aDefinition(condition, decision, { scope: scope as JsonObject }));

/** What both details have. */
function brief(verdict: Verdict): object {
  const bare = (items: Verdict['matches']) =>
    items.map(({ control_id, action, result: { matched, error, confidence, message } }) => [
      control_id,
      action,
      matched,
      error,
      confidence,
      message,
    ]);
  const { matches, errors, non_matches: _, ...rest } = verdict;
  return { ...rest, matches: bare(matches), errors: bare(errors) };
}

describe('controls that a step cannot match', () => {
  it('leave the verdict as it is when all controls are evaluated', () => {
    fc.assert(
      fc.property(
        fc.array(definition, { maxLength: 8 }),
        fc.constantFrom(...NAMES, 'other'),
        fc.constantFrom(...TYPES, 'other'),
        fc.constantFrom('pre' as const, 'post' as const),
        (definitions, name, type, stage) => {
          const program = aProgram(definitions, needing().evaluators);
          const step = aStep({ name, type });
          // With full detail nothing is left out.
          const whole = program.evaluate(step, stage, 'full') as Verdict;
          const narrowed = program.evaluate(step, stage, 'verdict') as Verdict;
          expect(brief(narrowed)).toEqual(brief(whole));
          expect(whole.matches.length + whole.errors.length + whole.non_matches.length).toBe(
            whole.selected_controls - whole.skipped_controls,
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('are not evaluated for other steps, however many there are', () => {
    const { counted, evaluators } = needing();
    const definitions = Array.from({ length: 1_000 }, (_, index) => {
      const requires = [{ member: 'name', texts: [`step-${index}`] }];
      return aDefinition({ and: [aLeaf('needs', { requires, matched: true }), aLeaf('fails')] });
    });
    const program = aProgram(definitions, evaluators);
    const verdict = program.evaluate(aStep({ name: 'step-7' }), 'pre', 'verdict') as Verdict;
    expect(counted.checks).toBe(1);
    expect(verdict).toMatchObject({ selected_controls: 1_000, evaluated_controls: 999, skipped_controls: 0 });
    expect(verdict.errors.map(({ control_id }) => control_id)).toEqual([8]);
  });

  it('are evaluated where a check before them may fail', () => {
    const requires = [{ member: 'name', texts: ['another'] }];
    const { evaluators } = needing();
    const program = aProgram(
      [aDefinition({ and: [aLeaf('fails'), aLeaf('needs', { requires })] })],
      evaluators,
    );
    expect(program.evaluate(aStep(), 'pre', 'verdict')).toMatchObject({ is_safe: false });
  });
});

describe('what checks are told about an evaluation', () => {
  it('is the step, its stage, the agent and one time', () => {
    const told: unknown[] = [];
    const asks = fakeEvaluator('asks', (_config, _data, call) => {
      told.push([call.step, call.stage, call.agent, call.nowMs()]);
      return aResult({ matched: false });
    });
    let time = 1_000;
    const now = () => {
      time += 1;
      return time;
    };
    const program = aProgram(
      [aDefinition({ or: [aLeaf('asks', { a: 1 }), aLeaf('asks', { a: 2 })] })],
      [asks],
      { now },
    );
    const step = aStep();
    const agent = { name: 'agent', metadata: { team: 'red' } };
    program.evaluate(step, 'post', 'verdict', undefined, 0, agent);
    program.evaluate(step, 'pre', 'verdict');
    expect(told).toEqual([
      [step, 'post', agent, 1_001],
      [step, 'post', agent, 1_001],
      [step, 'pre', null, 1_002],
      [step, 'pre', null, 1_002],
    ]);
  });

  it('makes a check without a clock an error', () => {
    const asks = fakeEvaluator('asks', (_config, _data, call) => aResult({ matched: call.nowMs() > 0 }));
    expect(aProgram([aDefinition(aLeaf('asks'))], [asks]).evaluate(aStep(), 'pre', 'verdict')).toMatchObject({
      is_safe: false,
      errors: [{ control_id: 1 }],
    });
  });
});
