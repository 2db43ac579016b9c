import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import { MAX_ERROR_ITEMS } from '../../../src/contract/input/items.js';
import { MAX_BOUND_SIZE } from '../../../src/manage/templates/template.js';
import { param, render, renderError, withPattern } from './support.js';

const TEXT = { type: 'string', label: 'A text' };
const LIST = { type: 'string_list', label: 'Some texts' };

/** A template with the parameters `text`, `list`, … that it uses. */
const template = (definition: JsonValue, parameters: JsonObject = {}): JsonObject => ({
  parameters,
  definition_template: definition,
});
const leafWith = (evaluator: JsonValue): JsonObject => ({ selector: {}, evaluator });

describe('the structure of a template', () => {
  it.each<[string, JsonObject, object[]]>([
    [
      'is no object',
      template([]),
      [{ code: 'invalid_definition_template_type', field: 'template.definition_template' }],
    ],
    [
      'sets enabled',
      template(withPattern('x', { enabled: true })),
      [{ code: 'forbidden_template_field', field: 'enabled' }],
    ],
    [
      'sets a name',
      template(withPattern('x', { name: null })),
      [{ code: 'forbidden_template_field', field: 'name' }],
    ],
    [
      'has the older flat shape',
      template({
        execution: 'server',
        action: { decision: 'deny' },
        ...leafWith({ name: 'list', config: {} }),
      }),
      [{ code: 'legacy_condition_format_not_supported', field: 'condition' }],
    ],
    [
      'has half the older flat shape and a null condition',
      template({ selector: {}, condition: null }),
      [{ code: 'legacy_condition_format_not_supported', field: 'condition' }],
    ],
    [
      'has a binding with siblings',
      template(withPattern({ $param: 'text', more: 1 }), { text: TEXT }),
      [{ code: 'invalid_param_binding', field: 'condition.evaluator.config.pattern' }],
    ],
    [
      'has a binding to no text',
      template({ tags: ['a', { $param: 1 }] }),
      [{ code: 'invalid_param_binding', field: 'tags[1]' }],
    ],
    [
      'refers to a parameter that is not there',
      template({ condition: { or: [leafWith({ name: param('other'), config: {} })] } }),
      [
        {
          code: 'undefined_parameter_reference',
          field: 'condition.or[0].evaluator.name',
          parameter: 'other',
        },
      ],
    ],
    [
      'refers to what every object has',
      template({ description: param('constructor') }),
      [{ code: 'undefined_parameter_reference', field: 'description', parameter: 'constructor' }],
    ],
    [
      'has an evaluator of an agent',
      template({ condition: { or: [{ not: leafWith({ name: 'some-agent:tone', config: {} }) }] } }),
      [{ code: 'agent_scoped_evaluator_not_supported', field: 'condition.or[0].not.evaluator.name' }],
    ],
    [
      'uses an optional parameter without a default',
      template(withPattern(param('text')), { text: { ...TEXT, required: false, default: null } }),
      [
        {
          code: 'optional_referenced_parameter_requires_default',
          field: 'template.parameters.text',
          parameter: 'text',
          parameterLabel: 'A text',
        },
      ],
    ],
  ])('is refused when it %s', (_name, given, expected) => {
    const items = expected.map((item) => ({
      parameter: undefined,
      parameterLabel: undefined,
      renderedField: (item as { field?: string }).field,
      ...item,
    }));
    expect(renderError(given)).toEqual({ code: 'TEMPLATE_RENDER_ERROR', items });
  });

  it('names every unused parameter', () => {
    const parameters = { b: TEXT, a: LIST, used: TEXT };
    const unused = (parameter: string, parameterLabel: string) => ({
      code: 'unused_template_parameter',
      field: `template.parameters.${parameter}`,
      parameter,
      parameterLabel,
      renderedField: undefined,
    });
    expect(renderError(template(withPattern(param('used')), parameters))).toEqual({
      code: 'TEMPLATE_RENDER_ERROR',
      items: [unused('b', 'A text'), unused('a', 'Some texts')],
    });
  });

  it('gives no field when the whole is a wrong binding', () => {
    expect(renderError(template({ $param: 'x', more: 1 })).items).toEqual([
      { code: 'invalid_param_binding' },
    ]);
  });

  it('is checked in order, up to the first failure', () => {
    const wrong = {
      enabled: true,
      selector: {},
      tags: [{ $param: 1 }, param('other')],
      evaluator: { name: 'a:b' },
    };
    const codes = (definition: JsonObject) =>
      renderError(template(definition, { x: TEXT })).items.map(({ code }) => code);
    expect(codes(wrong)).toEqual(['forbidden_template_field']);
    const { enabled: _enabled, ...flat } = wrong;
    expect(codes(flat)).toEqual(['legacy_condition_format_not_supported']);
    const condition = leafWith({ name: 'a:b', config: {} });
    expect(codes({ condition, tags: wrong.tags })).toEqual(['invalid_param_binding']);
    expect(codes({ condition, tags: [param('other')] })).toEqual(['undefined_parameter_reference']);
    expect(codes({ condition })).toEqual(['unused_template_parameter']);
    expect(codes({ condition, tags: [param('x')] })).toEqual(['agent_scoped_evaluator_not_supported']);
  });

  it('does not take data of an evaluator for evaluators or bindings of the condition', () => {
    const config = { values: ['x'], evaluator: { name: 'a:b' }, selector: 'a:b' };
    const rendering = render(
      template({ ...withPattern('x'), condition: leafWith({ name: 'list', config }) }),
    );
    expect(rendering).toMatchObject({ complete: true, definition: { condition: { evaluator: { config } } } });
  });

  it('shortens the name of a place with an absurdly long path', () => {
    const [item] = renderError(template({ ['x'.repeat(5_000_000)]: [param('y')] })).items;
    expect(item?.field?.length).toBeLessThan(2_000);
  });
});

