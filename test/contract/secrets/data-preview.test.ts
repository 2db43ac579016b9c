import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { previewOf, safeText } from '../../../src/contract/secrets/data-preview.js';

const TOKEN = `eyJ${'a1B'.repeat(30)}`;

describe('a preview', () => {
  it.each<[JsonValue, object]>([
    [null, { type: 'null', size: null, text: 'null', shortened: false }],
    [true, { type: 'boolean', size: null, text: 'true', shortened: false }],
    [1.5, { type: 'number', size: null, text: '1.5', shortened: false }],
    [12345678901234567890n, { type: 'number', text: '12345678901234567890' }],
    [4111111111111111, { type: 'number', text: '"***"' }],
    ['hello', { type: 'string', size: 5, text: 'hello', shortened: false }],
    [[1, 'a', null], { type: 'array', size: 3, text: '[1,"a",null]' }],
    [{ a: { b: [true] } }, { type: 'object', size: 1, text: '{"a":{"b":[true]}}' }],
    [
      { password: { a: 1 }, b: 2 },
      { size: 2, text: '{"password":"***","b":2}' },
    ],
    [{ password: null }, { text: '{"password":null}' }],
    [{ [TOKEN]: 1 }, { text: '{"***":1}' }],
    ['Bearer abcdefghijk', { size: 18, text: 'Bearer ***' }],
  ])('of %o', (value, expected) => {
    expect(previewOf(value, 'input')).toMatchObject(expected);
  });

  it('masks all of what a path with the name of a secret selects', () => {
    const masked = { size: null, text: '***', shortened: false };
    expect(previewOf('x', 'input.password')).toEqual({ type: 'string', ...masked });
    expect(previewOf({ a: 'x' }, 'context.credentials.old')).toEqual({ type: 'object', ...masked });
    expect(previewOf(null, 'input.password')).toMatchObject({ type: 'null', text: 'null' });
  });
  it('is cut after 200 characters', () => {
    const words = 'word '.repeat(1_000);
    expect(previewOf(words, 'input')).toMatchObject({ size: 5_000, shortened: true });
    expect([...previewOf(words, 'input').text]).toHaveLength(200);
    expect([...previewOf([words, words], 'input').text]).toHaveLength(200);
    expect(previewOf('word '.repeat(40), 'input').shortened).toBe(false);
  });
  it('shows no part of a secret that stands where the text is cut', () => {
    for (let before = 900; before <= 1_100; before += 1) {
      // What is masked makes the text so short that its end would be shown.
      const text = `${'x'.repeat(10)} password=${'y'.repeat(before - 20)} 4111111111111111 ${'z '.repeat(200)}`;
      expect(previewOf(text, 'input').text).not.toContain('4111');
      expect(safeText(text, 500)).not.toContain('4111');
    }
  });
  it('is never longer than 200 characters, whatever the data', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const { text } = previewOf(value as JsonValue, 'input');
        expect([...text].length).toBeLessThanOrEqual(200);
        if (text.startsWith('"') && typeof value !== 'string') expect(text).toBe('"***"');
      }),
    );
  });
});
