import { describe, expect, it } from 'vitest';
import type { CelType } from '../../../../packages/cel/src/index.js';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { schemaType } from '../../../../src/kernel/evaluators/cel/schema-types.js';
import { mergedType } from '../../../../src/kernel/evaluators/cel/variables.js';

/** A type as a short text: members with `?` may be missing, `...` stands for others. */
function shown(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `[${shown(type.item)}]`;
    case 'map':
      return `{*: ${shown(type.value)}}`;
    case 'union':
      return type.types.map(shown).join('|');
    case 'object': {
      const members = [...type.members].map(
        ([name, member]) => `${name}${member.required ? '' : '?'}: ${shown(member.type)}`,
      );
      return `{${[...members, ...(type.open ? ['...'] : [])].join(', ')}}`;
    }
    default:
      return type.kind;
  }
}

const CASES: readonly [string, JsonObject | boolean, string][] = [
  ['nothing', {}, 'any'],
  ['true', true, 'any'],
  ['a string', { type: 'string' }, 'string'],
  ['an integer', { type: 'integer' }, 'number'],
  ['several types', { type: ['string', 'null'] }, 'string|null'],
  ['an unknown type', { type: 'money' }, 'any'],
  ['a list', { type: 'array', items: { type: 'string' } }, '[string]'],
  ['a list of anything', { type: 'array' }, '[any]'],
  ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }], items: false }, '[string]'],
  ['a tuple with others', { type: 'array', items: [{ type: 'string' }] }, '[any]'],
  ['an enumeration', { enum: ['a', 'b', 1, null] }, 'string|number|null'],
  ['a constant', { const: true }, 'bool'],
  [
    'an open object',
    { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] },
    '{a: string, b?: any, ...}',
  ],
  [
    'a closed object',
    { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: false },
    '{a?: number}',
  ],
  [
    'an object with patterns',
    {
      type: 'object',
      properties: { a: {} },
      patternProperties: { '^x': {} },
      additionalProperties: false,
    },
    '{a?: any, ...}',
  ],
  ['a map', { type: 'object', additionalProperties: { type: 'boolean' } }, '{*: bool}'],
  ['members without a type', { properties: { a: { type: 'string' } } }, '{a?: string, ...}'],
  ['alternatives', { anyOf: [{ type: 'string' }, { type: 'integer' }] }, 'string|number'],
  ['alternatives of which one is anything', { oneOf: [{ type: 'string' }, {}] }, 'any'],
  [
    'alternatives of what is required',
    { type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    '{a?: any, b?: any, ...}',
  ],
  [
    'several schemas at once',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } } },
        { properties: { b: { type: 'number' } }, required: ['b'], additionalProperties: false },
      ],
    },
    '{a?: string, b: number, ...}',
  ],
  [
    'a reference',
    { type: 'object', properties: { a: { $ref: '#/$defs/x~1y' } }, $defs: { 'x/y': { type: 'string' } } },
    '{a?: string, ...}',
  ],
  ['a reference to nothing', { $ref: '#/definitions/absent' }, 'any'],
  ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }, 'any'],
];

describe('the type of a registered schema', () => {
  it.each(CASES)('is known for %s', (_name, schema, expected) => {
    expect(shown(schemaType(schema))).toBe(expected);
  });

  it('is unknown where a schema refers to itself, and ends', () => {
    const schema = {
      type: 'object',
      properties: { value: { type: 'number' }, next: { $ref: '#' } },
    };
    expect(shown(schemaType(schema))).toBe('{value?: number, next?: {value?: number, next?: any, ...}, ...}');
  });

  it('is unknown beyond a number of parts, however they are made', () => {
    const level = (below: string): JsonObject => ({
      anyOf: Array.from({ length: 10 }, () => ({
        type: 'object',
        properties: { a: { $ref: `#/$defs/${below}` } },
      })),
    });
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const $defs = Object.fromEntries(names.map((name, at) => [name, level(names[at + 1] ?? 'none')]));
    const text = shown(schemaType({ $ref: '#/$defs/a', $defs }));
    expect(text).toContain('any');
    expect(text.length).toBeLessThan(1_000_000);
  });

  it('has only the members that are named, where it is taken as it is meant', () => {
    const closed = (schema: JsonObject): string => shown(schemaType(schema, true));
    expect(closed({ type: 'object', properties: { a: { type: 'object', properties: { b: {} } } } })).toBe(
      '{a?: {b?: any}}',
    );
    expect(closed({ type: 'object' })).toBe('{...}');
    expect(closed({ type: 'object', properties: { a: {} }, additionalProperties: { type: 'string' } })).toBe(
      '{a?: any, ...}',
    );
    expect(closed({ type: 'object', properties: { a: {} }, anyOf: [{ properties: { b: {} } }] })).toBe(
      '{a?: any, b?: any, ...}',
    );
  });
});

describe('the type of several steps', () => {
  const closed = (properties: JsonObject, required: string[] = []) =>
    schemaType({ type: 'object', properties, required, additionalProperties: false });

  it('has the members of all, which are required where all demand them', () => {
    const one = closed({ a: { type: 'string' }, b: { type: 'number' } }, ['a', 'b']);
    const other = closed({ a: { type: 'number' }, c: { type: 'string' } }, ['a', 'c']);
    expect(shown(mergedType([one, other]))).toBe('{a: string|number, b?: number, c?: string}');
  });

  it('is unknown where one of them is, and where there are none', () => {
    expect(shown(mergedType([closed({ a: {} }), schemaType({})]))).toBe('any');
    expect(shown(mergedType([]))).toBe('any');
  });

  it('keeps what is no object beside objects', () => {
    expect(shown(mergedType([closed({ a: {} }), schemaType({ type: ['string', 'null'] })]))).toBe(
      '{a?: any}|string|null',
    );
  });
});
