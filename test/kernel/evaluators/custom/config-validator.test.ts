import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import {
  createConfigValidator,
  MAX_CONFIG_LENGTH,
} from '../../../../src/kernel/evaluators/custom/config-validator.js';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    text: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]*$' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    share: { type: 'number', exclusiveMinimum: 0 },
    on: { type: 'boolean' },
    words: { type: 'array', items: { type: 'string' }, maxItems: 2 },
    level: { enum: ['low', 'high'] },
    nested: { type: 'object', required: ['a/b'], additionalProperties: false, properties: { 'a/b': {} } },
  },
  required: ['text'],
};

describe('a configuration of a custom evaluator', () => {
  const problemsOf = createConfigValidator(SCHEMA);
  const seen = (config: JsonObject) => problemsOf(config).map(({ code, path }) => [code, path.join('.')]);

  it('is accepted when it satisfies the schema, with members that are unknown to the schema', () => {
    expect(problemsOf({ text: 'abc', count: 3, level: 'low', other: 1, nested: { 'a/b': 1 } })).toEqual([]);
  });
  it.each<[JsonObject, [string, string][]]>([
    [{}, [['missing', 'text']]],
    [{ text: 5 }, [['string_type', 'text']]],
    [{ text: 'a' }, [['string_too_short', 'text']]],
    [{ text: 'abcde' }, [['string_too_long', 'text']]],
    [{ text: 'ABC' }, [['string_pattern_mismatch', 'text']]],
    [{ text: 'abc', count: 1.5 }, [['int_type', 'count']]],
    [{ text: 'abc', count: 0 }, [['greater_than_equal', 'count']]],
    [{ text: 'abc', count: 10 }, [['less_than_equal', 'count']]],
    [{ text: 'abc', share: 0 }, [['greater_than', 'share']]],
    [{ text: 'abc', share: 'x' }, [['float_type', 'share']]],
    [{ text: 'abc', on: 'yes' }, [['bool_type', 'on']]],
    [{ text: 'abc', words: 'a' }, [['list_type', 'words']]],
    [{ text: 'abc', words: ['a', 2] }, [['string_type', 'words.1']]],
    [{ text: 'abc', words: ['a', 'b', 'c'] }, [['too_long', 'words']]],
    [{ text: 'abc', level: 'mid' }, [['literal_error', 'level']]],
    [{ text: 'abc', nested: [] }, [['dict_type', 'nested']]],
    [{ text: 'abc', nested: {} }, [['missing', 'nested.a/b']]],
    [
      { text: 'abc', nested: { 'a/b': 1, c: 2, d: 3 } },
      [
        ['extra_forbidden', 'nested.c'],
        ['extra_forbidden', 'nested.d'],
      ],
    ],
    [
      { count: 0, on: 1 },
      [
        ['greater_than_equal', 'count'],
        ['bool_type', 'on'],
        ['missing', 'text'],
      ],
    ],
  ])('%j is refused', (config, expected) => {
    expect(seen(config)).toEqual(expected);
  });
  it('is refused when it is long, or has integers that would lose digits', () => {
    expect(seen({ text: 'abc', other: 'x'.repeat(MAX_CONFIG_LENGTH) })).toEqual([['value_error', '']]);
    expect(seen({ text: 'abc', other: 2n ** 60n })).toEqual([['value_error', '']]);
  });
  it('is refused when checking it costs too much', () => {
    const member = { properties: { a: { $ref: '#' } }, required: ['z'] };
    const costly = createConfigValidator({ anyOf: [member, member] });
    const nest = (levels: number): JsonObject => (levels === 0 ? { z: 1 } : { a: nest(levels - 1), z: 1 });
    expect(costly(nest(5))).toEqual([]);
    const endless = (levels: number): JsonObject => (levels === 0 ? {} : { a: endless(levels - 1) });
    expect(costly(endless(60)).map(({ message }) => message)).toEqual([
      'the schema of the configuration costs too much to check',
    ]);
  });
  it('has its errors reported, with the value, and no more than 50 times', () => {
    expect(problemsOf({ text: 'abc', words: ['a', 2] })).toEqual([
      { code: 'string_type', message: 'is not of type string', path: ['words', 1], input: 2 },
    ]);
    const many = createConfigValidator({ additionalProperties: false, properties: {} });
    const config = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`m${i}`, i]));
    expect(many(config)).toHaveLength(50);
  });
  it('has a schema that is valid and supported', () => {
    expect(() => createConfigValidator({ type: 'text' })).toThrow(
      /^"configSchema" is no valid JSON Schema: \/type /,
    );
    expect(() => createConfigValidator({ $recursiveRef: '#' })).toThrow(
      /^"configSchema" is not supported: it /,
    );
  });
});
