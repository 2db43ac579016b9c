import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { registeredTypes } from '../../../src/manage/agents/expression-types.js';
import { addSteps, emptyCatalogue } from '../../../src/manage/agents/steps-catalogue.js';
import { judgeExpression } from '../../../src/manage/controls/expression-inspection.js';

const closed = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  additionalProperties: false,
});
const PAY = {
  type: 'tool',
  name: 'pay',
  input_schema: closed({ amount: { type: 'number' }, to: { type: 'string' } }),
};
const NOTE = {
  type: 'tool',
  name: 'note',
  input_schema: { type: 'object', properties: { text: { type: 'string' } } },
};
const BARE = { type: 'tool', name: 'bare' };
const READ = { type: 'tool', name: 'read', output_schema: closed({ body: { type: 'string' } }) };

/** The problems of an expression for registered steps, each with whether it is an error. */
function judged(
  text: string,
  steps: readonly object[],
  {
    path = '*',
    isComplete = true,
    scope = {},
  }: { path?: string; isComplete?: boolean; scope?: JsonObject } = {},
): string[] {
  const catalogue = { ...emptyCatalogue('any agent'), isComplete };
  addSteps(catalogue, JSON.stringify({ steps }));
  const { problems } = judgeExpression(text, path, registeredTypes(scope, catalogue));
  return problems.map(({ problem: { code }, isError }) => `${isError ? 'error' : 'warning'} ${code}`);
}

describe('an expression and the schemas of registered steps', () => {
  it.each<[string, string, readonly object[], string[]]>([
    ['a member that the schema has', 'input.amount > 1', [PAY], []],
    ['a member that it does not have', 'input.total > 1', [PAY], ['error unknown_member']],
    ['a comparison of a text with a number', "input.amount == 'x'", [PAY], ['error type']],
    ['a result that is no boolean', 'input.to', [PAY], ['error result']],
    ['a member that an open schema does not name', "input.body == ''", [NOTE], ['warning unknown_member']],
    ['a member that one of two steps has', "input.text == '' || input.amount > 1", [PAY, NOTE], []],
    ['a member that no step with a schema has', 'input.total > 1', [PAY, BARE], ['warning unknown_member']],
    ['steps without schemas', 'input.total > 1', [BARE], []],
    ['no steps', 'input.total > 1', [], []],
    ['a member of the output', "output.body == ''", [READ], []],
    ['a member that the output does not have', "output.text == ''", [READ], ['error unknown_member']],
    ['the output of a step that has not run', 'output == null', [READ], []],
    ['mistakes of its own', 'inptu.amount > 1', [PAY], ['error unknown_name']],
    ['what is true for every step', 'true || input.amount > 1', [PAY], ['warning always_true']],
  ])('is judged for %s', (_what, text, steps, expected) => {
    expect(judged(text, steps)).toEqual(expected);
  });

  it('is not refused while registrations were left out', () => {
    expect(judged('input.total > 1', [PAY], { isComplete: false })).toEqual(['warning unknown_member']);
  });

  it('is judged for the steps that the scope selects', () => {
    expect(judged('input.total > 1', [PAY, BARE], { scope: { step_names: ['pay'] } })).toEqual([
      'error unknown_member',
    ]);
    expect(judged('input.total > 1', [PAY, BARE], { scope: { step_names: ['bare'] } })).toEqual([]);
    expect(judged('input.total > 1', [PAY], { scope: { step_types: ['llm'] } })).toEqual([]);
    expect(judged('input.total > 1', [PAY, BARE], { scope: { step_name_regex: '^pa' } })).toEqual([
      'error unknown_member',
    ]);
  });

  it('is judged by what its selector selects', () => {
    expect(judged('value > 1', [PAY], { path: 'input.amount' })).toEqual([]);
    expect(judged('value > 1', [PAY], { path: 'input.to' })).toEqual(['error type']);
    expect(judged("value == 'x'", [PAY], { path: 'name' })).toEqual([]);
    expect(judged('value.amount > 1', [PAY], { path: 'input' })).toEqual([]);
    expect(judged('value.total > 1', [PAY], { path: 'input' })).toEqual(['error unknown_member']);
    expect(judged('value.input.amount > 1', [PAY])).toEqual([]);
  });
});
