import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSameJson,
  withMoved,
  withOwnMember,
  withRenamed,
} from '../../packages/dashboard/src/code/json-members.js';
import { localProblem, splitProblems } from '../../packages/dashboard/src/schema-form/field-problems.js';
import type {
  ChoiceForm,
  Form,
  ListForm,
  ObjectForm,
} from '../../packages/dashboard/src/schema-form/form.js';
import { formOf } from '../../packages/dashboard/src/schema-form/form-of.js';
import {
  choiceOf,
  convertedTo,
  initialValue,
  numberFromText,
} from '../../packages/dashboard/src/schema-form/form-values.js';
import {
  hasLines,
  isLinear,
  itemsOfLines,
  linesOf,
} from '../../packages/dashboard/src/schema-form/list-lines.js';
import { serviceEvaluators } from '../support/evaluators.js';

const formAlone = (schema: JsonObject): Form => formOf(schema, schema);
const objectForm = (schema: JsonObject): ObjectForm => {
  const form = formAlone(schema);
  if (form.kind !== 'object') throw new Error(`the form is of the kind ${form.kind}`);
  return form;
};
const memberForms = (schema: JsonObject): Record<string, Form> =>
  Object.fromEntries(objectForm(schema).members.map((one) => [one.name, formOf(schema, one.schema)]));
const choiceForm = (schema: JsonObject): ChoiceForm => {
  const form = formAlone(schema);
  if (form.kind !== 'choice') throw new Error(`the form is of the kind ${form.kind}`);
  return form;
};

describe('the form of a schema', () => {
  it('is made for every member of every built-in evaluator', () => {
    const kinds: Record<string, Record<string, string>> = {};
    for (const { name, configJsonSchema } of serviceEvaluators) {
      const forms = Object.entries(memberForms(configJsonSchema as JsonObject));
      kinds[name] = Object.fromEntries(forms.map(([member, form]) => [member, form.kind]));
      expect(Object.values(kinds[name])).not.toContain('json');
    }
    expect(kinds.regex).toEqual({ pattern: 'text', flags: 'list', normalize: 'enum' });
    expect(kinds.list).toMatchObject({ values: 'list', logic: 'enum', case_sensitive: 'boolean' });
    expect(kinds.json).toMatchObject({
      json_schema: 'object',
      field_types: 'object',
      required_fields: 'list',
    });
    expect(kinds.sql).toMatchObject({ max_limit: 'number', required_column_values: 'object' });
  });

  it('allows null where a type, an alternative or a value of an enumeration is null', () => {
    expect(formAlone({ type: ['string', 'null'] })).toMatchObject({ kind: 'text', isNullable: true });
    expect(formAlone({ anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'D' })).toMatchObject({
      kind: 'number',
      isInteger: true,
      isNullable: true,
      description: 'D',
    });
    expect(formAlone({ enum: ['a', null] })).toMatchObject({ kind: 'enum', isNullable: true });
    expect(formAlone({ type: 'string' }).isNullable).toBe(false);
  });

  it('takes defaults, examples, bounds and patterns from the schema', () => {
    expect(
      formAlone({ type: 'integer', default: 5, examples: [7], minimum: 1, exclusiveMaximum: 9 }),
    ).toMatchObject({ kind: 'number', fallback: 5, example: 7, minimum: 1, exclusiveMaximum: 9 });
    expect(formAlone({ type: 'string', pattern: '^a', format: 'uri' })).toMatchObject({
      kind: 'text',
      pattern: '^a',
      format: 'uri',
    });
  });

  it('tells the type by keywords where none is stated, and is JSON where these say nothing', () => {
    expect(formAlone({ properties: { a: {} } }).kind).toBe('object');
    expect(formAlone({ items: { type: 'string' } }).kind).toBe('list');
    expect(formAlone({ minLength: 1 }).kind).toBe('text');
    expect(formAlone({ maximum: 1 }).kind).toBe('number');
    expect(formAlone({ not: { type: 'string' } }).kind).toBe('json');
  });

  it('merges allOf and what is beside a reference', () => {
    const schema: JsonObject = {
      $defs: { 'a/b': { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] } },
      allOf: [{ $ref: '#/$defs/a~1b' }, { properties: { y: { type: 'boolean' } }, required: ['y'] }],
      properties: { z: { type: 'number' } },
    };
    expect(objectForm(schema).members.map((one) => [one.name, one.isRequired])).toEqual([
      ['x', true],
      ['y', true],
      ['z', false],
    ]);
  });

  it('follows a schema that contains itself one level at a time', () => {
    const schema: JsonObject = {
      $ref: '#/definitions/node',
      definitions: {
        node: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/definitions/node' } },
          },
        },
      },
    };
    const children = memberForms(schema).children as ListForm;
    expect(formOf(schema, children.item)).toMatchObject({ kind: 'object' });
  });

  it.each([
    { $ref: '#' },
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    { $ref: 'https://example.com/elsewhere' },
    { allOf: [{ $ref: '#' }] },
  ] as JsonObject[])('is JSON for a reference that leads nowhere: %j', (schema) => {
    expect(formAlone(schema).kind).toBe('json');
  });

  it('offers other members where names are free, and not where the schema has all', () => {
    expect(objectForm({ type: 'object' }).isOpen).toBe(true);
    expect(objectForm({ type: 'object', additionalProperties: { type: 'string' } }).isOpen).toBe(true);
    expect(objectForm({ properties: { a: {} } }).isOpen).toBe(false);
    expect(objectForm({ type: 'object', additionalProperties: false }).isOpen).toBe(false);
  });

  it('is made for any schema at all', () => {
    const keyword = fc.constantFrom(
      ...[
        'type',
        'anyOf',
        'oneOf',
        'allOf',
        '$ref',
        'enum',
        'const',
        'properties',
        'items',
        'required',
        '$defs',
      ],
    );
    const type = fc.constantFrom(
      'object',
      'string',
      'array',
      'null',
      'integer',
      '#',
      '#/$defs/a',
      '#/anyOf/0',
    );
    const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        type,
        fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(keyword, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    const value = fc.jsonValue() as fc.Arbitrary<JsonValue>;
    fc.assert(
      fc.property(fc.dictionary(keyword, tree, { maxKeys: 5 }), value, (schema, some) => {
        const form = formOf(schema, schema);
        initialValue(schema, form);
        if (form.kind === 'choice') choiceOf(schema, form, some);
        convertedTo(schema, form, some);
      }),
    );
  });
});

