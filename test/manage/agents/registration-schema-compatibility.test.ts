import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import { incompatibleChanges } from '../../../src/manage/agents/schema-compatibility.js';

const object = (properties: JsonObject, required?: JsonValue): JsonObject => ({
  type: 'object',
  properties,
  ...(required === undefined ? {} : { required }),
});
const text = { type: 'string' };
const whole = { type: 'integer' };

describe('a new schema', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['for an empty one', {}, object({ a: text }, ['a'])],
    ['with an optional property added', object({ a: text }), object({ a: text, b: text })],
    ['where required becomes optional', object({ a: text }, ['a']), object({ a: text })],
    [
      'with other descriptions, defaults, bounds and patterns',
      object({ a: text }),
      object({ a: { type: 'string', description: 'x', default: 'y', maxLength: 3, pattern: 'z' } }),
    ],
    [
      'with other enum values of the same number',
      object({ a: { enum: [1, 2] } }),
      object({ a: { enum: [3, 4] } }),
    ],
    [
      'with another top-level type',
      { ...object({ a: text }), type: 'object' },
      { ...object({ a: text }), type: 'array' },
    ],
    [
      'with additionalProperties changed',
      object({ a: text }),
      { ...object({ a: text }), additionalProperties: false },
    ],
    [
      'with the same types in a list',
      object({ a: { type: ['string', 'null'] } }),
      object({ a: { type: ['string', 'null'] } }),
    ],
    ['with a nested optional property added', object({ a: object({}) }), object({ a: object({ b: text }) })],
    ['without a property that is required by nothing new', { required: ['a'] }, { required: ['a'] }],
  ])('%s is compatible', (_name, old, next) => {
    expect(incompatibleChanges(old, next)).toEqual([]);
  });

  it.each<[string, JsonObject, JsonObject, string[]]>([
    [
      'property added as required',
      object({ a: text }),
      object({ a: text, b: text }, ['b']),
      ['Added required property "b"'],
    ],
    ['property removed', object({ a: text, b: text }), object({ a: text }), ['Removed property "b"']],
    [
      'type changed',
      object({ a: text }),
      object({ a: whole }),
      ['Property "a": type changed from string to integer'],
    ],
    [
      'optional made required',
      object({ a: text }),
      object({ a: text }, ['a']),
      ['Added required property "a", which was optional'],
    ],
    [
      'nested type changed',
      object({ a: object({ b: text }) }),
      object({ a: object({ b: whole }) }),
      ['Property "a.b": type changed from string to integer'],
    ],
    [
      'nested property required',
      object({ a: object({ b: text }) }),
      object({ a: object({ b: text }, ['b']) }),
      ['Added required property "a.b"'],
    ],
    [
      'property of array items removed',
      object({ a: { type: 'array', items: object({ b: text }) } }),
      object({ a: { type: 'array', items: object({}) } }),
      ['Removed property "a[].b"'],
    ],
    [
      'items gained',
      object({ a: { type: 'array' } }),
      object({ a: { type: 'array', items: text } }),
      ['from array to array<string>'],
    ],
    [
      'items lost',
      object({ a: { type: 'array', items: text } }),
      object({ a: { type: 'array' } }),
      ['from array<string> to array'],
    ],
    [
      'item type changed',
      object({ a: { type: 'array', items: { type: 'array', items: text } } }),
      object({ a: { type: 'array', items: { type: 'array', items: whole } } }),
      ['from array<array<string>> to array<array<integer>>'],
    ],
    ['new schema empty', object({ a: text }), {}, ['Removed property "a"']],
    [
      'required added to a schema without properties',
      { title: 'x' },
      object({ a: text }, ['a']),
      ['Added required property "a"'],
    ],
    [
      'required name that is no property',
      object({ a: text }),
      object({ a: text }, ['ghost']),
      ['Added required property "ghost"'],
    ],
    [
      'number of enum values changed',
      object({ a: { enum: [1] } }),
      object({ a: { enum: [1, 2] } }),
      ['enum of 1 to enum of 2'],
    ],
    [
      'reference changed',
      object({ a: { $ref: '#/x' } }),
      object({ a: { $ref: '#/y' } }),
      ['reference to #/x'],
    ],
    [
      'anyOf turned into oneOf',
      object({ a: { anyOf: [] } }),
      object({ a: { oneOf: [] } }),
      ['from anyOf to oneOf'],
    ],
    [
      'order of types changed',
      object({ a: { type: ['a', 'b'] } }),
      object({ a: { type: ['b', 'a'] } }),
      ['type changed'],
    ],
    ['type lost', object({ a: text }), object({ a: {} }), ['from string to unknown']],
  ])('%s is incompatible', (_name, old, next, expected) => {
    const changes = incompatibleChanges(old, next);
    expect(changes).toHaveLength(expected.length);
    for (const [index, change] of changes.entries()) expect(change).toContain(expected[index]);
  });

  it('has removals reported by name, then changes in stored order, then what became required', () => {
    const old = object({ z: text, n: object({ y: text, x: text }), c: text, b: text, a: text });
    const next = object({ z: whole, n: object({ x: whole }, ['x']), c: whole }, ['n', 'c']);
    const order = incompatibleChanges(old, next).map((change) => change.split('"')[1]);
    expect(order).toEqual(['a', 'b', 'z', 'n.y', 'n.x', 'n.x', 'c', 'n', 'c']);
  });
});

describe('hostile schemas', () => {
  it.each<[JsonObject, JsonObject, number]>([
    [{ properties: 5 }, { properties: [] }, 0],
    [object({ a: true }), object({ a: false }), 0],
    [object({ a: text }), object({ a: 5 }), 1],
    [object({ a: { type: 5 } }), object({ a: { type: { x: 1 } } }), 0],
    [object({ a: text }), object({ a: text }, 'a'), 0],
    [object({ a: text }), object({ a: text }, [5, null, {}]), 0],
    [object({ a: { type: 'array', items: 5 } }), object({ a: { type: 'array', items: [] } }), 0],
    [
      object({ a: { type: 'array<object>' } }),
      object({ a: { type: 'array', items: { type: 'object' } } }),
      0,
    ],
  ])('are compared without breaking, pair %#', (old, next, changes) => {
    expect(incompatibleChanges(old, next)).toHaveLength(changes);
  });
  it('treat __proto__ and constructor as property names', () => {
    const old = parseJson(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    ) as JsonObject;
    expect(incompatibleChanges(old, { properties: {} })).toHaveLength(2);
    expect(incompatibleChanges({ properties: {}, x: 1 }, old)).toEqual([]);
    expect(incompatibleChanges(old, old)).toEqual([]);
  });
  it('of any shape are compatible with themselves', () => {
    const key = fc.constantFrom(
      'properties',
      'required',
      'type',
      'items',
      'enum',
      '$ref',
      'anyOf',
      '__proto__',
      'a',
    );
    const schema = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<JsonValue>('object', 'array', 'string', null, 5, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(key, schema), fc.dictionary(key, schema), (a, b) => {
        expect(incompatibleChanges(a, structuredClone(a))).toEqual([]);
        expect(Array.isArray(incompatibleChanges(a, b))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
