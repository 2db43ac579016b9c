import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import type { EvaluatorResult } from '../../../src/kernel/core/types.js';
import { jsonEvaluator, MAX_JSON_TEXT_LENGTH } from '../../../src/kernel/evaluators/json/json.js';
import { FULL_CALL } from '../../support/check-call.js';

const evaluate = (config: JsonObject, data: JsonValue, detail: 'full' | 'verdict' = 'full') =>
  jsonEvaluator.compile(config).evaluate(data, { ...FULL_CALL, detail }) as EvaluatorResult;
const violations = (schema: JsonObject, data: JsonValue) =>
  evaluate({ json_schema: schema }, data).metadata as { error_count: number; errors: string[] } | null;
const object = (text: string) => parseJson(text) as JsonObject;

describe('json', () => {
  it('names the first three problems of a schema by their place and counts all', () => {
    const schema = { items: { properties: { name: { type: 'string', minLength: 2 } }, required: ['id'] } };
    const told = violations(schema, [{ name: 1 }, { name: 'x', id: 1 }, {}]);
    expect(told?.error_count).toBe(4);
    expect(told?.errors.map((problem) => problem.split(': ')[0])).toEqual(['0.name', '0', '1.name']);
    expect(violations({ type: 'array' }, {})?.errors).toEqual(['root: is not of type array']);
    expect(violations({ properties: { a: { items: false } } }, { a: [1] })?.errors).toEqual([
      'a.0: is not allowed',
    ]);
  });

  it('finds problems in the order of the members of the schema', () => {
    const data = { a: 1, b: 1 };
    const one = { properties: { b: false, a: false }, type: 'array' };
    expect(violations(one, data)?.errors.map((problem) => problem.split(':')[0])).toEqual(['b', 'a', 'root']);
    const other = { type: 'array', properties: { a: false, b: false } };
    expect(violations(other, data)?.errors.map((problem) => problem.split(':')[0])).toEqual([
      'root',
      'a',
      'b',
    ]);
  });

  it.each<[string, JsonObject, JsonValue, number]>([
    ['anyOf', { anyOf: [{ type: 'string', minLength: 3 }, { enum: [1] }] }, 'x', 1],
    ['oneOf without one', { oneOf: [{ type: 'string' }, { type: 'null' }] }, [1], 1],
    ['oneOf with two', { oneOf: [{ type: 'array' }, { minItems: 1 }] }, [1], 1],
    ['not', { not: { required: ['a'] } }, { a: 1 }, 1],
    ['contains', { contains: { type: 'string' } }, [1, 2, 3], 1],
    ['if and then', object('{"if":{"required":["a"]},"then":{"required":["b","c"]}}'), { a: 1 }, 2],
    ['if and else', { if: { required: ['a'] }, else: { required: ['b', 'c', 'd'] } }, {}, 3],
    ['members that must not be there', { additionalProperties: false }, { a: 1, b: 2 }, 1],
    ['additional members', { additionalProperties: { type: 'null' } }, { a: 1, b: 2 }, 2],
    ['items that must not be there', { items: [{}], additionalItems: false }, [1, 2, 3], 1],
    ['additional items', { items: [{}], additionalItems: { type: 'null' } }, [1, 2, 3], 2],
    ['names of members', { propertyNames: { maxLength: 1 } }, { a: 1, bc: 2, de: 3 }, 2],
    [
      'members that need others',
      { dependencies: { a: ['b', 'c'], d: { required: ['e'] } } },
      { a: 1, d: 1 },
      3,
    ],
    ['several of all', { allOf: [{ type: 'null' }, { minItems: 9 }] }, [], 2],
    [
      'what stands beside a reference',
      { $ref: '#/definitions/a', type: 'null', definitions: { a: { minItems: 1 } } },
      [],
      1,
    ],
    ['the empty name', { required: [''] }, {}, 1],
    ['contains nothing', { contains: {} }, [], 1],
  ])('counts the problems of %s as they are counted elsewhere', (_what, schema, data, count) => {
    // A document must be an object or a list.
    const document = typeof data === 'string' ? JSON.stringify(data) : data;
    expect(violations(schema, document)?.error_count).toBe(count);
  });

  it.each<[string, string, string, boolean]>([
    ['maximum', '{"maximum":9007199254740992}', '9007199254740993', false],
    ['minimum', '{"minimum":9007199254740993}', '9007199254740993', true],
    ['const', '{"const":9007199254740993}', '9007199254740992', false],
    ['enum', '{"enum":[100000000000000000000]}', '1e20', true],
    ['multipleOf', '{"multipleOf":10}', '123456789012345678901', false],
    ['uniqueItems', '{"uniqueItems":true}', '[9007199254740992,9007199254740993]', true],
    ['uniqueItems', '{"uniqueItems":true}', '[1e20,100000000000000000000]', false],
    ['type', '{"type":"integer"}', '123456789012345678901234567890', true],
    ['type', '{"type":"number"}', '123456789012345678901234567890', true],
    ['a huge quotient', '{"multipleOf":0.5}', '1e308', true],
    ['an integer written as a fraction', '{"type":"integer"}', '5.0', true],
    ['a large integer written as a fraction', '{"type":"integer"}', '12345678901234567890.0', true],
    ['a large integer with an exponent', '{"type":"integer"}', '1.2345678901234567890123e300', true],
    ['a fraction of a large number', '{"type":"integer"}', '12345678901234567890.5', false],
    ['a long fraction', '{"type":"number"}', '0.12345678901234567890123', true],
    ['maximum', '{"maximum":0.12345678901234567890123}', '0.12345678901234567890123', true],
    ['maximum', '{"maximum":0.12345678901234567890123}', '0.12345678901234567890124', false],
    ['maximum', '{"maximum":1000}', '1000.00000000000000000000001', false],
    ['maximum', '{"maximum":1000.00000000000000000000001}', '1000', true],
    ['minimum', '{"minimum":-0.1}', '-0.10000000000000000000001', false],
    ['exclusiveMaximum', '{"exclusiveMaximum":1}', '0.99999999999999999999999', true],
    ['exclusiveMinimum', '{"exclusiveMinimum":0}', '1e-999', true],
    ['exclusiveMinimum', '{"exclusiveMinimum":0}', '-1e-999', false],
    ['minimum', '{"minimum":1e23}', '99999999999999999999999', false],
    ['maximum', '{"maximum":1e23}', '100000000000000000000000', true],
    ['const', '{"const":0.1}', '0.1000000000000000055511151231257827', false],
    ['const', '{"const":0.10}', '0.1', true],
    ['const', '{"const":0.12345678901234567890123}', '0.123456789012345678901230', true],
    ['enum', '{"enum":[12345678901234567890.0]}', '12345678901234567890', true],
    ['enum', '{"enum":[1.2345678901234567890123e300]}', '12345678901234567890123e278', true],
    ['multipleOf', '{"multipleOf":0.00000000000000000000001}', '0.12345678901234567890123', true],
    ['multipleOf', '{"multipleOf":0.00000000000000000000002}', '0.12345678901234567890123', false],
    ['multipleOf', '{"multipleOf":0.5}', '12345678901234567890.5', true],
    ['multipleOf', '{"multipleOf":0.01}', '19.99', true],
    ['multipleOf', '{"multipleOf":0.01}', '0.07', true],
    ['multipleOf', '{"multipleOf":0.1}', '-0.3', true],
    ['multipleOf', '{"multipleOf":0.01}', '19.995', false],
    ['multipleOf', '{"multipleOf":1e-7}', '0.3', true],
    ['multipleOf', '{"multipleOf":1e-8}', '1e308', true],
    ['multipleOf', '{"multipleOf":0.123456789}', '1e308', false],
    ['multipleOf', '{"multipleOf":0.3}', '0', true],
    ['multipleOf', '{"multipleOf":5e-324}', '1.7976931348623157e308', true],
    ['multipleOf', '{"multipleOf":10}', '1e23', true],
    ['uniqueItems', '{"uniqueItems":true}', '[0.12345678901234567890123,0.12345678901234567890124]', true],
    ['uniqueItems', '{"uniqueItems":true}', '[0.12345678901234567890123,0.123456789012345678901230]', false],
    ['uniqueItems', '{"uniqueItems":true}', '[1e300,1.0e300]', false],
    ['true in an enumeration of 1', '{"enum":[1]}', 'true', false],
    ['members in another order', '{"const":{"a":1,"b":[2]}}', '{"b":[2],"a":1.0}', true],
    ['texts that look like the end of others', '{"uniqueItems":true}', '[["a","b"],["a\\",\\"sb"]]', true],
  ])('compares numbers and equality exactly: %s %s %s', (_what, schema, data, valid) => {
    expect(evaluate({ json_schema: object(schema) }, data).matched).toBe(!valid);
  });

  it('cannot decide whether a number of too many digits is a multiple', () => {
    const text = `0.${'3'.repeat(20_000)}`;
    expect(() => evaluate({ json_schema: { multipleOf: 0.5 } }, text)).toThrow(/more than 10000 digits/);
    expect(() => evaluate({ json_schema: { multipleOf: 0.5 } }, '1e-999999')).toThrow(
      /more than 10000 digits/,
    );
    expect(evaluate({ json_schema: { maximum: 0.3 } }, text).matched).toBe(true);
    expect(evaluate({ json_schema: { maximum: 0.34 } }, text).matched).toBe(false);
  });

  it.each(['{"amount":1e999}', '[-1e400]', '1e999'])('cannot be decided for %s', (text) => {
    for (const lax of [false, true]) {
      const config = { json_schema: { maximum: 1000 }, allow_invalid_json: lax };
      expect(() => evaluate(config, text)).toThrow(/beyond the range/);
    }
  });

  it('holds fields to bounds exactly', () => {
    const config = object('{"field_constraints":{"a":{"min":-1.00000000000000000000001,"max":1000}}}');
    for (const [a, matched] of [
      ['1000', false],
      ['1000.00000000000000000000001', true],
      ['-1.00000000000000000000001', false],
      ['-1.00000000000000000000002', true],
      ['100000000000000000000.0', true],
    ] as const) {
      expect(evaluate(config, object(`{"a":${a}}`)).matched).toBe(matched);
    }
    const types = { field_types: { a: 'integer', b: 'number' } };
    expect(evaluate(types, object('{"a":1e300,"b":0.12345678901234567890}')).matched).toBe(false);
    expect(evaluate(types, object('{"a":0.12345678901234567890,"b":1}')).matched).toBe(true);
  });

  it('is given no number for a document', () => {
    expect(evaluate({ required_fields: ['a'] }, parseJson('0.12345678901234567890'))).toMatchObject({
      matched: true,
      metadata: null,
    });
  });

  it('takes a text with a byte order mark for no JSON', () => {
    const config = { required_fields: ['a'] };
    expect(evaluate(config, '\ufeff{"a":1}')).toMatchObject({ matched: true, metadata: null });
    const lax = { ...config, allow_invalid_json: true };
    expect(evaluate(lax, '\ufeff{"a":1}')).toMatchObject({ matched: false, confidence: 0, metadata: null });
  });

  it.each<[JsonValue, JsonValue, boolean]>([
    [1, true, true],
    [0, false, true],
    [true, 1.0, true],
    [[1, { a: 0 }], [true, { a: false }], true],
    [1, '1', false],
    [null, 0, false],
    ['b', 'B', false],
  ])('a constraint that allows %o is met by %o: %s', (allowed, value, met) => {
    expect(evaluate({ field_constraints: { a: { enum: [allowed] } } }, { a: value }).matched).toBe(!met);
  });

  it('counts characters, not code units', () => {
    const schema = { items: { minLength: 2, maxLength: 2 } };
    expect(violations(schema, ['ab', '😀😀', '\ud83dx', '\ude00\ud83d'])).toBeNull();
    expect(violations(schema, ['😀', 'a😀b'])?.error_count).toBe(2);
  });

  it('takes prototype names in schemas, paths and data for ordinary ones', () => {
    const schema = object('{"properties":{"__proto__":{"type":"null"}},"additionalProperties":false}');
    expect(violations(schema, object('{"__proto__":null}'))).toBeNull();
    expect(violations(schema, object('{"__proto__":1}'))?.errors).toEqual(['__proto__: is not of type null']);
    expect(violations(schema, object('{"hasOwnProperty":1}'))?.error_count).toBe(1);
    const config = { field_types: object('{"__proto__.constructor":"string"}'), allow_extra_fields: false };
    expect(evaluate(config, object('{"__proto__":{"constructor":"x"}}')).matched).toBe(false);
    expect(evaluate(config, {}).matched).toBe(true);
  });

  it('gives the same result in a verdict as in full, apart from the metadata', () => {
    const config = {
      json_schema: { properties: { s: false } },
      required_fields: ['r1', 'r2'],
      field_types: { t1: 'string', t2: 'null' },
    };
    for (const data of [{ s: 1 }, {}, { r1: 1, r2: 1 }, { r1: 1, r2: 2, t1: '', t2: null }, [], 'x']) {
      const { metadata: _, ...full } = evaluate(config, data as JsonValue);
      const { metadata: __, ...verdict } = evaluate(config, data as JsonValue, 'verdict');
      expect(verdict).toEqual(full);
    }
  });

  it.each<[JsonObject, JsonValue, string]>([
    [{ max: 10_000 }, 10_001, 'is above the maximum of 10000'],
    [{ min: -1.5 }, -2, 'is below the minimum of -1.5'],
    [{ min_length: 3 }, 'ab', 'is shorter than 3 characters'],
    [{ max_length: 2 }, 'abc', 'is longer than 2 characters'],
  ])('reports where a value is that breaks %j', (constraint, a, said) => {
    const { matched, message } = evaluate({ field_constraints: { a: constraint } }, { a });
    expect({ matched, message }).toEqual({ matched: true, message: expect.stringContaining(said) });
  });

  it('does not repeat the data in what it reports', () => {
    const secret = 'hunter2';
    const config = {
      field_types: { a: 'integer' },
      field_constraints: { a: { max: 1 } },
      field_patterns: { a: 'x' },
    };
    const results = [
      evaluate(
        { json_schema: { properties: { a: { type: 'null', enum: [1], pattern: 'x' } } } },
        { a: secret },
      ),
      evaluate(config, { a: secret }),
      evaluate({ field_constraints: config.field_constraints }, { a: secret }),
      evaluate({ field_patterns: config.field_patterns }, { a: secret }),
    ];
    for (const result of results) {
      expect(result.matched).toBe(true);
      expect(JSON.stringify(result)).not.toContain(secret);
    }
  });

  const nested = (levels: number): JsonObject => (levels === 0 ? {} : { a: nested(levels - 1) });
  const many = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_, i) => make(i));
  const deeper = { properties: { a: { $ref: '#' } } };

  it.each<[string, JsonObject, () => JsonValue]>([
    [
      'recursion that doubles with each level',
      { json_schema: { oneOf: [deeper, deeper] } },
      () => nested(100),
    ],
    [
      'a chain of references at each level',
      {
        json_schema: {
          $ref: '#/definitions/d0',
          definitions: Object.fromEntries(
            many(90, (i) => [
              `d${i}`,
              i === 89 ? { properties: { a: { $ref: '#' } } } : { $ref: `#/definitions/d${i + 1}` },
            ]),
          ),
        },
      },
      () => nested(190),
    ],
    ['a list without end', { json_schema: { items: { type: 'string' } } }, () => many(300_000, () => 'x')],
    [
      'items that must be unique',
      { json_schema: { uniqueItems: true } },
      () => many(100_000, (i) => ({ i })),
    ],
    ['long texts', { json_schema: { items: { minLength: 2 } } }, () => many(20, () => 'x'.repeat(1_000_000))],
    [
      'many patterns for many names',
      { json_schema: { patternProperties: Object.fromEntries(many(200, (i) => [`^a.*${i}$`, {}])) } },
      () => Object.fromEntries(many(2_000, (i) => [`aaaaaaaa${i}`, 1])),
    ],
    [
      'fields that no check names',
      { field_types: { a: 'string' }, allow_extra_fields: false },
      () => Object.fromEntries(many(200_000, (i) => [`k${i}`, 1])),
    ],
    [
      'a text that is too long',
      { required_fields: ['a'] },
      () => `{"a":"${'x'.repeat(MAX_JSON_TEXT_LENGTH)}"}`,
    ],
    ['a text that nests too deep', { required_fields: ['a'] }, () => '['.repeat(300) + ']'.repeat(300)],
    ['a text that nests hopelessly deep', { required_fields: ['a'] }, () => '['.repeat(100_000)],
  ])('gives up with an error rather than run for long: %s', (_what, config, data) => {
    expect(() => evaluate(config, data())).toThrow(/cost too much|too deep|deeper|more than/);
  });

  it('has work for large documents that are ordinary', () => {
    const rows = many(5_000, (i) => ({ id: i, name: `name ${i}`, tags: ['a', 'b'] }));
    const schema = {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'integer' },
          name: { type: 'string', maxLength: 20 },
          tags: { items: { type: 'string' } },
        },
      },
    };
    expect(evaluate({ json_schema: schema }, rows).matched).toBe(false);
    const text = JSON.stringify(rows.slice(0, 4_000));
    expect(evaluate({ json_schema: schema }, text).matched).toBe(false);
  });
});
