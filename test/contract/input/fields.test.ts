import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import {
  anyJson,
  boolean,
  freeObject,
  list,
  nullable,
  oneOf,
  text,
  withDefault,
} from '../../../src/contract/input/fields.js';
import { MAX_ERROR_ITEMS } from '../../../src/contract/input/items.js';
import { integer, number } from '../../../src/contract/input/numbers.js';
import { inputItems } from '../../../src/contract/input/parse-input.js';

/** What a member reads as, or the codes of its problems. */
function read<T>(schema: z.ZodType<T>, value: JsonValue | undefined): unknown {
  const members = value === undefined ? {} : { member: value };
  const found = inputItems(z.object({ member: schema }), members);
  return found.items.length === 0
    ? found.value?.member
    : found.items.map(({ field, code }) => `${field} ${code}`);
}
const refused = (code: string) => [`member ${code}`];

describe('an integer', () => {
  it.each<[JsonValue | undefined, unknown]>([
    [5, 5],
    ['5', 5],
    ['5.0', 5],
    [' 5 ', 5],
    ['+1', 1],
    ['01', 1],
    ['1_0', 10],
    ['-3', -3],
    [true, 1],
    [5.5, refused('int_from_float')],
    ['5.5', refused('int_parsing')],
    ['', refused('int_parsing')],
    ['1__0', refused('int_parsing')],
    ['0x10', refused('int_parsing')],
    ['1e3', refused('int_parsing')],
    [null, refused('int_type')],
    [[], refused('int_type')],
    [undefined, refused('missing')],
  ])('reads %j as %j', (value, expected) => {
    expect(read(integer(), value)).toEqual(expected);
  });
  it('compares integers beyond 2^53 with its limits', () => {
    expect(read(integer({ max: 100 }), 10n ** 30n)).toEqual(refused('less_than_equal'));
    expect(read(integer({ min: 1 }), 0)).toEqual(refused('greater_than_equal'));
  });
  it('is quick to refuse a text of a million digits', () => {
    expect(read(integer(), '1'.repeat(1_000_000))).toEqual(refused('int_parsing'));
    expect(read(integer(), `${'1_'.repeat(500_000)}x`)).toEqual(refused('int_parsing'));
  });
});

describe('a boolean', () => {
  it.each<[JsonValue | undefined, unknown]>([
    ...[true, 1, '1', 'yes', 'ON', 'True', 't', 'Y'].map((value): [JsonValue, unknown] => [value, true]),
    ...[false, 0, '0', 'no', 'off', 'FALSE', 'f', 'n'].map((value): [JsonValue, unknown] => [value, false]),
    [' yes', refused('bool_parsing')],
    ['', refused('bool_parsing')],
    [2, refused('bool_parsing')],
    [null, refused('bool_type')],
    [[], refused('bool_type')],
    [undefined, refused('missing')],
  ])('reads %j as %j', (value, expected) => {
    expect(read(boolean(), value)).toEqual(expected);
  });
});

describe('a number', () => {
  it.each<[JsonValue, unknown]>([
    [1.5, 1.5],
    ['1.5', 1.5],
    [true, 1],
    ['x', refused('float_parsing')],
    ['', refused('float_parsing')],
    [null, refused('float_type')],
  ])('reads %j as %j', (value, expected) => {
    expect(read(number(), value)).toEqual(expected);
  });
});

describe('a text', () => {
  it.each<[JsonValue, unknown]>([
    ['ab', 'ab'],
    [' ab ', ' ab '],
    [12, refused('string_type')],
    [null, refused('string_type')],
    ['a', refused('string_too_short')],
    ['abcdef', refused('string_too_long')],
  ])('reads %j as %j', (value, expected) => {
    expect(read(text({ min: 2, max: 5 }), value)).toEqual(expected);
  });
});

describe('optional members', () => {
  it('reads null and absence as nothing where null is allowed', () => {
    expect(read(nullable(text()), null)).toBeUndefined();
    expect(read(nullable(text()), undefined)).toBeUndefined();
    expect(read(nullable(text()), 5)).toEqual(refused('string_type'));
  });
  it('fills in a default for absence only', () => {
    expect(read(withDefault(text(), 'x'), undefined)).toBe('x');
    expect(read(withDefault(text(), 'x'), null)).toEqual(refused('string_type'));
  });
  it('takes words exactly as written', () => {
    expect(read(oneOf(['pre', 'post']), 'pre')).toBe('pre');
    expect(read(oneOf(['pre', 'post']), 'Pre')).toEqual(refused('literal_error'));
    expect(read(oneOf(['pre', 'post'], 'enum'), null)).toEqual(refused('enum'));
  });
});

describe('free-form JSON', () => {
  let deep: JsonValue = {};
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  it('is taken as it is', () => {
    const value = { a: [null, 10n ** 20n] };
    expect(read(freeObject(), value)).toBe(value);
    expect(read(anyJson(), null)).toBeNull();
    expect(read(anyJson(), undefined)).toEqual(refused('missing'));
  });
  it('is refused when it nests too deep', () => {
    expect(read(freeObject(), { a: deep })).toEqual(refused('recursion_loop'));
    expect(read(anyJson(), deep)).toEqual(refused('recursion_loop'));
  });
  it.each([null, [], 'x', 5])('must be an object where one is required, not %j', (value) => {
    expect(read(freeObject(), value)).toEqual(refused('dict_type'));
  });
});

describe('a list', () => {
  it('names the place of each problem', () => {
    const schema = list(z.object({ name: text({ min: 1 }) }));
    expect(read(schema, [{ name: 'a' }, { name: '' }, {}, 5, null])).toEqual([
      'member[1].name string_too_short',
      'member[2].name missing',
      'member[3] model_attributes_type',
      'member[4] model_attributes_type',
    ]);
    expect(read(schema, [{ name: 'a', surplus: 1 }])).toEqual([{ name: 'a' }]);
    expect(read(schema, 'x')).toEqual(refused('list_type'));
    expect(read(schema, undefined)).toEqual(refused('missing'));
  });
  it('stops reading after enough problems', () => {
    let reads = 0;
    const counted = text().transform((value) => value);
    const item = z.unknown().transform((value, sink) => {
      reads += 1;
      return counted.safeParse(value).data ?? sink.addIssue({ code: 'custom', message: 'no' });
    });
    expect(read(list(item), Array<JsonValue>(1_000_000).fill(1))).toHaveLength(MAX_ERROR_ITEMS);
    expect(reads).toBe(MAX_ERROR_ITEMS);
  });
});
