import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { parseInput } from '../../../src/contract/input/parse-input.js';
import { createControlDataSchema } from '../../../src/manage/controls/control-data.js';
import { proposeControl } from '../../../src/manage/controls/control-proposal.js';
import { type ControlDefinition, isDraft } from '../../../src/manage/controls/definition/definition.js';
import { isHiddenBy } from '../../../src/manage/controls/definition-warnings/hiding-deny.js';
import { compileProgram } from '../../kernel/core/compile-program.js';
import { serviceRegistry } from '../../support/evaluators.js';

const registry = serviceRegistry;
const schema = createControlDataSchema(registry);

function control(condition: JsonObject, decision: string, more: JsonObject = {}): ControlDefinition {
  const steering = decision === 'steer' ? { steering_context: { message: 'ask' } } : {};
  const data = { execution: 'server', condition, action: { decision, ...steering }, ...more };
  const stored = proposeControl(parseInput(schema, data), registry).storedInPlaceOf(null);
  if (isDraft(stored)) throw new Error('a draft');
  return stored;
}

const leaf = (word: string, path = 'input') => ({
  selector: { path },
  evaluator: { name: 'list', config: { values: [word], match_mode: 'contains' } },
});
const names = (values: readonly string[]) => ({
  selector: { path: 'name' },
  evaluator: { name: 'list', config: { values: [...values] } },
});
const hidden = (condition: JsonObject, deny: JsonObject, more: JsonObject = {}, denyMore: JsonObject = {}) =>
  isHiddenBy(control(condition, 'steer', more), control(deny, 'deny', denyMore), registry);

describe('a control that denies', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['the same', leaf('a'), leaf('a')],
    ['one part of an and', { and: [leaf('a'), leaf('b')] }, leaf('a')],
    ['one more alternative', leaf('a'), { or: [leaf('b'), leaf('a')] }],
    ['parts in another order', { and: [leaf('a'), leaf('b')] }, { and: [leaf('b'), leaf('a')] }],
    ['less below a not', { not: { or: [leaf('a'), leaf('b')] } }, { not: leaf('a') }],
    ['more values of a list', names(['x']), names(['x', 'y'])],
    [
      'everything',
      leaf('a'),
      { selector: { path: '*' }, evaluator: { name: 'regex', config: { pattern: '' } } },
    ],
  ])('hides one with the condition: %s', (_, condition, deny) => {
    expect(hidden(condition, deny)).toBe(true);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['another check', leaf('a'), leaf('b')],
    ['another member', leaf('a'), leaf('a', 'output')],
    ['one more demand', leaf('a'), { and: [leaf('a'), leaf('b')] }],
    ['fewer values of a list', names(['x', 'y']), names(['x'])],
    ['the opposite', leaf('a'), { not: leaf('a') }],
  ])('does not hide one with the condition: %s', (_, condition, deny) => {
    expect(hidden(condition, deny)).toBe(false);
  });

  it.each<[JsonObject, JsonObject, boolean]>([
    [{ step_names: ['a'] }, {}, true],
    [{}, { step_names: ['a'] }, false],
    [{ step_names: ['a'] }, { step_names: ['a', 'b'] }, true],
    [{ step_names: ['send_x'] }, { step_name_regex: '^send' }, true],
    [{ step_name_regex: '^send' }, { step_name_regex: '^send' }, true],
    [{ step_name_regex: '^send' }, { step_names: ['send'] }, false],
    [{ stages: ['pre'] }, { stages: ['pre', 'post'] }, true],
    [{}, { stages: ['pre'] }, false],
    [{ step_types: ['llm'] }, { step_types: ['tool'] }, false],
  ])('of the scope %j and %j: %s', (scope, denyScope, expected) => {
    expect(hidden(leaf('a'), leaf('a'), { scope }, { scope: denyScope })).toBe(expected);
  });

  it('hides nothing that observes, is disabled, or is evaluated by clients', () => {
    const deny = control(leaf('a'), 'deny');
    expect(isHiddenBy(control(leaf('a'), 'observe'), deny, registry)).toBe(false);
    expect(isHiddenBy(control(leaf('a'), 'steer', { enabled: false }), deny, registry)).toBe(false);
    expect(isHiddenBy(control(leaf('a'), 'steer', { execution: 'sdk' }), deny, registry)).toBe(false);
    expect(hidden(leaf('a'), leaf('a'), {}, { enabled: false })).toBe(false);
  });
});

/** Conditions over three words, nested at will. */
const conditions = fc.letrec<{ node: JsonObject }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', 'b', 'c').map((word) => leaf(word)),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
    tie('node').map((not) => ({ not })),
  ),
})).node;
const INPUTS = ['', 'a', 'b', 'c', 'a b', 'a c', 'b c', 'a b c'];

describe('what is said to be hidden', () => {
  it('is denied at every step that it matches', async () => {
    let certain = 0;
    await fc.assert(
      fc.asyncProperty(conditions, conditions, async (condition, deny) => {
        if (!hidden(condition, deny)) return;
        certain += 1;
        const program = compileProgram(
          [
            { id: 1, name: 'deny', definition: control(deny, 'deny') },
            { id: 2, name: 'steer', definition: control(condition, 'steer') },
          ],
          { registry, newExecutionId: () => 'x' },
        );
        for (const input of INPUTS) {
          const step = { type: 'llm', name: 'answer', input, output: null, context: null };
          const { matches } = await program.evaluate(step, 'pre', 'full');
          const matched = matches.map(({ control_name: name }) => name);
          if (matched.includes('steer')) expect(matched).toContain('deny');
        }
      }),
      { numRuns: 1_000 },
    );
    expect(certain).toBeGreaterThan(50);
  });
});
