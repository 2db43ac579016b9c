import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { compileSelector, isSelectorPath } from '../../../src/kernel/core/selector.js';
import { aStep } from './support.js';

const select = (path: string, input: JsonValue) => compileSelector(path)(aStep({ input }));
/** As a tolerant JSON parser leaves it: `__proto__` is a key like any other. */
const parsed = (text: string) => JSON.parse(text) as JsonObject;

describe('compileSelector', () => {
  it('selects the whole step with all five members', () => {
    const step = { ...aStep(), origin: 'elsewhere' };
    expect(compileSelector('*')(step)).toEqual({
      type: 'tool',
      name: 'search',
      input: { q: 'hello' },
      output: null,
      context: null,
    });
  });

  it.each([
    ['type', 'tool'],
    ['name', 'search'],
    ['input', { a: { b: 1 } }],
    ['input.a', { b: 1 }],
    ['input.a.b', 1],
    ['input.a.c', null],
    ['input.a.b.c', null],
    ['input.x.y.z', null],
    ['output', null],
    ['context', null],
    ['context.a', null],
    ['name.length', null],
    ['*.input', null],
    ['*.', null],
  ])('%s selects %o', (path, expected) => {
    expect(select(path, { a: { b: 1 } })).toEqual(expected);
  });

  it('keeps false, zero and empty text apart from absence', () => {
    expect([
      select('input.a', { a: false }),
      select('input.a', { a: 0 }),
      select('input.a', { a: '' }),
    ]).toEqual([false, 0, '']);
  });

  it('has no way into lists and texts', () => {
    expect(select('input.0', ['a'])).toBeNull();
    expect(select('input.length', ['a'])).toBeNull();
    expect(select('input.a.upper', { a: 'text' })).toBeNull();
    expect(select('input.length', 'text')).toBeNull();
  });

  it('takes an empty segment for the empty key', () => {
    expect(select('input.', { '': 1 })).toBe(1);
    expect(select('input..a', { '': { a: 2 } })).toBe(2);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'selects %s only when the data own it',
    (key) => {
      expect(select(`input.${key}`, {})).toBeNull();
      expect(select(`input.${key}.constructor`, {})).toBeNull();
      expect(select(`input.${key}`, parsed(`{"${key}":"mine"}`))).toBe('mine');
      expect(select(`input.${key}.a`, parsed(`{"${key}":{"a":1}}`))).toBe(1);
    },
  );

  it('finds what a path of own keys leads to, and nothing else', () => {
    const key = fc.constantFrom('a', 'b', '', '__proto__', 'constructor', 'x y');
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 6 }), fc.jsonValue(), (keys, leaf) => {
        const input = keys.reduceRight<unknown>(
          (value, name) => Object.defineProperty({}, name, { value, enumerable: true }),
          leaf,
        ) as JsonValue;
        expect(select(`input.${keys.join('.')}`, input)).toEqual(leaf);
        expect(select(`input.${[...keys.slice(0, -1), 'other'].join('.')}`, input)).toBeNull();
      }),
    );
  });

  it('throws for what is not a selector path', () => {
    expect(() => compileSelector('inputs')).toThrow();
  });
});

describe('isSelectorPath', () => {
  it.each(['*', 'input', 'output', 'name', 'type', 'context', 'input.a', 'input.', '*.x', 'context.a b.ü'])(
    'accepts %o',
    (path) => {
      expect(isSelectorPath(path)).toBe(true);
    },
  );

  it.each([
    '',
    '.',
    'input ',
    ' input',
    'Input',
    'inputs',
    'step.input',
    '__proto__',
    'constructor',
    'toString',
  ])('refuses %o', (path) => {
    expect(isSelectorPath(path)).toBe(false);
  });
});