describe('values', () => {
  const one = (parameter: JsonObject) => template(withPattern('x', { tags: [param('p')] }), { p: parameter });
  const label = 'P';

  it.each<[string, JsonObject, JsonValue, string]>([
    ['a boolean for a text', { type: 'string', label }, true, 'invalid_type'],
    ['a list for a text', { type: 'string', label }, ['x'], 'invalid_type'],
    ['a text for a list', { type: 'string_list', label }, 'x', 'invalid_type'],
    ['a text for a boolean', { type: 'boolean', label }, 'yes', 'invalid_type'],
    ['a boolean for an enum', { type: 'enum', label, allowed_values: ['a'] }, true, 'invalid_type'],
    ['another text for an enum', { type: 'enum', label, allowed_values: ['a'] }, 'A', 'invalid_enum_value'],
    ['a boolean for a pattern', { type: 'regex_re2', label }, false, 'invalid_type'],
    ['an invalid pattern', { type: 'regex_re2', label }, '(?<=a)b', 'invalid_regex'],
  ])('are refused: %s', (_name, parameter, value, code) => {
    expect(renderError(one(parameter), { p: value })).toEqual({
      code: 'TEMPLATE_PARAMETER_INVALID',
      items: [{ code, field: 'template_values.p', parameter: 'p', parameterLabel: 'P' }],
    });
  });

  it('that are missing are reported one at a time', () => {
    const given = template(withPattern(param('b'), { description: param('a') }), { a: TEXT, b: TEXT });
    expect(renderError(given)).toEqual({
      code: 'TEMPLATE_PARAMETER_INVALID',
      items: [
        { code: 'missing_parameter', field: 'template_values.a', parameter: 'a', parameterLabel: 'A text' },
      ],
    });
    expect(renderError(given, { a: 'x' }).items).toMatchObject([{ parameter: 'b' }]);
  });

  it('that no template declares are reported together, by name, even when others are missing', () => {
    const given = template(withPattern(param('a')), { a: TEXT });
    const values = parseJson('{"z":"1","constructor":true,"__proto__":"2"}') as JsonObject;
    expect(renderError(given, values)).toEqual({
      code: 'TEMPLATE_PARAMETER_INVALID',
      items: ['__proto__', 'constructor', 'z'].map((name) => ({
        code: 'unknown_parameter',
        field: `template_values.${name}`,
        parameter: name,
      })),
    });
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`v${index}`, 'x']));
    expect(renderError(given, many).items).toHaveLength(MAX_ERROR_ITEMS);
  });

  it('are given defaults, in the order of the parameters', () => {
    const parameters = {
      a: { ...TEXT, default: 'from a' },
      b: LIST,
      c: { type: 'boolean', label: 'C', default: false, required: false },
    };
    const definition = withPattern(param('a'), { tags: param('b'), description: param('a') });
    const condition = leafWith({ name: 'list', config: { values: ['x'], case_sensitive: param('c') } });
    const rendering = render(template({ ...definition, condition }, parameters), { b: ['t'] });
    expect(rendering).toMatchObject({
      complete: true,
      definition: {
        description: 'from a',
        tags: ['t'],
        condition: { evaluator: { config: { case_sensitive: false } } },
      },
    });
    expect(JSON.stringify(rendering.complete && rendering.values)).toBe('{"a":"from a","b":["t"],"c":false}');
  });

  it('are data: a binding in a value is no binding', () => {
    const rendering = render(template(withPattern(param('a')), { a: TEXT }), { a: '{"$param":"a"}' });
    expect(rendering).toMatchObject({
      definition: { condition: { evaluator: { config: { pattern: '{"$param":"a"}' } } } },
    });
  });

  it('may belong to a parameter named __proto__', () => {
    const given = parseJson(
      `{"parameters":{"__proto__":{"type":"string","label":"P"}},
        "definition_template":${JSON.stringify(withPattern({ $param: '__proto__' }))}}`,
    ) as JsonObject;
    expect(renderError(given).items).toMatchObject([{ code: 'missing_parameter', parameterLabel: 'P' }]);
    expect(render(given, parseJson('{"__proto__":"abc"}') as JsonObject)).toMatchObject({
      definition: { condition: { evaluator: { config: { pattern: 'abc' } } } },
    });
  });

  it('cannot be multiplied without limit', () => {
    const references = Array(300).fill(param('a')) as JsonValue[];
    const given = template(withPattern('x', { tags: references }), { a: TEXT });
    expect(renderError(given, { a: 'x'.repeat(MAX_BOUND_SIZE / 300 + 1) })).toEqual({
      code: 'TEMPLATE_RENDER_ERROR',
      items: [{ code: 'rendered_definition_too_large' }],
    });
    expect(render(given, { a: 'x'.repeat(1_000) })).toMatchObject({ complete: true });
  });

  it('that are patterns share a budget', () => {
    const names = Array.from({ length: 100 }, (_, index) => `p${index}`);
    const parameters = Object.fromEntries(names.map((name) => [name, { type: 'regex_re2', label: 'P' }]));
    const given = template(withPattern('x', { tags: names.map(param) }), parameters);
    const values = Object.fromEntries(names.map((name) => [name, '[a-z]{900}[a-z]{900}[a-z]{900}']));
    expect(renderError(given, values).items).toMatchObject([{ code: 'invalid_regex' }]);
  });
});

