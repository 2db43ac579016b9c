import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson } from '../../exact-json/src/index.js';
import { compileSchema } from '../src/compile-schema.js';
import { Run } from '../src/run.js';
import { Work } from '../src/work.js';

type Case = readonly [
  what: string,
  schema: JsonObject,
  good: readonly JsonValue[],
  bad: readonly JsonValue[],
];

function problemsOf(schema: JsonObject, value: JsonValue): string[] {
  const check = compileSchema(schema, { dialect: '2020-12' });
  const run = new Run(new Work(), 'all', 10);
  const valid = check(value, null, run);
  expect(check(value, null, new Run(new Work(), 'validity'))).toBe(valid);
  expect(run.count === 0).toBe(valid);
  return run.texts;
}
/** `then` is no member of an object literal here: such an object could be mistaken for a promise. */
const read = (text: string) => parseJson(text) as JsonObject;

describe('a schema of 2020-12', () => {
  it.each<Case>([
    ['prefixItems', { prefixItems: [{ type: 'string' }, true] }, [[], ['a'], ['a', 1, 2]], [[1]]],
    [
      'items after prefixItems',
      { prefixItems: [true], items: { type: 'string' } },
      [[1], [1, 'a'], 'x'],
      [[1, 2]],
    ],
    ['no items after prefixItems', { prefixItems: [true], items: false }, [[], [1]], [[1, 2]]],
    ['contains', { contains: { type: 'string' } }, [[1, 'a'], {}], [[], [1]]],
    ['minContains', { contains: { type: 'string' }, minContains: 2 }, [['a', 1, 'b']], [['a', 1], []]],
    ['minContains of 0', { contains: { type: 'string' }, minContains: 0 }, [[], [1]], []],
    ['maxContains', { contains: { type: 'string' }, maxContains: 1 }, [['a', 1]], [['a', 'b'], [1]]],
    ['maxContains alone', { maxContains: 0 }, [[1, 2]], []],
    [
      'dependentRequired',
      { dependentRequired: { a: ['b', 'c'] } },
      [{}, { a: 1, b: 1, c: 1 }],
      [{ a: 1, b: 1 }],
    ],
    [
      'dependentSchemas',
      { dependentSchemas: { a: { maxProperties: 1 } } },
      [{ a: 1 }, { b: 1, c: 1 }],
      [{ a: 1, b: 1 }],
    ],
    ['dependencies', { dependencies: { a: ['b'], c: false } }, [{ a: 1, b: 1 }], [{ a: 1 }, { c: 1 }]],
    ['additionalItems, which is unknown', { prefixItems: [true], additionalItems: false }, [[1, 2]], []],
    ['$anchor', { $ref: '#n', $defs: { a: { $anchor: 'n', type: 'number' } } }, [1], ['a']],
    [
      '$dynamicRef',
      {
        $dynamicAnchor: 'node',
        properties: { next: { $dynamicRef: '#node' }, value: { type: 'number' } },
        required: ['value'],
      },
      [{ value: 1, next: { value: 2 } }],
      [{ value: 1, next: {} }],
    ],
    [
      '$dynamicRef to an $anchor',
      { $dynamicRef: '#n', $defs: { a: { $anchor: 'n', type: 'null' } } },
      [null],
      [1],
    ],
    ['$dynamicRef to a pointer', { $dynamicRef: '#/$defs/a', $defs: { a: { type: 'null' } } }, [null], [1]],
    [
      '$ref beside $dynamicRef and other keywords',
      {
        $ref: '#/$defs/a',
        $dynamicRef: '#b',
        maximum: 5,
        $defs: { a: { type: 'number' }, b: { $dynamicAnchor: 'b', minimum: 3 } },
      },
      [3, 5],
      ['a', 2, 6],
    ],
    [
      'a reference by its own id',
      { $id: 'https://a.example/s', $ref: 'https://a.example/s#/$defs/a', $defs: { a: { type: 'null' } } },
      [null],
      [1],
    ],
    [
      'content and formats, which are not checked',
      { format: 'email', contentMediaType: 'application/json', contentSchema: { type: 'null' } },
      ['{'],
      [],
    ],
    ['exact numbers', read('{"maximum":9007199254740993}'), [9007199254740993n], [9007199254740994n]],
  ])('has %s', (_what, schema, good, bad) => {
    for (const value of good) expect(problemsOf(schema, value)).toEqual([]);
    for (const value of bad) expect(problemsOf(schema, value)).not.toEqual([]);
  });

  const a = { properties: { a: true } };
  const b = { properties: { b: { type: 'number' } }, required: ['b'] };
  it.each<Case>([
    ['properties', { ...a, unevaluatedProperties: false }, [{ a: 1 }, []], [{ b: 1 }]],
    [
      'patternProperties',
      { patternProperties: { '^a': true }, unevaluatedProperties: false },
      [{ ab: 1 }],
      [{ b: 1 }],
    ],
    ['additionalProperties', { additionalProperties: true, unevaluatedProperties: false }, [{ b: 1 }], []],
    [
      'allOf',
      { allOf: [a, { ...b, required: [] }], unevaluatedProperties: false },
      [{ a: 1, b: 1 }],
      [{ c: 1 }],
    ],
    [
      'anyOf, of all that hold',
      { anyOf: [a, b], unevaluatedProperties: false },
      [{ a: 1, b: 1 }],
      [{ a: 1, b: 'x' }],
    ],
    [
      'oneOf',
      { oneOf: [b, { required: ['a'], ...a }], unevaluatedProperties: false },
      [{ a: 1 }, { b: 1 }],
      [{ a: 1, c: 1 }],
    ],
    ['not, never', { not: { not: a }, unevaluatedProperties: false }, [{}], [{ a: 1 }]],
    ['if alone', { if: b, unevaluatedProperties: false }, [{ b: 1 }], [{ b: 'x' }, { a: 1 }]],
    [
      'if and then',
      read(
        '{"if":{"required":["a"]},"then":{"properties":{"a":true,"b":true}},"unevaluatedProperties":false}',
      ),
      [{ a: 1, b: 1 }],
      [{ b: 1 }],
    ],
    [
      'if that fails, and else',
      { if: b, else: { properties: { c: true } }, unevaluatedProperties: false },
      [{ c: 1 }],
      [{ b: 'x' }],
    ],
    ['dependentSchemas', { dependentSchemas: { a }, unevaluatedProperties: false }, [{ a: 1 }], [{ b: 1 }]],
    ['$ref', { $ref: '#/$defs/a', $defs: { a }, unevaluatedProperties: false }, [{ a: 1 }], [{ b: 1 }]],
    [
      '$dynamicRef',
      { $dynamicRef: '#a', $defs: { a: { $dynamicAnchor: 'a', ...a } }, unevaluatedProperties: false },
      [{ a: 1 }],
      [{ b: 1 }],
    ],
    [
      'unevaluatedProperties within',
      { allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false },
      [{ a: 1 }],
      [],
    ],
    ['no cousins', { allOf: [a, { unevaluatedProperties: false }] }, [{}], [{ a: 1 }]],
    [
      'no members of members',
      { properties: { x: { properties: { y: true } } }, unevaluatedProperties: false },
      [{ x: { y: 1, z: 1 } }],
      [{ x: {}, y: 1 }],
    ],
    [
      'its own schema',
      { ...a, unevaluatedProperties: { type: 'string' } },
      [{ a: 1, b: 'x' }],
      [{ a: 1, b: 1 }],
    ],
    [
      'recursion',
      { properties: { v: true, next: { $ref: '#' } }, unevaluatedProperties: false },
      [{ v: 1, next: { v: 2, next: {} } }],
      [{ v: 1, next: { w: 2 } }],
    ],
    [
      'inherited names',
      { anyOf: [a], unevaluatedProperties: false },
      [{ a: 1 }],
      [{ constructor: 1 }, read('{"__proto__":1}')],
    ],
  ])('takes members for evaluated by %s', (_what, schema, good, bad) => {
    for (const value of good) expect(problemsOf(schema, value)).toEqual([]);
    for (const value of bad) expect(problemsOf(schema, value)).not.toEqual([]);
  });

  const first = { prefixItems: [{ type: 'number' }] };
  it.each<Case>([
    ['prefixItems', { ...first, unevaluatedItems: false }, [[], [1], {}], [[1, 2]]],
    ['items', { items: true, unevaluatedItems: false }, [[1, 2]], []],
    ['contains', { contains: { type: 'number' }, unevaluatedItems: false }, [[1, 2]], [[1, 'a']]],
    [
      'contains beside prefixItems',
      { prefixItems: [{ type: 'string' }], contains: { type: 'number' }, unevaluatedItems: { type: 'null' } },
      [['a', 1, null, 2]],
      [['a', 1, 'b']],
    ],
    [
      'allOf',
      { allOf: [first, { prefixItems: [true, true] }], unevaluatedItems: false },
      [[1, 2]],
      [[1, 2, 3]],
    ],
    [
      'anyOf',
      { anyOf: [first, { prefixItems: [true, { type: 'null' }] }], unevaluatedItems: false },
      [[1], [1, null]],
      [[1, 2]],
    ],
    [
      'oneOf',
      { oneOf: [first, { items: { type: 'string' } }], unevaluatedItems: false },
      [[1], ['a', 'b']],
      [[1, 2]],
    ],
    ['not, never', { not: { not: first }, unevaluatedItems: false }, [[]], [[1]]],
    ['if', { if: first, else: { items: true }, unevaluatedItems: false }, [[1], ['a', 'b']], [[1, 2]]],
    ['$ref', { $ref: '#/$defs/first', $defs: { first }, unevaluatedItems: false }, [[1]], [[1, 2]]],
    ['unevaluatedItems within', { allOf: [{ unevaluatedItems: true }], unevaluatedItems: false }, [[1]], []],
    ['no cousins', { allOf: [{ items: true }, { unevaluatedItems: false }] }, [[]], [[1]]],
    [
      'no items of items',
      { prefixItems: [{ items: true }], unevaluatedItems: false },
      [[[1, 2]]],
      [[[1], 2]],
    ],
  ])('takes items for evaluated by %s', (_what, schema, good, bad) => {
    for (const value of good) expect(problemsOf(schema, value)).toEqual([]);
    for (const value of bad) expect(problemsOf(schema, value)).not.toEqual([]);
  });

  it('explains what is wrong', () => {
    const schema = { properties: { a: { type: 'string' } }, unevaluatedProperties: false };
    expect(problemsOf(schema, { a: 1, b: 2, c: 3 })).toEqual([
      'a: is not of type string',
      'root: has unexpected members: b, c',
    ]);
    expect(problemsOf({ prefixItems: [true], unevaluatedItems: false }, [1, 2, 3])).toEqual([
      'root: has unexpected items: 1, 2',
    ]);
    expect(problemsOf({ contains: { type: 'null' }, minContains: 2 }, [null])).toEqual([
      'root: has fewer than 2 items that contains asks for',
    ]);
    expect(problemsOf({ contains: true, maxContains: 1 }, [1, 2])).toEqual([
      'root: has more than 1 items that contains asks for',
    ]);
    expect(problemsOf({ dependentRequired: { a: ['b'] } }, { a: 1 })).toEqual([
      'root: lacks the member b, which a needs',
    ]);
  });

  it.each<[string, JsonObject, RegExp]>([
    ['a list of items', { items: [true] }, /is invalid at items/],
    ['a bad anchor', { $anchor: '1' }, /is invalid at \$anchor/],
    ['a bad count', { minContains: -1 }, /is invalid at minContains/],
    ['bad names', { dependentRequired: { a: ['b', 'b'] } }, /is invalid at dependentRequired\.a/],
    [
      'a bad subschema',
      { $defs: { a: { unevaluatedItems: 1 } } },
      /is invalid at \$defs\.a\.unevaluatedItems/,
    ],
    ['$recursiveRef', { $recursiveRef: '#' }, /\$recursiveRef, which is not supported/],
    ['$recursiveAnchor', { $recursiveAnchor: 'a' }, /\$recursiveAnchor, which is not supported/],
    [
      'another resource within',
      { $defs: { a: { $id: 'https://a.example/b' } } },
      /\$id is not supported there/,
    ],
    ['a reference elsewhere', { $dynamicRef: 'https://a.example/b#c' }, /outside itself/],
    ['an anchor that is not there', { $ref: '#none' }, /#none, which is not there/],
    ['the same anchor twice', { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }, /the anchor x twice/],
    ['a circle', { $dynamicAnchor: 'a', anyOf: [{ $dynamicRef: '#a' }] }, /refers to itself without end/],
    ['a circle of dependencies', { dependentSchemas: { a: { $ref: '#' } } }, /refers to itself without end/],
  ])('is refused with %s', (_what, schema, message) => {
    expect(() => compileSchema(schema, { dialect: '2020-12' })).toThrow(message);
  });

  it('differs from draft 7', () => {
    const judged = (schema: JsonObject, dialect: 'draft-07' | '2020-12', value: JsonValue) =>
      compileSchema(schema, { dialect })(value, null, new Run(new Work(), 'validity'));
    const beside = { $ref: '#/definitions/a', maximum: 1, definitions: { a: { type: 'number' } } };
    expect([judged(beside, 'draft-07', 2), judged(beside, '2020-12', 2)]).toEqual([true, false]);
    const counted = { contains: true, maxContains: 1, unevaluatedItems: false };
    expect([judged(counted, 'draft-07', [1, 2]), judged(counted, '2020-12', [1, 2])]).toEqual([true, false]);
  });
});
