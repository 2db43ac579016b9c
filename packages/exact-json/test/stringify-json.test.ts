import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeeperThan, MAX_JSON_DEPTH } from '../src/json-depth.js';
import { jsonEqual } from '../src/json-number.js';
import type { JsonValue } from '../src/json-value.js';
import { parseJson } from '../src/parse-json.js';
import { stringifyJson } from '../src/stringify-json.js';

function nestedLists(levels: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe('stringifyJson', () => {
  it('prints like JSON.stringify where that loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stringifyJson(value as JsonValue)).toBe(JSON.stringify(value));
      }),
    );
  });
  it.each<[string, JsonValue, string]>([
    ['a bigint', 9007199254740993n, '9007199254740993'],
    ['a bigint inside', { a: [1, 9007199254740993n, 'x'] }, '{"a":[1,9007199254740993,"x"]}'],
    ['a large float', 1e20, '100000000000000000000'],
    ['a larger float', 1e21, '1e+21'],
    ['a decimal', parseJson('[0.12345678901234567890123]'), '[0.12345678901234567890123]'],
    ['an infinite number', [Number.POSITIVE_INFINITY], '[null]'],
    ['a key that needs escapes', { '"\n': 9007199254740993n }, '{"\\"\\n":9007199254740993}'],
  ])('prints %s', (_name, value, text) => {
    expect(stringifyJson(value)).toBe(text);
  });
  it('prints the deepest value the service takes', () => {
    expect(stringifyJson(nestedLists(MAX_JSON_DEPTH))).toHaveLength(2 * MAX_JSON_DEPTH + 1);
    expect(stringifyJson([nestedLists(MAX_JSON_DEPTH), 10n ** 20n])).toContain(`,1${'0'.repeat(20)}]`);
  });
});

describe('isDeeperThan', () => {
  it('counts levels of objects and lists', () => {
    expect(isDeeperThan(1, 0)).toBe(false);
    expect(isDeeperThan([], 0)).toBe(true);
    expect(isDeeperThan({ a: [1] }, 2)).toBe(false);
    expect(isDeeperThan([1, { a: [1] }], 2)).toBe(true);
  });
  it('answers for a value that nests far beyond the stack', () => {
    expect(isDeeperThan(nestedLists(100_000), MAX_JSON_DEPTH)).toBe(true);
  });
});

describe('jsonEqual', () => {
  it('is true for a copy and ignores the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonEqual(value as JsonValue, structuredClone(value) as JsonValue)).toBe(true);
      }),
    );
    expect(jsonEqual({ a: 1, b: [{}] }, { b: [{}], a: 1 })).toBe(true);
    expect(jsonEqual(10n ** 20n, 1e20)).toBe(true);
    const decimal = () => parseJson('0.12345678901234567890123');
    expect(jsonEqual([decimal()], [decimal()])).toBe(true);
  });
  it.each<[JsonValue, JsonValue]>([
    [1, '1'],
    [null, {}],
    [{}, []],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, null]],
    [{ a: null }, {}],
    [{ a: null }, { b: null }],
    [9007199254740993n, 9007199254740995n],
    [{ toString: 1 }, { a: 1 }],
    [parseJson('0.12345678901234567890123'), 0.12345678901234568],
    [parseJson('0.12345678901234567890123'), parseJson('0.12345678901234567890124')],
    [parseJson('0.12345678901234567890123'), {}],
    [9007199254740993n, 9007199254740992],
  ])('tells two different values apart, pair %#', (a, b) => {
    expect(jsonEqual(a, b)).toBe(false);
    expect(jsonEqual(b, a)).toBe(false);
  });
});