describe('a rendered definition that is invalid', () => {
  const mapped = (parameter: string, renderedField: string, parameterLabel: string) => ({
    code: 'template_parameter_invalid',
    field: `template_values.${parameter}`,
    parameter,
    parameterLabel,
    renderedField,
  });

  it.each<[string, JsonObject, JsonObject, JsonObject, string, object[]]>([
    [
      'a decision',
      withPattern('x', { action: { decision: param('p') } }),
      { p: TEXT },
      { p: 'warn' },
      'TEMPLATE_PARAMETER_INVALID',
      [mapped('p', 'action.decision', 'A text')],
    ],
    [
      'two values and a literal',
      withPattern('x', { execution: param('e'), scope: { stages: ['x'], step_name_regex: param('r') } }),
      { e: TEXT, r: TEXT },
      { e: 'here', r: '(' },
      'TEMPLATE_PARAMETER_INVALID',
      [
        mapped('e', 'execution', 'A text'),
        mapped('r', 'scope.step_name_regex', 'A text'),
        { code: 'literal_error', field: 'scope.stages[0]', renderedField: 'scope.stages[0]' },
      ],
    ],
    [
      'a whole list',
      withPattern('x', { scope: { stages: param('l') } }),
      { l: LIST },
      { l: [] },
      'TEMPLATE_PARAMETER_INVALID',
      [mapped('l', 'scope.stages', 'Some texts')],
    ],
    [
      'one element of a list',
      withPattern('x', { scope: { stages: param('l') } }),
      { l: LIST },
      { l: ['during'] },
      'TEMPLATE_RENDER_ERROR',
      [{ code: 'literal_error', field: 'scope.stages[0]', renderedField: 'scope.stages[0]' }],
    ],
    [
      'a pattern in a configuration',
      withPattern(param('p')),
      { p: TEXT },
      { p: '(' },
      'TEMPLATE_RENDER_ERROR',
      [
        {
          code: 'value_error',
          field: 'condition.evaluator.pattern',
          renderedField: 'condition.evaluator.pattern',
        },
      ],
    ],
    [
      'a rule over the whole',
      {
        execution: 'server',
        action: { decision: param('d') },
        condition: { not: leafWith({ name: 'list', config: { values: [] } }) },
      },
      { d: TEXT },
      { d: 'steer' },
      'TEMPLATE_RENDER_ERROR',
      [{ code: 'value_error' }],
    ],
    [
      'nothing but a value',
      { $param: 'p' },
      { p: TEXT },
      { p: 'x' },
      'TEMPLATE_RENDER_ERROR',
      [{ code: 'model_type' }],
    ],
    [
      'a template in a template',
      withPattern('x', { template: { definition_template: {} } }),
      {},
      {},
      'TEMPLATE_RENDER_ERROR',
      [{ code: 'value_error' }],
    ],
    [
      'an evaluator of an agent',
      withPattern('x', { condition: { and_: [leafWith({ name: param('n'), config: {} })] } }),
      { n: TEXT },
      { n: 'some-agent:tone' },
      'TEMPLATE_PARAMETER_INVALID',
      [mapped('n', 'condition.and_[0].evaluator.name', 'A text')],
    ],
  ])('blames what caused it: %s', (_name, definition, parameters, values, code, items) => {
    expect(renderError(template(definition, parameters), values)).toEqual({ code, items });
  });
});

