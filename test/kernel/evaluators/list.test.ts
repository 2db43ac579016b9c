import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { errorItems } from '../../../src/contract/input/items.js';
import type { EvaluatorResult } from '../../../src/kernel/core/types.js';
import { listEvaluator, MAX_CONTAINS_LENGTH } from '../../../src/kernel/evaluators/list/list.js';
import { FULL_CALL } from '../../support/check-call.js';

const evaluate = (config: JsonObject, data: JsonValue) =>
  listEvaluator.compile(config).evaluate(data, FULL_CALL) as EvaluatorResult;

function problems(config: JsonValue) {
  const parsed = listEvaluator.configSchema.safeParse(config, { reportInput: true });
  return parsed.success ? [] : errorItems(parsed.error).map(({ field, code }) => [field, code]);
}

describe('list', () => {
  it.each<JsonValue>([null, []])('never matches without items: %o', (data) => {
    for (const match_on of ['match', 'no_match']) {
      for (const logic of ['any', 'all']) {
        expect(evaluate({ values: ['a'], match_on, logic }, data)).toMatchObject({
          matched: false,
          confidence: 1,
          metadata: { input_count: 0 },
        });
      }
    }
  });

  it.each<[JsonValue, number]>([
    ['a', 1],
    [['a', 'b'], 2],
    [null, 0],
    [{ a: 1 }, 1],
  ])('never matches with an empty list of values: %o', (data, count) => {
    expect(evaluate({ values: [], match_on: 'no_match' }, data)).toMatchObject({
      matched: false,
      confidence: 1,
      metadata: { input_count: count },
    });
  });

  it.each([
    ['any', 'match', ['a', 'x'], true],
    ['any', 'match', ['x', 'y'], false],
    ['all', 'match', ['a', 'b'], true],
    ['all', 'match', ['a', 'x'], false],
    ['any', 'no_match', ['x', 'y'], true],
    ['any', 'no_match', ['a', 'x'], false],
    ['all', 'no_match', ['a', 'x'], true],
    ['all', 'no_match', ['a', 'b'], false],
  ])('logic %s with match_on %s over %o: %s', (logic, match_on, data, matched) => {
    const result = evaluate({ values: ['a', 'b', 'c'], logic, match_on }, data);
    expect(result.matched).toBe(matched);
    expect(result.metadata).toEqual({
      logic,
      match_on,
      matches: data.filter((item) => ['a', 'b', 'c'].includes(item)),
      input_count: 2,
    });
  });

  it('keeps every matching item, repeated ones too, in the order of the data', () => {
    const result = evaluate({ values: ['a', 'b'] }, ['b', 'x', 'A', 'b']);
    expect(result.metadata).toMatchObject({ matches: ['b', 'A', 'b'], input_count: 4 });
  });

  it('names five hits in the message and counts the rest', () => {
    const data = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7'];
    const { message } = evaluate({ values: data }, data);
    expect(message).toContain('"h5" and 2 more');
    expect(message).not.toContain('h6');
    expect(message).toMatch(/triggered.*any.*match/);
  });

  it('quotes only the beginning of a long hit', () => {
    const hit = 'a'.repeat(10_000);
    const result = evaluate({ values: ['a'], match_mode: 'starts_with' }, hit);
    expect(result.message?.length).toBeLessThan(250);
    expect(result.metadata).toMatchObject({ matches: [hit] });
  });

  it.each<[string, string, boolean]>([
    ['exact', 'cat', true],
    ['exact', 'CAT', true],
    ['exact', ' cat', false],
    ['exact', 'cats', false],
    ['contains', 'a cat sat', true],
    ['contains', 'catalog', false],
    ['contains', 'cat_', false],
    ['contains', 'cat-like', true],
    ['contains', '(cat)', true],
    ['contains', 'écat', true],
    ['starts_with', 'catalog', true],
    ['starts_with', 'a cat', false],
    ['ends_with', 'bobcat', true],
    ['ends_with', 'cats', false],
  ])('%s: cat and %s: %s', (match_mode, text, matched) => {
    expect(evaluate({ values: ['cat'], match_mode }, text).matched).toBe(matched);
  });

  it.each([
    ['c++', 'use c++ now', false],
    ['c++', 'c++x', true],
    ['.env', 'a.env file', true],
    ['.env', 'the .env file', false],
    ['é', 'é', false],
    ['é', 'aéb', true],
  ])('needs a word character beside a value that ends in none: %s in %s: %s', (value, text, matched) => {
    expect(evaluate({ values: [value], match_mode: 'contains' }, text).matched).toBe(matched);
  });

  it('distinguishes cases only when configured so', () => {
    expect(evaluate({ values: ['Key'] }, '\u212aEY').matched).toBe(true);
    expect(evaluate({ values: ['Key'], case_sensitive: true }, 'KEY').matched).toBe(false);
    expect(evaluate({ values: ['Key'], case_sensitive: true }, 'Key').matched).toBe(true);
  });

  it.each<[JsonValue, JsonValue]>([
    [5, 5],
    [5, '5'],
    ['5', 5],
    [1.5, 1.5],
    [true, 1],
    [false, '0'],
    ['true', true],
    [12345678901234567890n, 12345678901234567890n],
    ['null', [null]],
    ['{"a":1}', { a: 1 }],
    ['[1,2]', [[1, 2]]],
  ])('compares texts: value %o, data %o', (value, data) => {
    expect(evaluate({ values: [value] }, data).matched).toBe(true);
  });

  it('takes an empty text for one item that equals no value', () => {
    expect(evaluate({ values: ['a'] }, '')).toMatchObject({ matched: false, metadata: { input_count: 1 } });
    expect(evaluate({ values: ['a'], match_on: 'no_match' }, '').matched).toBe(true);
  });

  it('does not trim', () => {
    expect(evaluate({ values: [' a'] }, 'a').matched).toBe(false);
    expect(evaluate({ values: [' a'] }, ' a').matched).toBe(true);
  });

  it.each<[JsonValue, [string, string][]]>([
    [{}, [['values', 'missing']]],
    [{ values: 'a' }, [['values', 'list_type']]],
    [{ values: null }, [['values', 'list_type']]],
    [{ values: [''] }, [['values[0]', 'value_error']]],
    [{ values: ['a', ' \t'] }, [['values[1]', 'value_error']]],
    [{ values: ['a\ud800'] }, [['values[0]', 'value_error']]],
    ...[null, ['a'], { a: 1 }].map((wrong): [JsonValue, [string, string][]] => [
      { values: [wrong] },
      [
        ['values[0].str', 'string_type'],
        ['values[0].int', 'int_type'],
        ['values[0].float', 'float_type'],
      ],
    ]),
    [{ values: ['a'], logic: 'some' }, [['logic', 'literal_error']]],
    [{ values: ['a'], match_on: null }, [['match_on', 'literal_error']]],
    [{ values: ['a'], match_mode: 'regex' }, [['match_mode', 'literal_error']]],
    [{ values: ['a'], case_sensitive: 'maybe' }, [['case_sensitive', 'bool_parsing']]],
    [{ values: ['a'], case_sensitive: null }, [['case_sensitive', 'bool_type']]],
    [{ values: ['a'], case_sensitive: 'yes' }, []],
    [{ values: [], more: 1 }, []],
    [{ values: [1, 1.5, true, 'a', 12345678901234567890n] }, []],
  ])('checks the configuration %o', (config, expected) => {
    expect(problems(config)).toEqual(expected);
  });

  it('bounds the text of values that are looked for inside texts', () => {
    const values = ['a'.repeat(MAX_CONTAINS_LENGTH), 'b'];
    expect(problems({ values, match_mode: 'contains' })).toEqual([['values', 'value_error']]);
    expect(problems({ values, match_mode: 'exact' })).toEqual([]);
  });

  it('describes its configuration', () => {
    expect(listEvaluator.configJsonSchema).toMatchObject({
      type: 'object',
      properties: {
        values: { type: 'array' },
        logic: { type: 'string', enum: ['any', 'all'] },
        match_on: { type: 'string' },
        match_mode: { type: 'string' },
        case_sensitive: { type: 'boolean' },
      },
      required: ['values'],
    });
  });

  it('builds no metadata when only the verdict is requested, and the same message', () => {
    const compiled = listEvaluator.compile({ values: ['a'] });
    for (const data of ['a', ['a', 'b'], ['b', 'c']]) {
      const full = compiled.evaluate(data, FULL_CALL) as EvaluatorResult;
      const brief = compiled.evaluate(data, { ...FULL_CALL, detail: 'verdict' }) as EvaluatorResult;
      expect(full.metadata).not.toBeNull();
      expect(brief).toEqual({ ...full, metadata: null });
    }
  });

  it('takes more memory for more values, and most for those of an automaton', () => {
    const size = (count: number, match_mode: string) =>
      listEvaluator.compile({ values: Array.from({ length: count }, (_, index) => `v${index}`), match_mode })
        .sizeBytes ?? 0;
    expect(size(1_000, 'exact')).toBeGreaterThan(size(10, 'exact'));
    expect(size(1_000, 'contains')).toBeGreaterThan(size(1_000, 'exact'));
  });
});
