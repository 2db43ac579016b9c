import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { parseInput } from '../../../src/contract/input/parse-input.js';
import { isMistake, listed, WARNING_CODES, type Warning } from '../../../src/contract/warnings/warning.js';
import { createControlDataSchema } from '../../../src/manage/controls/control-data.js';
import { proposeControl } from '../../../src/manage/controls/control-proposal.js';
import { definitionWarnings } from '../../../src/manage/controls/definition-warnings/definition-warnings.js';
import { serviceRegistry } from '../../support/evaluators.js';

const registry = serviceRegistry;
const schema = createControlDataSchema(registry);

function warningsOf(data: JsonValue): Warning[] {
  const control = proposeControl(parseInput(schema, data), registry).storedInPlaceOf(null);
  return [...definitionWarnings(control, registry)];
}
const told = (data: JsonValue) => warningsOf(data).map(({ field, code }) => `${field} ${code}`);

const regex = (pattern = 'x') => ({ name: 'regex', config: { pattern } });
const leaf = (path = 'input', evaluator: JsonObject = regex()) => ({ selector: { path }, evaluator });
const definition = (more: JsonObject = {}): JsonObject => ({
  execution: 'server',
  condition: leaf(),
  action: { decision: 'deny' },
  ...more,
});
const scoped = (scope: JsonObject) => definition({ scope });

describe('a definition without anything to warn about', () => {
  it.each<[string, JsonObject]>([
    ['the smallest one', {}],
    [
      'a scope',
      { scope: { step_types: ['tool', 'anything'], step_names: ['send'], step_name_regex: '^se' } },
    ],
    ['a selector of a member', { condition: leaf('input.user.name') }],
    ['the whole step', { condition: leaf('*') }],
    ['the output at both stages', { condition: leaf('output'), scope: { stages: ['pre', 'post'] } }],
    [
      'emoji',
      { condition: leaf('input', { name: 'list', config: { values: ['👨‍👩‍👧', '❤️', '🏳️‍🌈', 'é'] } }) },
    ],
    [
      'the evaluator of an agent',
      { execution: 'sdk', condition: leaf('input', { name: 'some-agent-01:tone', config: { a: 1 } }) },
    ],
  ])('is one with %s', (_, more) => {
    expect(told(definition(more))).toEqual([]);
  });
});

describe('the scope of a definition', () => {
  it.each<[JsonObject, string]>([
    [{ step_names: ['send', 'send '] }, 'step_names[1] surrounding_blanks'],
    [{ step_name_regex: 'a^b' }, 'step_name_regex never_matches'],
    [{ step_name_regex: '^$' }, 'step_name_regex never_matches'],
    [{ step_name_regex: '^send$' }, 'step_name_regex end_anchor'],
    [{ step_types: ['to\u200bol'] }, 'step_types[0] invisible_characters'],
    [{ step_names: ['cafe\u0301'] }, 'step_names[0] decomposed_text'],
    [{ step_name_regex: 'cafe\u0301' }, 'step_name_regex decomposed_text'],
  ])('%j has a warning', (scope, expected) => {
    expect(told(scoped(scope))).toEqual([`data.scope.${expected}`]);
  });
});

describe('the selector of a leaf', () => {
  it.each([
    ['*.input', 'never_matches'],
    ['name.x', 'never_matches'],
    ['type.x', 'never_matches'],
    ['input. user', 'surrounding_blanks'],
    ['input.user ', 'surrounding_blanks'],
    ['input.items[0].name', 'list_index'],
    ['input.items[]', 'list_index'],
    ['input.te\u00adxt', 'invisible_characters'],
  ])('%j has a warning', (path, code) => {
    // What never matches always does below a not.
    const whole = code === 'never_matches' ? ['data.condition always_matches'] : [];
    expect(told(definition({ condition: { not: leaf(path) } }))).toEqual([
      `data.condition.not.selector.path ${code}`,
      ...whole,
    ]);
  });

  it('of the output has a warning where there is none yet', () => {
    const data = definition({ condition: leaf('output.text'), scope: { stages: ['pre'] } });
    expect(told(data)).toEqual(['data.condition.selector.path output_before_step']);
  });

  it.each<[string, JsonObject, string]>([
    ['cel', { expression: 'output.text == "a"' }, 'expression'],
    ['cel', { expression: 'has(input.a) && has(output.b)', on_missing: 'no_match' }, 'expression'],
    ['loop', { pattern: 'error', repeat: 3, within: { time: '10m' } }, 'pattern'],
  ])('and %s with %j', (name, config, member) => {
    const condition = leaf('*', { name, config });
    const field = `data.condition.evaluator.config.${member} output_before_step`;
    expect(told(definition({ condition, scope: { stages: ['pre'] } }))).toContain(field);
    for (const scope of [{ stages: ['pre', 'post'] }, { stages: ['post'] }, {}]) {
      expect(told(definition({ condition, scope }))).not.toContain(field);
    }
  });
});

