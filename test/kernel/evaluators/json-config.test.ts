import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import { MAX_SCHEMA_DEPTH, MAX_SCHEMA_VALUES } from '../../../packages/json-schema/src/bounds.js';
import { errorItems } from '../../../src/contract/input/items.js';
import { jsonEvaluator } from '../../../src/kernel/evaluators/json/json.js';
import { MAX_FIELDS, MAX_PATH_LENGTH } from '../../../src/kernel/evaluators/json/members.js';

function items(config: JsonValue) {
  const parsed = jsonEvaluator.configSchema.safeParse(config, { reportInput: true });
  return parsed.success ? [] : errorItems(parsed.error);
}
const problems = (config: JsonValue) =>
  items(config).map(({ field, code }) => (field === undefined ? code : `${field} ${code}`));
const message = (config: JsonValue) => items(config)[0]?.message;
const withSchema = (schema: JsonValue) => ({ json_schema: schema });

describe('the configuration of json', () => {
  it.each<[string, JsonObject]>([
    ['a schema', { json_schema: { type: 'object' } }],
    ['required fields', { required_fields: ['a.b', ''] }],
    [
      'types',
      { field_types: { a: 'string', b: 'number', c: 'integer', d: 'boolean', e: 'array', f: 'null' } },
    ],
    [
      'constraints',
      { field_constraints: { a: { min: 1, max: 2 }, b: { enum: [null] }, c: { min_length: -1 } } },
    ],
    ['a limit that is no number', { field_constraints: { a: { min: 'x' } } }],
    ['numeric limits with a numeric type', { field_constraints: { a: { type: 'integer', min: 1 } } }],
    ['a type that is none, on its own', { field_constraints: { a: { type: 7 } } }],
    [
      'patterns',
      { field_patterns: { a: '^x', b: { pattern: 'y' }, c: { pattern: 'z', flags: ['IGNORECASE'] } } },
    ],
    [
      'patterns without flags',
      { field_patterns: { a: { pattern: '', flags: null }, b: { pattern: '', flags: [] } } },
    ],
    ['nulls for what is not wanted', { json_schema: null, required_fields: ['a'], field_types: null }],
    ['lax booleans', { required_fields: ['a'], allow_extra_fields: 'no', allow_invalid_json: 1 }],
    ['members it does not know', { required_fields: ['a'], more: [1] }],
    ['an empty schema beside something else', { json_schema: {}, required_fields: ['a'] }],
  ])('may have %s', (_what, config) => {
    expect(problems(config)).toEqual([]);
    expect(jsonEvaluator.compile(config)).toEqual({ evaluate: expect.any(Function) });
  });

  it.each<[string, JsonObject, string[]]>([
    ['nothing', {}, ['value_error']],
    [
      'nothing but empty members',
      { json_schema: {}, required_fields: [], field_types: {}, field_constraints: {}, field_patterns: {} },
      ['value_error'],
    ],
    ['a schema that is no object', { json_schema: [] }, ['json_schema dict_type']],
    ['a schema that is true', { json_schema: true }, ['json_schema dict_type']],
    ['required fields in no list', { required_fields: 'a' }, ['required_fields list_type']],
    ['a required field that is no text', { required_fields: ['a', 1] }, ['required_fields[1] string_type']],
    ['types in no object', { field_types: ['a'] }, ['field_types dict_type']],
    [
      'a type that is no text',
      { field_types: { a: 1, 'b.c': null } },
      ['field_types.a string_type', 'field_types.b.c string_type'],
    ],
    ['a type that is none', { field_types: { a: 'text' } }, ['field_types value_error']],
    ['a type in capitals', { field_types: { a: 'String' } }, ['field_types value_error']],
    ['constraints in no object', { field_constraints: 1 }, ['field_constraints dict_type']],
    [
      'constraints of a field in no object',
      { field_constraints: { a: 1 } },
      ['field_constraints.a dict_type'],
    ],
    ['no constraint', { field_constraints: { a: {} } }, ['field_constraints value_error']],
    ['no known constraint', { field_constraints: { a: { minimum: 1 } } }, ['field_constraints value_error']],
    [
      'bounds of a string',
      { field_constraints: { a: { type: 'string', min: 1 } } },
      ['field_constraints value_error'],
    ],
    ['an empty enumeration', { field_constraints: { a: { enum: [] } } }, ['field_constraints value_error']],
    [
      'an enumeration that is no list',
      { field_constraints: { a: { enum: 'x' } } },
      ['field_constraints value_error'],
    ],
    [
      'a length that is no integer',
      { field_constraints: { a: { min_length: 1.5 } } },
      ['field_constraints value_error'],
    ],
    [
      'a length that is a text',
      { field_constraints: { a: { max_length: '3' } } },
      ['field_constraints value_error'],
    ],
    ['patterns in no object', { field_patterns: [] }, ['field_patterns dict_type']],
    [
      'a pattern that is neither text nor object',
      { field_patterns: { a: 1 } },
      ['field_patterns.a.str string_type', 'field_patterns.a.dict[str,any] dict_type'],
    ],
    ['a pattern that does not compile', { field_patterns: { a: '(' } }, ['field_patterns value_error']],
    ['a look-ahead', { field_patterns: { a: '(?=x)' } }, ['field_patterns value_error']],
    ['an object without a pattern', { field_patterns: { a: {} } }, ['field_patterns value_error']],
    [
      'a pattern member that is no text',
      { field_patterns: { a: { pattern: 5 } } },
      ['field_patterns value_error'],
    ],
    [
      'another flag',
      { field_patterns: { a: { pattern: 'x', flags: ['MULTILINE'] } } },
      ['field_patterns value_error'],
    ],
    [
      'a flag in small letters',
      { field_patterns: { a: { pattern: 'x', flags: ['ignorecase'] } } },
      ['field_patterns value_error'],
    ],
    [
      'flags that are no list',
      { field_patterns: { a: { pattern: 'x', flags: 'IGNORECASE' } } },
      ['field_patterns value_error'],
    ],
    [
      'another logic',
      { required_fields: ['a'], pattern_match_logic: 'some' },
      ['pattern_match_logic literal_error'],
    ],
    [
      'a boolean that is none',
      { required_fields: ['a'], allow_extra_fields: 'maybe' },
      ['allow_extra_fields bool_parsing'],
    ],
    [
      'a boolean that is null',
      { required_fields: ['a'], case_sensitive_enums: null },
      ['case_sensitive_enums bool_type'],
    ],
    [
      'several mistakes, of which all are reported',
      { json_schema: 1, field_types: { a: 'x' }, allow_null_required: 7 },
      ['json_schema dict_type', 'field_types value_error', 'allow_null_required bool_parsing'],
    ],
  ])('must not have %s', (_what, config, expected) => {
    expect(problems(config)).toEqual(expected);
  });

  it.each<[string, JsonObject, RegExp]>([
    ['a type that is none', { type: 'text' }, /is invalid at type/],
    [
      'a keyword of the wrong type',
      { properties: { a: { minLength: 'x' } } },
      /is invalid at properties\.a\.minLength/,
    ],
    ['a negative length', { minLength: -1 }, /minLength/],
    ['repeated required members', { required: ['a', 'a'] }, /required/],
    ['a pattern that does not compile', { properties: { a: { pattern: '(' } } }, /has the pattern \(/],
    ['a pattern that needs backtracking', { patternProperties: { '(?!x)': {} } }, /has the pattern \(\?!x\)/],
    ['a reference to another document', { $ref: 'https://example.com/schema.json' }, /outside itself/],
    ['a reference to the meta-schema', { $ref: 'http://json-schema.org/draft-07/schema#' }, /outside itself/],
    ['a reference to a file', { items: { $ref: 'file:///etc/hostname' } }, /outside itself/],
    ['a reference to nothing', { $ref: '#/definitions/none' }, /not there/],
    ['a reference to what is no schema', { $ref: '#/title', title: 'x' }, /no schema/],
    [
      'a reference that makes a bad schema one',
      { $ref: '#/x', x: { minLength: 'y' } },
      /is invalid at minLength/,
    ],
    ['an id below its top', { definitions: { a: { $id: 'http://x/y' } } }, /\$id below/],
    ['a reference to itself', { $ref: '#' }, /without end/],
    [
      'a circle',
      { allOf: [{ $ref: '#/definitions/a' }], definitions: { a: { not: { $ref: '#' } } } },
      /without end/,
    ],
  ])('must not have a schema with %s', (_what, schema, expected) => {
    expect(problems(withSchema(schema))).toEqual(['json_schema value_error']);
    expect(message(withSchema(schema))).toMatch(expected);
  });

  it.each<[string, string]>([
    ['another draft', '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}'],
    ['an unknown draft', '{"$schema":"urn:none","type":"object"}'],
    ['a format that is none', '{"format":"no such format"}'],
    ['unknown keywords', '{"x-shown":true,"minContains":"x"}'],
    ['a repeated and an empty enumeration', '{"properties":{"a":{"enum":[1,1]},"b":{"enum":[]}}}'],
    [
      'a reference by its own id',
      '{"$id":"http://x/y#","items":{"$ref":"http://x/y#/definitions/a"},"definitions":{"a":{}}}',
    ],
    ['a reference by name', '{"items":{"$ref":"#a"},"definitions":{"a":{"$id":"#a"}}}'],
    ['ids as generators write them', '{"properties":{"a":{"$id":"#/properties/a","type":"string"}}}'],
    [
      'members named like inherited ones',
      '{"properties":{"__proto__":{"type":"string"},"constructor":{}},"required":["__proto__"]}',
    ],
    ['integers beyond 2^53', '{"maximum":90071992547409931}'],
    ['recursion', '{"properties":{"next":{"$ref":"#"}}}'],
  ])('may have a schema with %s', (_what, schema) => {
    expect(items(withSchema(parseJson(schema)))).toEqual([]);
  });

  it('has bounds, each named in the error', () => {
    const nested = (levels: number): JsonObject => (levels === 1 ? {} : { not: nested(levels - 1) });
    expect(message(withSchema(nested(MAX_SCHEMA_DEPTH)))).toBeUndefined();
    expect(message(withSchema(nested(MAX_SCHEMA_DEPTH + 1)))).toContain(`${MAX_SCHEMA_DEPTH} levels`);
    const listed = (count: number): JsonObject => ({ enum: Array.from({ length: count }, (_, i) => i) });
    expect(message(withSchema(listed(MAX_SCHEMA_VALUES - 2)))).toBeUndefined();
    expect(message(withSchema(listed(MAX_SCHEMA_VALUES - 1)))).toContain(`${MAX_SCHEMA_VALUES} values`);
    const names = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
    expect(message({ required_fields: names(MAX_FIELDS) })).toBeUndefined();
    expect(message({ required_fields: names(MAX_FIELDS + 1) })).toContain(`${MAX_FIELDS}`);
    const types = (count: number) => Object.fromEntries(names(count).map((name) => [name, 'string']));
    expect(message({ field_types: types(MAX_FIELDS + 1) })).toContain(`${MAX_FIELDS}`);
    expect(message({ required_fields: ['x'.repeat(MAX_PATH_LENGTH + 1)] })).toContain(`${MAX_PATH_LENGTH}`);
    const values = Array.from({ length: 20_000 }, (_, i) => i);
    expect(message({ field_constraints: { a: { enum: values } } })).toContain('20000 values');
  });

  it('reports the cost of compiling it, and refuses by itself what costs too much', () => {
    const cost = (config: JsonObject) => jsonEvaluator.compileCost?.(config) ?? 0;
    expect(cost({ json_schema: { items: { pattern: '(?:abc){900}' } } })).toBeGreaterThan(2_700);
    expect(cost({ json_schema: { patternProperties: { '(?:abc){900}': {} } } })).toBeGreaterThan(2_700);
    expect(cost({ field_patterns: { a: '(?:abc){900}', b: { pattern: '(?:abc){900}' } } })).toBeGreaterThan(
      5_400,
    );
    expect(cost({ field_patterns: { a: '[\\pL]'.repeat(60) } })).toBeGreaterThan(100_000);
    for (const odd of [null, 1, 'x', [], { a: 1 }, { pattern: 1 }]) {
      expect(cost({ json_schema: odd, field_patterns: odd })).toBeLessThan(1_000);
    }
    const bombs = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, `(?:abc){900}${i}`]));
    expect(cost({ field_patterns: bombs })).toBeLessThan(1_000);
    expect(message({ field_patterns: bombs })).toContain('cost too much to compile');
    const schema = { patternProperties: Object.fromEntries(Object.values(bombs).map((one) => [one, {}])) };
    expect(cost(withSchema(schema))).toBeLessThan(1_000);
    expect(message(withSchema(schema))).toContain('cost too much to compile');
  });

  it('is described to clients', () => {
    expect(Object.keys(jsonEvaluator.configJsonSchema.properties as JsonObject)).toEqual([
      'json_schema',
      'required_fields',
      'field_types',
      'field_constraints',
      'field_patterns',
      'allow_extra_fields',
      'allow_null_required',
      'pattern_match_logic',
      'case_sensitive_enums',
      'allow_invalid_json',
    ]);
  });
});
