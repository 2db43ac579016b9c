import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type JsonValue, jsonEqual, parseJson, stringifyJson } from '../src/index.js';

const parsed = (text: string): JsonValue => parseJson(Buffer.from(text));

/** Some of the examples of RFC 8785: a text, and its canonical form. */
const RFC_8785: [string, string][] = [
  [
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"literals":[null,true,false]}',
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}',
  ],
  [
    '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
  ],
  ['"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/"', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
  [
    '[-0, 0.0, 1e21, 100000000000000000000, 5e-324, 1.7976931348623157e308]',
    '[0,0,1e+21,100000000000000000000,5e-324,1.7976931348623157e+308]',
  ],
];

/** Values beyond RFC 8785. */
const BEYOND: [string, string][] = [
  ['9007199254740993', '9007199254740993'],
  ['0.10000000000000000000001', '0.10000000000000000000001'],
  ['1000000000000000000000', '1e+21'],
  ['"\\ud800"', '"\\ud800"'],
  ['{"__proto__":1,"a":2}', '{"__proto__":1,"a":2}'],
];

describe('canonical JSON', () => {
  it.each(RFC_8785)('is that of RFC 8785 for %s', (text, canonical) => {
    // RFC 8785 reads numbers as doubles; the parser of the service would keep further digits.
    expect(canonicalJson(JSON.parse(text))).toBe(canonical);
  });

  it.each(BEYOND)('of %s is %s', (text, canonical) => {
    expect(canonicalJson(parsed(text))).toBe(canonical);
  });

  it('is the same for equal values, and parses to an equal value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (made) => {
        const value = made as JsonValue;
        const text = canonicalJson(value);
        expect(canonicalJson(parsed(text))).toBe(text);
        expect(canonicalJson(parsed(stringifyJson(value)))).toBe(text);
        expect(jsonEqual(parsed(text), parsed(stringifyJson(value)))).toBe(true);
      }),
    );
  });

  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (made) => {
        const reversed = Object.fromEntries(Object.entries(made).reverse());
        expect(canonicalJson(reversed as JsonValue)).toBe(canonicalJson(made as JsonValue));
      }),
    );
  });
});