describe('the evaluator of a leaf', () => {
  it('is reported by the path of its configuration', () => {
    const list = { name: 'list', config: { values: ['a '], match_on: 'no_match', match_mod: 'exact' } };
    expect(told(definition({ condition: { and: [leaf(), leaf('input', list)] } }))).toEqual([
      'data.condition.and[1].evaluator.config.match_mod unknown_member',
      'data.condition.and[1].evaluator.config.match_on absent_data',
      'data.condition.and[1].evaluator.config.values[0] surrounding_blanks',
    ]);
  });

  it('has no warning of absent data below an odd number of not', () => {
    const list = leaf('input', { name: 'list', config: { values: ['a'], match_on: 'no_match' } });
    expect(told(definition({ condition: { not: list } }))).toEqual([]);
    expect(told(definition({ condition: { not: { or: [{ not: list }] } } }))).toEqual([
      'data.condition.not.or[0].not.evaluator.config.match_on absent_data',
    ]);
  });

  it('has warnings for texts that are not what they seem, names among them', () => {
    const json = { name: 'json', config: { field_types: { 'use\u200br': 'string' } } };
    expect(told(definition({ condition: leaf('input', json) }))).toEqual([
      'data.condition.evaluator.config.field_types."use\\u200br" invisible_characters',
    ]);
    const list = { name: 'list', config: { values: ['Cafe\u0301', 'ad\u200bmin'] } };
    const [decomposed, invisible] = warningsOf(definition({ condition: leaf('input', list) }));
    expect(decomposed?.message).toBe(
      '"Cafe\\u0301" is in decomposed form (NFD), which the same text in composed form (NFC) does not match; normalize "nfkc" makes such forms of the data one',
    );
    expect(invisible?.message).toBe(
      '"ad\\u200bmin" has the invisible character U+200B, without which a text does not match it; normalize "nfkc" makes such forms of the data one',
    );
  });

  it('is named, with the one that was probably meant, when the service lacks it', () => {
    const data = definition({ condition: leaf('input', { name: 'regexp', config: { any: 1 } }) });
    expect(warningsOf(data)).toEqual([
      {
        code: 'unknown_evaluator',
        field: 'data.condition.evaluator.name',
        message:
          'The service has no evaluator "regexp"; did you mean regex? Until it has, this check is an error, which fails closed.',
      },
    ]);
    expect(warningsOf(definition({ condition: leaf('input', { name: 'tone', config: {} }) }))).toMatchObject([
      {
        message:
          'The service has no evaluator "tone". Until it has, this check is an error, which fails closed.',
      },
    ]);
    expect(warningsOf({ ...data, execution: 'sdk' })).toMatchObject([
      { code: 'client_evaluator', field: 'data.condition.evaluator.name' },
    ]);
  });
  it('is told what the service cannot run because only the client of an agent has it', () => {
    const condition = leaf('input', { name: 'some-agent-01:tone', config: {} });
    expect(warningsOf(definition({ condition }))).toEqual([
      {
        code: 'unconfigured_evaluator',
        field: 'data.condition.evaluator.name',
        message:
          '"some-agent-01:tone" is an evaluator of the agent "some-agent-01", which only its client has: the service cannot run it, and this check is an error, which fails closed. Use execution "sdk".',
      },
    ]);
  });
});

describe('a template', () => {
  const template = (definition_template: JsonObject, names = ['words']) => ({
    parameters: Object.fromEntries(names.map((name) => [name, { type: 'string_list', label: name }])),
    definition_template,
  });
  const made = (values: JsonValue, more: JsonObject = {}) =>
    definition({ condition: leaf('input', { name: 'list', config: { values } }), ...more });

  it('without values names each that is missing', () => {
    const two = made({ $param: 'words' }, { tags: { $param: 'tags' } });
    const data = { template: template(two, ['words', 'tags']), template_values: { tags: ['x'] } };
    expect(warningsOf(data)).toEqual([
      {
        code: 'incomplete_template',
        field: 'template_values.words',
        message: 'Stored as disabled draft: template_values.words is missing',
      },
    ]);
    expect(told({ ...data, template_values: {} })).toEqual([
      'template_values.words incomplete_template',
      'template_values.tags incomplete_template',
    ]);
  });

  it('is looked through for members that no definition has, whether it is complete or not', () => {
    const surplus = made({ $param: 'words' }, { scop: {}, scope: { step_type: ['tool'] } });
    const fields = [
      'data.template.definition_template.scop unknown_member',
      'data.template.definition_template.scope.step_type unknown_member',
    ];
    const data = { template: template(surplus), template_values: { words: ['x'] } };
    expect(told(data)).toEqual(fields);
    expect(told({ template: data.template })).toEqual([
      'template_values.words incomplete_template',
      ...fields,
    ]);
  });

  it('that is complete has the warnings of what it gives', () => {
    const data = { template: template(made({ $param: 'words' })), template_values: { words: ['x '] } };
    expect(told(data)).toEqual(['data.condition.evaluator.config.values[0] surrounding_blanks']);
  });
});

describe('warnings as replies list them', () => {
  it('are mistakes first, then notes', () => {
    const scope = { step_name_regex: '^send$', step_names: ['a '] };
    const all = listed(warningsOf(scoped(scope)), [{ code: 'unknown_member', field: 'x', message: '' }]);
    expect(all.map(({ code }) => code)).toEqual(['surrounding_blanks', 'unknown_member', 'end_anchor']);
    expect(all.map(isMistake)).toEqual([true, true, false]);
  });

  it('keep mistakes however many notes come before them', () => {
    const notes = Array.from(
      { length: 500 },
      (): Warning => ({ code: 'end_anchor', field: 'x', message: '' }),
    );
    const all = listed(notes, [{ code: 'never_matches', field: 'y', message: '' }]);
    expect(all.filter(isMistake)).toHaveLength(1);
    expect(all.at(-1)).toMatchObject({
      code: 'more_warnings',
      message: '400 more warning(s) are not listed',
    });
  });

  it('cost what a definition is long', () => {
    const values = Array.from({ length: 100_000 }, (_, index) => `value ${index} `);
    const data = definition({ condition: leaf('input', { name: 'list', config: { values } }) });
    const all = listed(warningsOf(data));
    expect(all).toHaveLength(101);
    expect(all.at(-1)?.message).toBe('99900 more warning(s) are not listed');
  });

  it('have codes of two kinds', () => {
    expect(new Set(Object.values(WARNING_CODES))).toEqual(new Set(['mistake', 'note']));
  });
});