describe('a choice of forms', () => {
  const schema: JsonObject = {
    oneOf: [
      {
        type: 'object',
        properties: { kind: { const: 'word' }, text: { type: 'string' } },
        required: ['kind'],
      },
      {
        type: 'object',
        properties: { kind: { const: 'size' }, max: { type: 'number' } },
        required: ['kind'],
      },
      { type: 'string' },
    ],
  };

  it('is told by the value: its type, and members that can only have one value', () => {
    const form = choiceForm(schema);
    expect(choiceOf(schema, form, { kind: 'size', max: 3 })).toBe(1);
    expect(choiceOf(schema, form, { kind: 'word' })).toBe(0);
    expect(choiceOf(schema, form, 'text')).toBe(2);
    expect(choiceOf(schema, form, 5)).toBe(-1);
  });

  it('starts with the members that tell it apart', () => {
    const form = choiceForm(schema);
    expect(convertedTo(schema, formOf(schema, form.choices[1]?.schema), { kind: 'word', text: 'a' })).toEqual(
      {
        kind: 'size',
      },
    );
  });

  it('keeps a value that can be one of the other form', () => {
    const text = formAlone({ type: 'string' });
    const number = formAlone({ type: 'number' });
    const list = formAlone({ type: 'array', items: { type: 'string' } });
    expect(convertedTo({}, text, 12)).toBe('12');
    expect(convertedTo({}, number, '12')).toBe(12);
    expect(convertedTo({}, list, 'a')).toEqual(['a']);
    expect(convertedTo({}, text, { a: 1 })).toBe('');
  });

  it('has a label for each, each once', () => {
    expect(choiceForm({ type: ['string', 'integer', 'number'] }).choices.map(({ label }) => label)).toEqual([
      'text',
      'number',
    ]);
    const labels = choiceForm({
      anyOf: [{ type: 'object' }, { type: 'object' }, { title: 'T', type: 'string' }],
    });
    expect(labels.choices.map(({ label }) => label)).toEqual(['object (form 1)', 'object (form 2)', 'T']);
  });
});

describe('numbers', () => {
  it.each([
    ['1', 1],
    [' -2.5 ', -2.5],
    ['1e3', 1000],
    ['', undefined],
    ['-', '-'],
    ['1.', '1.'],
    ['0x10', '0x10'],
    ['1e999', '1e999'],
  ])('%j is %j', (text, value) => {
    expect(numberFromText(text)).toBe(value);
  });

  it('are told wrong as long as they are half', () => {
    const form = formAlone({ type: 'integer', minimum: 2, maximum: 4 });
    expect(localProblem(form, '-')).toContain('not a number');
    expect(localProblem(form, 2.5)).toContain('whole');
    expect(localProblem(form, 1)).toContain('at least 2');
    expect(localProblem(form, 5)).toContain('at most 4');
    expect(localProblem(form, 3)).toBeNull();
    expect(localProblem(form, undefined)).toBeNull();
  });
});

