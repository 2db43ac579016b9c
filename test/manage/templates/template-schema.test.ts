import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import { MAX_ERROR_ITEMS } from '../../../src/contract/input/items.js';
import { inputItems } from '../../../src/contract/input/parse-input.js';
import {
  MAX_PARAMETER_NAME_LENGTH,
  MAX_TEMPLATE_PARAMETERS,
  MAX_TEMPLATE_VALUES,
} from '../../../src/manage/templates/template.js';
import { templateInputSchema } from '../../../src/manage/templates/template-schema.js';
import { shapeProblems } from './support.js';

const withParameter = (parameter: JsonValue) => ({
  template: { parameters: { x: parameter }, definition_template: {} },
});
const withValues = (values: JsonValue) => ({
  template: { definition_template: {} },
  template_values: values,
});
const inTemplate = (definition: JsonValue) => ({ template: { definition_template: definition } });
const X = 'template.parameters.x';

describe('the shape of a template', () => {
  it.each<[string, JsonValue, string[]]>([
    ['nothing at all', {}, ['template missing']],
    ['no object', { template: 5 }, ['template model_type']],
    ['no definition', { template: {} }, ['template.definition_template missing']],
    [
      'a description that is no text',
      { template: { description: 5, definition_template: {} } },
      ['template.description string_type'],
    ],
    [
      'null parameters',
      { template: { parameters: null, definition_template: {} } },
      ['template.parameters dict_type'],
    ],
    [
      'members beside it',
      { template: { definition_template: {} }, name: 'x', enabled: null },
      ['name extra_forbidden', 'enabled extra_forbidden'],
    ],
    ['members beside a wrong one', { template: 1, more: 1 }, ['template model_type', 'more extra_forbidden']],
  ])('is refused with %s', (_name, input, expected) => {
    expect(shapeProblems(input)).toEqual(expected);
  });

  it('does not look at unknown members inside', () => {
    const parameter = { type: 'string', label: 'X', more: 1 };
    const input = { template: { parameters: { x: parameter }, definition_template: {}, more: 1 } };
    expect(inputItems(templateInputSchema, input).value).toStrictEqual({
      template: {
        parameters: { x: { label: 'X', required: true, type: 'string' } },
        definition_template: {},
      },
    });
  });

  it.each<[string, JsonValue, string[]]>([
    ['no object', 'x', [`${X} model_attributes_type`]],
    ['no type', { label: 'X' }, [`${X} union_tag_not_found`]],
    ['an unknown type', { label: 'X', type: 'number' }, [`${X} union_tag_invalid`]],
    ['a null type', { label: 'X', type: null }, [`${X} union_tag_invalid`]],
    ['a type every object has', { label: 'X', type: 'constructor' }, [`${X} union_tag_invalid`]],
    ['no label', { type: 'string' }, [`${X}.string.label missing`]],
    ['an empty label', { type: 'boolean', label: '' }, [`${X}.boolean.label string_too_short`]],
    [
      'wrong facts',
      { type: 'string', label: 1, description: 2, required: null, ui_hint: 3 },
      [
        `${X}.string.label string_type`,
        `${X}.string.description string_type`,
        `${X}.string.required bool_type`,
        `${X}.string.ui_hint string_type`,
      ],
    ],
    [
      'a text that is none',
      { type: 'string', label: 'X', default: true, placeholder: 1 },
      [`${X}.string.default string_type`, `${X}.string.placeholder string_type`],
    ],
    [
      'a list that is none',
      { type: 'string_list', label: 'X', default: 'a', placeholder: [1, 'a', null] },
      [
        `${X}.string_list.default list_type`,
        `${X}.string_list.placeholder[0] string_type`,
        `${X}.string_list.placeholder[2] string_type`,
      ],
    ],
    ['an enum of nothing', { type: 'enum', label: 'X' }, [`${X}.enum.allowed_values missing`]],
    [
      'an empty enum',
      { type: 'enum', label: 'X', allowed_values: [] },
      [`${X}.enum.allowed_values too_short`],
    ],
    [
      'an enum of empty texts',
      { type: 'enum', label: 'X', allowed_values: ['a', ''] },
      [`${X}.enum.allowed_values[1] string_too_short`],
    ],
    [
      'an enum of equal texts',
      { type: 'enum', label: 'X', allowed_values: ['a', 'b', 'a'] },
      [`${X}.enum.allowed_values value_error`],
    ],
    [
      'an enum with another default',
      { type: 'enum', label: 'X', allowed_values: ['a'], default: 'b' },
      [`${X}.enum.default value_error`],
    ],
    [
      'a boolean that is none',
      { type: 'boolean', label: 'X', default: 'perhaps' },
      [`${X}.boolean.default bool_parsing`],
    ],
    [
      'patterns that are none',
      { type: 'regex_re2', label: 'X', default: '(?=a)', placeholder: '(' },
      [`${X}.regex_re2.default value_error`, `${X}.regex_re2.placeholder value_error`],
    ],
  ])('is refused with a parameter with %s', (_name, parameter, expected) => {
    expect(shapeProblems(withParameter(parameter))).toEqual(expected);
  });

  it.each<[JsonObject]>([
    [{ type: 'string', label: 'X', default: null, placeholder: null, description: null, ui_hint: null }],
    [{ type: 'string_list', label: 'X', default: [], placeholder: ['a'] }],
    [{ type: 'enum', label: 'X', allowed_values: ['a'], default: 'a' }],
    [{ type: 'boolean', label: 'X', default: false, required: 'no' }],
    [{ type: 'regex_re2', label: 'X', default: '', placeholder: '\\d+' }],
  ])('may have the parameter %j', (parameter) => {
    expect(shapeProblems(withParameter(parameter))).toEqual([]);
  });

  it.each(['', '1a', 'a-b', 'a b', 'ä', 'a\n', 'x'.repeat(MAX_PARAMETER_NAME_LENGTH + 1)])(
    'is refused with the parameter name %j',
    (name) => {
      const parameters = { [name]: { type: 'string', label: 'X' } };
      expect(shapeProblems({ template: { parameters, definition_template: {} } })).toEqual([
        'template.parameters value_error',
      ]);
    },
  );

  it.each(['_', 'A1', '__proto__', 'constructor', 'x'.repeat(MAX_PARAMETER_NAME_LENGTH)])(
    'may have the parameter name %s',
    (name) => {
      const input = parseJson(
        `{"template":{"parameters":{"${name}":{"type":"string","label":"X"}},"definition_template":{}}}`,
      );
      const { value } = inputItems(templateInputSchema, input);
      expect(Object.keys(value?.template.parameters ?? {})).toEqual([name]);
    },
  );
});

