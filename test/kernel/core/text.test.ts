import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { shorten } from '../../../packages/linear-text/src/index.js';
import { textOf } from '../../../src/kernel/core/data-texts.js';

describe('textOf', () => {
  it.each<[JsonValue, string]>([
    ['text "as" is', 'text "as" is'],
    [5.0, '5'],
    [true, 'true'],
    [null, 'null'],
    [12345678901234567890n, '12345678901234567890'],
    [{ a: [1, 'x', null] }, '{"a":[1,"x",null]}'],
    [{ n: [12345678901234567890n] }, '{"n":[12345678901234567890]}'],
  ])('%o becomes %s', (value, text) => {
    expect(textOf(value)).toBe(text);
  });

  it('prints a value as deep as the service accepts', () => {
    let value: JsonValue = 1n;
    for (let depth = 0; depth < 250; depth += 1) value = [value];
    expect(textOf(value)).toBe(`${'['.repeat(250)}1${']'.repeat(250)}`);
  });
});

describe('shorten', () => {
  it('keeps a text that fits', () => {
    expect(shorten('a'.repeat(200), 200)).toBe('a'.repeat(200));
    expect(shorten('😀'.repeat(200), 200)).toBe('😀'.repeat(200));
  });

  it('cuts a longer one to 197 characters and three dots', () => {
    expect(shorten('a'.repeat(201), 200)).toBe(`${'a'.repeat(197)}...`);
  });

  it('never cuts a character in two', () => {
    expect(shorten('😀'.repeat(201), 200)).toBe(`${'😀'.repeat(197)}...`);
  });
});
