import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { errorItems } from '../../../src/contract/input/items.js';
import { regexEvaluator } from '../../../src/kernel/evaluators/regex/regex.js';
import { FULL_CALL } from '../../support/check-call.js';

const evaluate = (config: JsonObject, data: JsonValue) =>
  regexEvaluator.compile(config).evaluate(data, FULL_CALL);
const found = (config: JsonObject, data: JsonValue) => evaluate(config, data) as { matched: boolean };

function problems(config: JsonValue) {
  const parsed = regexEvaluator.configSchema.safeParse(config, { reportInput: true });
  return parsed.success ? [] : errorItems(parsed.error).map(({ field, code }) => [field, code]);
}

describe('regex', () => {
  it('reports what it found and quotes the pattern', () => {
    expect(evaluate({ pattern: '\\d{4}' }, 'card 1234')).toEqual({
      matched: true,
      confidence: 1,
      message: 'Pattern found: \\d{4}',
      metadata: { pattern: '\\d{4}' },
      error: null,
    });
    expect(evaluate({ pattern: '\\d{4}' }, 'card 123')).toMatchObject({
      matched: false,
      confidence: 1,
      message: 'Pattern not found: \\d{4}',
      metadata: { pattern: '\\d{4}' },
    });
  });

  it('does not search when there are no data', () => {
    expect(evaluate({ pattern: '' }, null)).toMatchObject({ matched: false, confidence: 1, metadata: null });
  });

  it('searches an empty text', () => {
    expect(found({ pattern: '^$' }, '').matched).toBe(true);
  });

  it.each<[JsonValue, string]>([
    [5, '^5$'],
    [5.5, '^5\\.5$'],
    [-0.25, '^-0\\.25$'],
    [true, '^true$'],
    [false, '^false$'],
    [123456789012345678901234567890n, '^123456789012345678901234567890$'],
    [{ a: 1, b: [true, null] }, '^\\{"a":1,"b":\\[true,null\\]\\}$'],
    [['x', 12345678901234567890n], '^\\["x",12345678901234567890\\]$'],
    [[], '^\\[\\]$'],
  ])('searches the JSON text of %o', (data, pattern) => {
    expect(found({ pattern }, data).matched).toBe(true);
  });

  it.each([
    ['IGNORECASE', true],
    ['I', true],
    ['i', true],
    ['ignorecase', true],
    ['MULTILINE', false],
    ['IGNORE', false],
    ['', false],
  ])('takes the flag %s for case-insensitive: %s', (flag, insensitive) => {
    expect(found({ pattern: 'abc', flags: [flag] }, 'ABC').matched).toBe(insensitive);
  });

  it('survives lone surrogates and NUL in the text', () => {
    expect(found({ pattern: 'b$' }, 'a\ud800\0\udfffb').matched).toBe(true);
  });

  it('throws when the search would cost too much, which the core turns into an error', () => {
    const compiled = regexEvaluator.compile({ pattern: '(?:[ab]*a[ab]{18}){50}c' });
    // The bits of 2^k mod 4099 never settle into a pattern that few states describe.
    let bits = 1;
    const text = Array.from({ length: 20_000 }, () => {
      bits = (bits * 2) % 4_099;
      return bits % 2 === 0 ? 'a' : 'b';
    }).join('');
    expect(() => compiled.evaluate(`c${text}`, FULL_CALL)).toThrow(/too much/);
  });

  it('reports what a text must contain, and returns the very same miss', () => {
    const compiled = regexEvaluator.compile({ pattern: 'Secret\\d', flags: ['I'] });
    expect(compiled.prefilter?.literals).toEqual(['secret']);
    expect(compiled.evaluate('nothing', FULL_CALL)).toBe(compiled.prefilter?.miss);
    expect(compiled.evaluate('secret x', FULL_CALL)).toBe(compiled.prefilter?.miss);
    expect(regexEvaluator.compile({ pattern: '\\d+' }).prefilter?.literals).toBeNull();
  });

  it('takes more memory for a larger pattern', () => {
    const size = (pattern: string) => regexEvaluator.compile({ pattern }).sizeBytes ?? 0;
    expect(size('a{1000}')).toBeGreaterThan(size('a') + 100_000);
  });

  it('shortens a long pattern in the message only', () => {
    const pattern = 'a'.repeat(500);
    const result = evaluate({ pattern }, 'b') as { message: string; metadata: JsonObject };
    expect(result.message.length).toBeLessThan(250);
    expect(result.metadata).toEqual({ pattern });
  });

  it.each<[JsonValue, [string, string][]]>([
    [{}, [['pattern', 'missing']]],
    [{ pattern: null }, [['pattern', 'string_type']]],
    [{ pattern: 5 }, [['pattern', 'string_type']]],
    [{ pattern: '(' }, [['pattern', 'value_error']]],
    [{ pattern: 'a{1001}' }, [['pattern', 'value_error']]],
    [{ pattern: '(?=a)' }, [['pattern', 'value_error']]],
    [{ pattern: 'a', flags: 'I' }, [['flags', 'list_type']]],
    [{ pattern: 'a', flags: [1] }, [['flags[0]', 'string_type']]],
    [{ pattern: '' }, []],
    [{ pattern: 'a', flags: null }, []],
    [{ pattern: 'a', flags: ['whatever'], unknown: 1 }, []],
  ])('checks the configuration %o', (config, expected) => {
    expect(problems(config)).toEqual(expected);
  });

  it('throws for a configuration that its schema refuses', () => {
    expect(() => regexEvaluator.compile({ pattern: '(' })).toThrow();
  });

  it('describes its configuration', () => {
    expect(regexEvaluator.configJsonSchema).toMatchObject({
      type: 'object',
      properties: { pattern: { type: 'string' } },
      required: ['pattern'],
    });
  });
});