describe('the values of a template', () => {
  it('are texts, booleans and lists of texts; 0 and 1 are booleans', () => {
    const values = { a: '', b: false, c: ['x'], d: [], e: 0, f: 1 };
    expect(inputItems(templateInputSchema, withValues(values)).value?.template_values).toStrictEqual({
      ...values,
      e: false,
      f: true,
    });
  });

  it.each<[string, JsonValue, string[]]>([
    ['null', null, ['template_values dict_type']],
    ['a list', [], ['template_values dict_type']],
    [
      'a null value',
      { w: null },
      [
        'template_values.w.str string_type',
        'template_values.w.bool bool_type',
        'template_values.w.list[str] list_type',
      ],
    ],
    [
      'a number',
      { w: 2 },
      [
        'template_values.w.str string_type',
        'template_values.w.bool bool_parsing',
        'template_values.w.list[str] list_type',
      ],
    ],
    [
      'an object',
      { w: {} },
      [
        'template_values.w.str string_type',
        'template_values.w.bool bool_type',
        'template_values.w.list[str] list_type',
      ],
    ],
    [
      'a mixed list',
      { w: ['a', 1] },
      [
        'template_values.w.str string_type',
        'template_values.w.bool bool_type',
        'template_values.w.list[str][1] string_type',
      ],
    ],
  ])('are refused as %s', (_name, values, expected) => {
    expect(shapeProblems(withValues(values))).toEqual(expected);
  });
});

/** `levels` objects within each other, the innermost around `inside`. */
function nested(levels: number, inside: JsonValue): JsonValue {
  let value = inside;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

function lists(levels: number, inside: JsonValue): JsonValue {
  let value = inside;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe('the limits of a template', () => {
  const TOO_LARGE = ['template.definition_template value_error'];

  it.each<[string, JsonValue, string[]]>([
    ['a value below 11 objects', nested(11, 1), []],
    ['a value below 12 objects', nested(12, 1), TOO_LARGE],
    ['an empty object below 11 others', nested(11, {}), []],
    ['lists, which add no depth', lists(180, nested(11, 1)), []],
    ['as many values as there may be', { a: Array(MAX_TEMPLATE_VALUES - 2).fill(0) }, []],
    ['one value more', { a: Array(MAX_TEMPLATE_VALUES - 1).fill(0) }, TOO_LARGE],
    ['a million values', Array(1_000_000).fill(null), TOO_LARGE],
  ])('let pass or refuse %s', (_name, definition, expected) => {
    expect(shapeProblems(inTemplate(definition))).toEqual(expected);
  });

  it.each<[string, JsonValue, string]>([
    ['size', Array(MAX_TEMPLATE_VALUES).fill(0), 'definition_template size exceeds maximum'],
    ['depth', nested(12, 1), 'definition_template nesting depth exceeds maximum'],
  ])('are told apart: %s', (_name, definition, phrase) => {
    const read = templateInputSchema.safeParse(inTemplate(definition));
    expect(read.error?.issues.map(({ message }) => message)).toEqual([expect.stringContaining(phrase)]);
  });

  it('hold for a text without containers', () => {
    expect(shapeProblems(inTemplate('x'.repeat(1_000_000)))).toEqual([]);
  });

  const parameters = (count: number, parameter: JsonValue) => ({
    template: {
      parameters: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, parameter])),
      definition_template: {},
    },
  });

  it('are on the number of parameters', () => {
    const parameter = { type: 'boolean', label: 'X' };
    expect(shapeProblems(parameters(MAX_TEMPLATE_PARAMETERS, parameter))).toEqual([]);
    expect(shapeProblems(parameters(MAX_TEMPLATE_PARAMETERS + 1, parameter))).toEqual([
      'template.parameters too_long',
    ]);
  });

  it('are on the cost of all patterns together', () => {
    const parameter = { type: 'regex_re2', label: 'X', default: '[a-z]{900}[a-z]{900}' };
    expect(shapeProblems(parameters(1, parameter))).toEqual([]);
    // Those after the one that exceeds the limit are not looked at.
    expect(shapeProblems(parameters(MAX_TEMPLATE_PARAMETERS, parameter))).toEqual([
      expect.stringMatching(/^template\.parameters\.p\d+\.regex_re2\.default value_error$/),
    ]);
  });

  it('are on the number of problems', () => {
    const values = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`v${index}`, null]));
    expect(shapeProblems(withValues(values))).toHaveLength(MAX_ERROR_ITEMS);
    expect(shapeProblems(withValues({ v: Array(50_000).fill(0) }))).toHaveLength(MAX_ERROR_ITEMS);
    const extras = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`e${index}`, null]));
    expect(shapeProblems({ ...inTemplate({}), ...extras })).toHaveLength(MAX_ERROR_ITEMS);
  });
});
