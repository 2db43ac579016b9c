import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ControlTemplateSchema } from '../../gen/proto/enforcement/v1/control_pb.js';
import { schemaMembers } from '../../packages/dashboard/src/evaluators/schema-members.js';
import { EXAMPLE_TEMPLATES } from '../../packages/dashboard/src/templates/example-templates.js';
import {
  givenValues,
  keptValues,
  missingLabels,
  readTemplate,
  templateText,
  valuesSchema,
} from '../../packages/dashboard/src/templates/template-model.js';

const TEMPLATE = {
  description: null,
  parameters: {
    words: { type: 'string_list', label: 'Words', placeholder: ['a'], ui_hint: null },
    mode: { type: 'enum', label: 'Mode', allowed_values: ['x', 'y'], default: 'x' },
    pattern: { type: 'regex_re2', label: 'Pattern', default: null, description: 'D' },
    strict: { type: 'boolean', label: 'Strict' },
    note: { type: 'string', label: 'Note', ui_hint: 'multiline' },
  },
  definition_template: { condition: { selector: null, evaluator: { $param: 'mode' } } },
};

function templateOf(json: unknown) {
  const reading = readTemplate(JSON.stringify(json));
  if ('problem' in reading) throw new Error(reading.problem);
  return reading.template;
}

describe('a template', () => {
  it('is read from the form of the JSON routes, alone or with its values', () => {
    expect(
      readTemplate(JSON.stringify({ template: TEMPLATE, template_values: { mode: 'y' } })),
    ).toMatchObject({
      values: { mode: 'y' },
    });
    const written = JSON.parse(templateText(templateOf(TEMPLATE))) as typeof TEMPLATE;
    expect(written.definition_template).toEqual(TEMPLATE.definition_template);
    expect(written.parameters.words).toEqual({ type: 'string_list', label: 'Words', placeholder: ['a'] });
    expect(templateText(templateOf(written))).toBe(templateText(templateOf(TEMPLATE)));
  });

  it.each([
    ['{', 'This is not JSON'],
    ['[]', 'A template is a JSON object'],
    ['{"parameters": {}}', 'definition_template'],
    ['{"definition_template": {}, "parameters": 1}', 'This is no template'],
    ['{"definition_template": {}, "paramters": {}}', 'paramters'],
  ])('is not %s', (text, problem) => {
    expect(readTemplate(text)).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  it('has a form by the types of its parameters', () => {
    expect(valuesSchema(templateOf(TEMPLATE))).toEqual({
      type: 'object',
      properties: {
        words: { type: 'array', items: { type: 'string' }, title: 'Words', examples: [['a']] },
        mode: { type: 'string', enum: ['x', 'y'], title: 'Mode', default: 'x' },
        pattern: { type: 'string', format: 'RE2 pattern', title: 'Pattern', description: 'D' },
        strict: { type: 'boolean', title: 'Strict' },
        note: { type: 'string', format: 'textarea', title: 'Note' },
      },
      required: ['words', 'pattern', 'strict', 'note'],
      additionalProperties: false,
    });
  });

  it('has missing values: those without a default, and emptied texts', () => {
    const template = templateOf(TEMPLATE);
    expect(missingLabels(template, { words: [], pattern: '', strict: false })).toEqual(['Pattern', 'Note']);
    expect(givenValues({ pattern: '', words: [''], strict: false })).toEqual({ words: [''], strict: false });
    expect(keptValues(template, { words: ['a'], gone: 1 })).toEqual({ words: ['a'] });
  });

  it('of a later type has a field for any JSON', () => {
    const template = create(ControlTemplateSchema, {
      parameters: { size: { type: 'bytes', label: 'Size' } },
    });
    expect(valuesSchema(template).properties).toEqual({ size: { title: 'Size' } });
  });

  it.each(EXAMPLE_TEMPLATES)('is offered to begin with: $id', ({ template }) => {
    expect(Object.keys(templateOf(template).parameters)).not.toEqual([]);
  });
});

describe('the members of a configuration', () => {
  it('are listed with their types, defaults and inner members', () => {
    const members = schemaMembers({
      properties: {
        limits: { type: 'object', properties: { max: { type: 'integer', default: 3 } }, required: ['max'] },
        by_name: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
        rules: { type: 'array', items: { properties: { on: { type: 'boolean', description: 'D' } } } },
        mode: { enum: ['a', 'b'] },
      },
      required: ['limits'],
    });
    expect(members.map(({ path, type, isRequired }) => [path, type, isRequired])).toEqual([
      ['limits', 'object', true],
      ['limits.max', 'whole number', true],
      ['by_name', 'object', false],
      ['by_name.*', 'text or null', false],
      ['rules', 'list of object', false],
      ['rules[].on', 'true or false', false],
      ['mode', 'a | b', false],
    ]);
    expect(members[1]?.fallback).toBe('3');
    expect(members[5]?.description).toBe('D');
  });

  it('end where a schema contains itself', () => {
    expect(schemaMembers({ properties: { a: { $ref: '#' } } }).map(({ path }) => path)).toEqual([
      ...['a', 'a.a', 'a.a.a', 'a.a.a.a'],
    ]);
  });
});
