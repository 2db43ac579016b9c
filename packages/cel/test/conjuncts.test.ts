import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../exact-json/src/index.js';
import { compileExpression, conjunctsOf, equalityText } from '../src/index.js';
import { ANY } from './expression.support.js';

const VARIABLES = new Map([
  ['x', ANY],
  ['y', ANY],
]);

describe('the terms of an expression', () => {
  it.each<[string, (readonly [string, string[]])[]]>([
    ['x.a == 1', [['x.a == 1', ['x.a']]]],
    [
      'x.a && y',
      [
        ['x.a', ['x.a']],
        ['y', ['y']],
      ],
    ],
    [
      '(x && (y.b)) && !(x.a || y)',
      [
        ['x', ['x']],
        ['y.b', ['y.b']],
        ['!(x.a || y)', ['x.a', 'y']],
      ],
    ],
    [
      'x.a[0].b > 1 && x["k"].c',
      [
        ['x.a[0].b > 1', ['x.a']],
        ['x["k"].c', ['x.k.c']],
      ],
    ],
    [
      'x.a.all(y, y > 1) && has(x.b.c)',
      [
        ['x.a.all(y, y > 1)', ['x.a']],
        ['has(x.b.c)', ['x.b.c']],
      ],
    ],
    ['x ||', []],
  ])('%s', (text, terms) => {
    const found = conjunctsOf(text, VARIABLES);
    expect(found.map((one) => [one.text, one.reads.map((path) => path.join('.'))])).toEqual(terms);
  });

  it('have sides where they are equalities, and tell whether they read the time', () => {
    const [equal, timed] = conjunctsOf('(x.a + 1) == y.b && now > timestamp(x)', VARIABLES);
    expect(equal?.sides?.map(({ text }) => text)).toEqual(['x.a + 1', 'y.b']);
    expect([equal?.readsNow, timed?.readsNow, timed?.sides]).toEqual([false, true, null]);
  });
});

describe('the text of a value', () => {
  const given = (text: string): unknown => {
    const compiled = compileExpression(text, { variables: VARIABLES, strictTypes: false });
    const result = compiled.evaluate({ variable: () => null }, () => 0);
    return result.ok ? result.value : undefined;
  };
  const LITERALS = [
    ...[
      '1',
      '1.0',
      '1u',
      '-0.0',
      '0',
      '"1"',
      'true',
      'null',
      '0.1',
      '9007199254740993',
      '9007199254740992.0',
    ],
    ...[
      '[1, 2]',
      '[1.0, 2u]',
      '[2, 1]',
      '{"a": 1, "b": 2}',
      '{"b": 2.0, "a": 1}',
      '{1: 2}',
      '{"1": 2}',
      '[]',
      '{}',
    ],
    ...['b"ab"', 'b"abc"', 'timestamp("2030-01-01T00:00:00Z")', 'timestamp("2030-01-01T01:00:00+01:00")'],
    ...[
      'duration("1m")',
      'duration("60s")',
      'int',
      'type(1)',
      'double("NaN")',
      '[double("NaN")]',
      '"bytes(97,98)"',
    ],
  ];

  it('is the same where == is true, and differs where it is false', () => {
    for (const left of LITERALS) {
      for (const right of LITERALS) {
        const [one, other] = [equalityText(given(left)), equalityText(given(right))];
        const isSame = one !== null && one === other;
        expect([left, right, isSame]).toEqual([left, right, given(`(${left}) == (${right})`)]);
      }
    }
  });

  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse());
        expect(equalityText(reversed as JsonValue)).toBe(equalityText(object as JsonValue));
      }),
    );
  });
});