describe('problems', () => {
  it('belong to the longest name that their path begins with', () => {
    const split = splitProblems(
      [
        { path: 'a.b.c', message: '1' },
        { path: 'a', message: '2' },
        { path: 'ab', message: '3' },
        { path: 'a[0].x', message: '4' },
        { path: '', message: '5' },
      ],
      ['a', 'a.b'],
    );
    expect(split.own.map(({ message }) => message)).toEqual(['3', '5']);
    expect(split.of.get('a.b')).toEqual([{ path: 'c', message: '1' }]);
    expect(split.of.get('a')).toEqual([
      { path: '', message: '2' },
      { path: '[0].x', message: '4' },
    ]);
  });

  it('of items belong to their index', () => {
    const { of } = splitProblems([{ path: '[10].str', message: 'no text' }], ['[1]', '[10]']);
    expect([...of]).toEqual([['[10]', [{ path: 'str', message: 'no text' }]]]);
  });
});

describe('members and items', () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>);

  it('survive changes of others, in their order', () => {
    fc.assert(
      fc.property(objects, fc.string(), (object, name) => {
        const changed = withOwnMember(object, name, 'new');
        expect(Object.hasOwn(changed, name) && changed[name]).toBe('new');
        const others = Object.keys(object).filter((key) => key !== name);
        expect(Object.keys(changed).filter((key) => key !== name)).toEqual(others);
        for (const key of others) expect(changed[key]).toBe(object[key]);
        expect(Object.hasOwn(withOwnMember(changed, name, undefined), name)).toBe(false);
      }),
    );
  });

  it('can have any name, and change it to one that is free', () => {
    expect(withRenamed({ a: 1, b: 2 }, 'a', 'b')).toBeNull();
    expect(Object.keys(withRenamed({ a: 1, b: 2 }, 'a', 'c') ?? {})).toEqual(['c', 'b']);
    const odd = withOwnMember({}, '__proto__', 1);
    expect(Object.keys(odd)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(odd)).toBe(Object.prototype);
  });

  it('move to another place and back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.nat(), fc.nat(), (list, from, to) => {
        const [at, there] = [from % list.length, to % list.length];
        expect(withMoved(withMoved(list, at, there), there, at)).toEqual(list);
      }),
    );
    expect(withMoved([1, 2], 0, 2)).toEqual([1, 2]);
  });

  it('are the same in any order of members', () => {
    expect(isSameJson({ a: [1, { b: null }], c: 2 }, { c: 2, a: [1, { b: null }] })).toBe(true);
    expect(isSameJson({ a: 1 }, { a: 1, b: undefined as unknown as JsonValue })).toBe(false);
    expect(isSameJson([], {})).toBe(false);
  });
});

describe('lines', () => {
  const mixed = formAlone({ type: ['string', 'number'] });

  it('are the items, and give them back', () => {
    const line = fc.oneof(
      fc.string({ minLength: 1 }).filter((text) => isLinear([text])),
      fc.integer(),
    );
    fc.assert(
      fc.property(fc.array(line), (items) => {
        // A text that looks like one of the numbers is told from it by nothing.
        const numbers = new Set(items.filter((item) => typeof item === 'number').map(String));
        fc.pre(items.every((item) => typeof item === 'number' || !numbers.has(item)));
        expect(itemsOfLines(linesOf(items), mixed, items)).toEqual(items);
      }),
    );
  });

  it('are texts where both are possible and the item is new, and numbers where only these are', () => {
    expect(itemsOfLines('1\r\n\n2', mixed, [])).toEqual(['1', '2']);
    expect(itemsOfLines('1\n-', formAlone({ type: 'number' }), [])).toEqual([1, '-']);
  });

  it('do not tell items with several lines, empty ones and others', () => {
    expect(isLinear(['a\nb'])).toBe(false);
    expect(isLinear([''])).toBe(false);
    expect(isLinear([{}])).toBe(false);
    expect(hasLines(mixed)).toBe(true);
    expect(hasLines(formAlone({ type: 'object' }))).toBe(false);
    expect(hasLines(formAlone({ anyOf: [{ type: 'string' }, { type: 'object' }] }))).toBe(false);
  });
});
