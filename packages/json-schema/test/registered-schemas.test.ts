import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson } from '../../exact-json/src/index.js';
import { MAX_SCHEMA_DEPTH } from '../src/bounds.js';
import { createSchemaValidator, MAX_REGISTERED_SCHEMA_VALUES } from '../src/registered-schemas.js';

const problem = (schema: JsonObject, value: JsonValue) => createSchemaValidator().problem(schema, value);
const object = (text: string) => parseJson(text) as JsonObject;

describe('a schema from outside', () => {
  it.each<[string, JsonObject, JsonValue, JsonValue]>([
    ['types and bounds', { properties: { a: { type: 'integer', minimum: 1 } } }, { a: 1 }, { a: 0 }],
    ['required members', { required: ['a'] }, { a: null }, {}],
    ['required members that every object inherits', { required: ['constructor'] }, { constructor: 1 }, {}],
    ['unexpected members', { additionalProperties: false, properties: { a: {} } }, { a: 1 }, { b: 1 }],
    ['members named like inherited ones', { additionalProperties: false }, {}, { toString: 1 }],
    [
      'several patterns',
      { properties: { a: { pattern: '^x' }, b: { pattern: '^y' } } },
      { a: 'x', b: 'y' },
      { a: 'x', b: 'x' },
    ],
    ['names of members', { propertyNames: { pattern: '^[a-z]+$' } }, { ab: 1 }, { A: 1 }],
    [
      'patterns of members',
      { patternProperties: { '^n_': { type: 'number' } } },
      { n_a: 1, b: '' },
      { n_a: '' },
    ],
    [
      'lists',
      { properties: { a: { items: { type: 'string' }, uniqueItems: true } } },
      { a: ['x', 'y'] },
      { a: ['x', 'x'] },
    ],
    [
      'tuples of 2020-12',
      { properties: { a: { prefixItems: [{ type: 'string' }] } } },
      { a: ['x', 1] },
      { a: [1] },
    ],
    [
      'tuples of draft 7',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { a: { items: [{ type: 'string' }] } },
      },
      { a: ['x', 1] },
      { a: [1] },
    ],
    [
      'references',
      { properties: { a: { $ref: '#/$defs/x~1y%20z' } }, $defs: { 'x/y z': { type: 'null' } } },
      { a: null },
      { a: 1 },
    ],
    [
      'recursion',
      { properties: { v: { type: 'number' }, next: { $ref: '#' } }, required: ['v'] },
      { v: 1, next: { v: 2, next: { v: 3 } } },
      { v: 1, next: { v: 2, next: {} } },
    ],
    [
      'unevaluated members',
      { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      { a: 1 },
      { b: 1 },
    ],
    [
      'what stands beside a reference, in 2020-12',
      { properties: { a: { $ref: '#/$defs/n', maximum: 3 } }, $defs: { n: { type: 'number' } } },
      { a: 3 },
      { a: 4 },
    ],
    [
      'what stands beside a reference, in draft 7',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { a: { $ref: '#/definitions/n', maximum: 3 } },
        definitions: { n: { type: 'number' } },
      },
      { a: 3 },
      { a: 4 },
    ],
    ['nullable', { properties: { a: { type: 'string', nullable: true } } }, { a: null }, { a: 1 }],
    [
      'members named __proto__',
      object('{"properties":{"__proto__":{"type":"null"}}}'),
      object('{"__proto__":null}'),
      object('{"__proto__":1}'),
    ],
    [
      'references with an encoded percent sign',
      { $ref: '#/$defs/a%2562', $defs: { 'a%62': { type: 'object' }, ab: { type: 'array' } } },
      {},
      [],
    ],
    [
      'integers beyond 2^53',
      object('{"properties":{"a":{"maximum":9007199254740993}}}'),
      object('{"a":9007199254740993}'),
      object('{"a":9007199254740994}'),
    ],
    [
      'a schema with an id of its own',
      { $id: 'https://example.com/tone', type: 'object', required: ['a'] },
      { a: 1 },
      {},
    ],
  ])('judges by %s', (_what, schema, good, bad) => {
    expect(problem(schema, good)).toBeUndefined();
    expect(problem(schema, bad)).toEqual(expect.any(String));
  });

  it('ignores unknown keywords and formats', () => {
    const schema = {
      properties: { a: { type: 'string', format: 'email', 'x-shown-as': 'field' } },
      $comment: 'x',
    };
    expect(problem(schema, { a: 'no address' })).toBeUndefined();
  });

  it.each<[string, JsonObject, RegExp]>([
    ['a type that is none', { type: 'text' }, /invalid/],
    ['keywords of the wrong type', { properties: { a: { minLength: 'x' } } }, /invalid/],
    ['a pattern that needs backtracking', { properties: { a: { pattern: '(?=x)' } } }, /invalid/],
    ['a reference to another document', { $ref: 'https://example.com/schema.json' }, /invalid/],
    ['a reference to a file', { properties: { a: { $ref: 'file:///etc/hostname' } } }, /invalid/],
    ['a reference to nothing', { properties: { a: { $ref: '#/$defs/none' } } }, /invalid/],
    ['a nested id', { properties: { a: { $id: 'urn:x', $ref: '#' } } }, /\$id is not supported/],
    [
      'a dynamic reference to nothing',
      { properties: { a: { $dynamicRef: '#x' } } },
      /#x, which is not there/,
    ],
    ['a recursive reference', { $recursiveRef: '#' }, /not supported: .*\$recursiveRef/],
    [
      'a dynamic reference in draft 7',
      { $schema: 'http://json-schema.org/draft-07/schema#', items: { $dynamicRef: '#' } },
      /not supported: .*\$dynamicRef/,
    ],
    [
      'two anchors of one name',
      { $defs: { a: { $anchor: 'x' }, b: { $dynamicAnchor: 'x' } } },
      /invalid: it has the anchor x twice/,
    ],
    ['nullable without a type', { properties: { a: { nullable: true } } }, /not supported: .*nullable/],
    ['a reference to null', { $ref: '#/default', default: null }, /invalid: .*no schema/],
    ['lists of items in 2020-12', { items: [{ type: 'string' }] }, /invalid: \/items/],
    ['a schema that refers to itself without end', { $ref: '#' }, /without end/],
    [
      'a circle of schemas',
      { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } },
      /without end/,
    ],
  ])('is satisfied by nothing with %s', (_what, schema, message) => {
    expect(problem(schema, {})).toMatch(message);
    expect(problem(schema, { a: 'x' })).toMatch(message);
  });

  it('that requests a later answer is checked now', () => {
    expect(problem({ $async: true, type: 'object', required: ['a'] }, {})).toEqual(expect.any(String));
    expect(problem({ properties: { a: { $async: true, type: 'null' } } }, { a: null })).toEqual(
      expect.any(String),
    );
  });

  it('may nest and list so much and no more', () => {
    const nested = (levels: number): JsonObject => (levels <= 1 ? {} : { not: nested(levels - 1) });
    expect(problem(nested(MAX_SCHEMA_DEPTH), {})).not.toMatch(/deeper/);
    expect(problem(nested(MAX_SCHEMA_DEPTH + 1), {})).toMatch(
      /not supported: it nests deeper than 64 levels/,
    );
    const listed = (count: number): JsonObject => ({ enum: Array.from({ length: count }, (_, i) => i) });
    expect(problem(listed(MAX_REGISTERED_SCHEMA_VALUES - 2), 7)).toBeUndefined();
    expect(problem(listed(MAX_REGISTERED_SCHEMA_VALUES - 1), 7)).toMatch(
      /not supported: it has more than 2000 values/,
    );
  });

  const doubling = (levels: number): JsonObject => {
    const $defs: JsonObject = { d0: { type: 'null' } };
    for (let level = 1; level <= levels; level += 1) {
      const next = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] = { anyOf: [next, next] };
    }
    return { $ref: `#/$defs/d${levels}`, $defs };
  };
  const nest = (levels: number): JsonObject => (levels === 0 ? {} : { a: nest(levels - 1) });
  const many = (count: number): JsonValue[] => Array.from({ length: count }, (_, i) => i);
  const collectors = (levels: number): JsonObject => {
    const $defs: JsonObject = { d0: { contains: true } };
    for (let level = 1; level <= levels; level += 1) {
      const next = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] = { allOf: [next, next], unevaluatedItems: false };
    }
    return $defs;
  };

  it.each<[string, JsonObject, JsonValue]>([
    ['references that double at each level', doubling(40), {}],
    [
      'recursion that doubles with each level of the value',
      {
        anyOf: [
          { properties: { a: { $ref: '#' } }, required: ['z'] },
          { properties: { a: { $ref: '#' } }, required: ['z'] },
        ],
      },
      nest(100),
    ],
    [
      'a long text and many patterns',
      { properties: { a: { allOf: Array.from({ length: 900 }, () => ({ pattern: '(x+x+)+$' })) } } },
      { a: 'x'.repeat(100_000) },
    ],
    [
      'many schemas for each of many values',
      { items: { anyOf: Array.from({ length: 900 }, (_, i) => ({ const: i })) } },
      Array.from({ length: 5_000 }, () => 899),
    ],
    [
      'the evaluated members of many schemas',
      {
        allOf: Array.from({ length: 600 }, () => ({ $ref: '#/$defs/all' })),
        $defs: { all: { patternProperties: { '': {} }, unevaluatedProperties: false } },
      },
      Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`m${i}`, i])),
    ],
    [
      'the evaluated items of nested schemas',
      { $ref: '#/$defs/d16', $defs: collectors(16) },
      Array.from({ length: 1_000 }, (_, i) => i),
    ],
    ['schemas that are true', { allOf: Array.from({ length: 600 }, () => ({ items: true })) }, many(5_000)],
  ])('is refused before it costs too much: %s', (_what, schema, value) => {
    const start = process.cpuUsage();
    expect(problem(schema, value)).toMatch(/costs too much to check/);
    // Of the processor, which other programs do not take from it.
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(5_000);
  });

  it.each<[string, JsonObject, JsonValue, JsonValue]>([
    ['a long list without equal items', { uniqueItems: true }, many(20_000), [...many(20_000), 7]],
    [
      'a large enum for many values',
      { items: { enum: Array.from({ length: 900 }, (_, i) => ({ i })) } },
      Array.from({ length: 5_000 }, () => ({ i: 8 })),
      [{ i: -1 }],
    ],
  ])('takes linear time for %s', (_what, schema, good, bad) => {
    expect(problem(schema, good)).toBeUndefined();
    expect(problem(schema, bad)).not.toMatch(/costs too much/);
  });

  it('spends one budget on all values', () => {
    const validator = createSchemaValidator();
    const schema = { items: { type: 'number' } };
    const problems = Array.from({ length: 30 }, () => validator.problem(schema, many(20_000)));
    expect(problems[0]).toBeUndefined();
    expect(problems.at(-1)).toBe('the registered schema costs too much to check');
  });

  it('shares one budget with the others of a request', () => {
    const validator = createSchemaValidator();
    const large = () => ({ enum: Array.from({ length: 1_500 }, (_, i) => i) });
    const problems = Array.from({ length: 8 }, () => validator.problem(large(), 1));
    expect(problems[0]).toBeUndefined();
    expect(problems.at(-1)).toMatch(/cost too much to compile together/);
  });

  it('has patterns that are bounded together', () => {
    const many = {
      properties: Object.fromEntries(
        Array.from({ length: 600 }, (_, i) => [`p${i}`, { pattern: `(?:abc){900}${i}` }]),
      ),
    };
    expect(problem(many, {})).toMatch(/patterns cost too much/);
  });

  it('explains what is wrong in few words', () => {
    const told = problem({ properties: { a: { pattern: 'x'.repeat(5_000) } } }, { a: 'y' });
    expect(told).toMatch(/^\/a does not match the pattern x+\.\.\.$/);
    expect(told?.length).toBeLessThanOrEqual(400);
    const schema = { properties: { 'a/b': { items: { required: ['c'] } } }, minProperties: 1 };
    expect(problem(schema, { 'a/b': [{}] })).toBe('/a~1b/0 lacks the required member c');
    expect(problem(schema, {})).toBe('the configuration has fewer members than 1');
    expect(problem({ properties: { a: { minLength: -1 } } }, {})).toBe(
      'the registered schema is invalid: /properties/a/minLength is less than the minimum 0',
    );
  });
});