/** A definition with its texts, booleans and lists of texts cut out, and these as values of parameters. */
function cutOut(value: JsonValue, cut: (value: JsonValue) => boolean, values: JsonObject): JsonValue {
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === 'string');
  if ((typeof value === 'string' || typeof value === 'boolean' || isTexts) && cut(value)) {
    const name = `p${Object.keys(values).length}`;
    values[name] = value;
    return param(name);
  }
  if (Array.isArray(value)) return value.map((item) => cutOut(item, cut, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cutOut(one, cut, values)]));
}

const typeOf = (value: JsonValue) =>
  Array.isArray(value) ? 'string_list' : typeof value === 'boolean' ? 'boolean' : 'string';

const leaf = fc.record({
  selector: fc.record({ path: fc.constantFrom('*', 'input', 'output.a.b') }),
  evaluator: fc.oneof(
    fc.record({
      name: fc.constant('regex'),
      config: fc.record({ pattern: fc.constantFrom('a', '\\d+', ''), flags: fc.constantFrom(['I'], []) }),
    }),
    fc.record({
      name: fc.constant('list'),
      config: fc.record({ values: fc.array(fc.constantFrom('a', 'b')), case_sensitive: fc.boolean() }),
    }),
    fc.record({
      name: fc.constant('unknown'),
      config: fc.dictionary(fc.constantFrom('a', '__proto__'), fc.string()),
    }),
  ),
});
const definition = fc.record(
  {
    description: fc.string(),
    execution: fc.constantFrom('server', 'sdk'),
    scope: fc.record({ stages: fc.constantFrom(['pre'], ['pre', 'post']), step_names: fc.constant(['x']) }),
    condition: fc.oneof(
      leaf,
      fc.record({ and: fc.array(leaf, { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: fc.record({ or: fc.array(leaf, { minLength: 1, maxLength: 3 }) }) }),
    ),
    action: fc.record({
      decision: fc.constantFrom('deny', 'steer', 'observe'),
      steering_context: fc.record({ message: fc.string() }),
    }),
    tags: fc.array(fc.string(), { maxLength: 3 }),
  },
  { requiredKeys: ['execution', 'condition', 'action'] },
);

it('renders what the same definition written out would be, whatever is cut out of it', () => {
  fc.assert(
    fc.property(definition, fc.infiniteStream(fc.boolean()), (written, choices) => {
      const values: JsonObject = {};
      const cut = cutOut(written as unknown as JsonValue, () => choices.next().value === true, values);
      const parameters = Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, { type: typeOf(value), label: name }]),
      );
      const rendered = render(template(cut, parameters), values);
      const literal = render(template(written as unknown as JsonValue));
      if (!rendered.complete || !literal.complete) throw new Error('a value was missing');
      expect(rendered.definition).toStrictEqual(literal.definition);
    }),
  );
});
