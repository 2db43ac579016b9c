import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { parseInput } from '../../../src/contract/input/parse-input.js';
import { createControlDataSchema } from '../../../src/manage/controls/control-data.js';
import { proposeControl } from '../../../src/manage/controls/control-proposal.js';
import { definitionWarnings } from '../../../src/manage/controls/definition-warnings/definition-warnings.js';
import { serviceRegistry } from '../../support/evaluators.js';

const registry = serviceRegistry;
const schema = createControlDataSchema(registry);

function told(condition: JsonObject, scope: JsonObject = {}, decision = 'deny'): string[] {
  const data = { execution: 'server', condition, scope, action: { decision } };
  const control = proposeControl(parseInput(schema, data), registry).storedInPlaceOf(null);
  return [...definitionWarnings(control, registry)]
    .filter(({ code }) => code === 'never_matches' || code === 'always_matches')
    .map(({ field, code, message }) => `${field} ${code}: ${message}`);
}

const regex = (pattern: string, path = 'input') => ({
  selector: { path },
  evaluator: { name: 'regex', config: { pattern } },
});
const list = (values: readonly string[], path = 'name', more: JsonObject = {}) => ({
  selector: { path },
  evaluator: { name: 'list', config: { values: [...values], ...more } },
});
const cel = (expression: string) => ({
  selector: { path: '*' },
  evaluator: { name: 'cel', config: { expression } },
});
const NEVER = 'a^b';

describe('a condition that no step can match', () => {
  it.each<[string, JsonObject, JsonObject, string]>([
    [
      'an and with a pattern that is found nowhere',
      { and: [regex('x'), regex(NEVER)] },
      {},
      'data.condition.and[1]',
    ],
    ['an or of two of them', { or: [regex(NEVER), regex(NEVER, 'output')] }, {}, 'data.condition.or[0]'],
    [
      'an output before there is one',
      { and: [regex('x'), regex('y', 'output')] },
      { stages: ['pre'] },
      'data.condition.and[1]',
    ],
    [
      'a name beyond the scope',
      { and: [regex('x'), list(['send'])] },
      { step_names: ['read'] },
      'data.condition.and[1]',
    ],
    [
      'an expression that demands a name beyond the scope',
      { and: [regex('x'), cel("name == 'send' && input.amount > 1")] },
      { step_names: ['read'] },
      'data.condition.and[1]',
    ],
    [
      'an expression for another stage',
      { and: [cel("stage == 'post'"), regex('x')] },
      { stages: ['pre'] },
      'data.condition.and[0]',
    ],
    [
      'a type beyond the scope',
      { and: [list(['llm'], 'type')] },
      { step_types: ['tool'] },
      'data.condition.and[0]',
    ],
  ])('is %s', (_, condition, scope, part) => {
    expect(told(condition, scope)).toContainEqual(
      `data.condition never_matches: no step can match: ${part} never does, so the control has no effect`,
    );
  });

  it('is a single check of a name that the scope does not have', () => {
    expect(told(list(['send']), { step_names: ['read'] })).toEqual([
      'data.condition never_matches: no step can match, so the control has no effect',
    ]);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['a name of the scope in another case', list(['SEND']), { step_names: ['send'] }],
    [
      'a name that only the pattern of the scope allows',
      list(['send']),
      { step_names: ['a'], step_name_regex: 's' },
    ],
    ['one of two alternatives', { or: [regex(NEVER), regex('x')] }, {}],
    ['an output after the step as well', regex('x', 'output'), { stages: ['pre', 'post'] }],
    ['an unknown evaluator', { selector: { path: 'input' }, evaluator: { name: 'later', config: {} } }, {}],
  ])('is not one with %s', (_, condition, scope) => {
    expect(told(condition, scope).filter((text) => text.startsWith('data.condition '))).toEqual([]);
  });
});

describe('a condition that every step matches', () => {
  it.each<[string, JsonObject]>([
    ['any text', regex('.*')],
    ['any step', regex('', '*')],
    ['the opposite of what never matches', { not: regex(NEVER) }],
    ['one of two alternatives', { or: [regex('x'), regex('.*')] }],
    ['not an output before there is one, or anything', { or: [{ not: regex('x', 'name.x') }, regex('y')] }],
  ])('is %s', (_, condition) => {
    expect(told(condition).filter((text) => text.includes('always_matches'))).toEqual([
      'data.condition always_matches: every step of every agent that has this control matches, so it denies all of ' +
        'them; to do so on purpose, name step types or step names in the scope',
    ]);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['that names the steps it is for', regex('.*'), { step_names: ['delete_everything'] }],
    ['that names their types', regex('.*'), { step_types: ['llm'] }],
    ['of a member that a step may lack', regex('.*', 'input.text'), {}],
    ['of an output', regex('.*', 'output'), {}],
    ['with another demand', { and: [regex('.*'), regex('x')] }, {}],
  ])('has no warning for a control %s', (_, condition, scope) => {
    expect(told(condition, scope)).toEqual([]);
  });
});
