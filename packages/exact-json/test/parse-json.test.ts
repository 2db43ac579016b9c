import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_JSON_DEPTH } from '../src/json-depth.js';
import {
  JsonDuplicateError,
  JsonNumberError,
  JsonSyntaxError,
  JsonTooDeepError,
  JsonTooLargeError,
  JsonUndecodableError,
} from '../src/json-errors.js';
import { jsonEqual } from '../src/json-number.js';
import { MAX_JSON_VALUES } from '../src/json-size.js';
import type { JsonValue } from '../src/json-value.js';
import { parseLosslessly } from '../src/lossless-parser.js';
import { parseJson, parseStoredJson } from '../src/parse-json.js';
import { stringifyJson } from '../src/stringify-json.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function utf16(text: string, littleEndian: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let at = 0; at < text.length; at += 1) view.setUint16(at * 2, text.charCodeAt(at), littleEndian);
  return new Uint8Array(view.buffer);
}

function utf32(text: string, littleEndian: boolean): Uint8Array {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const view = new DataView(new ArrayBuffer(points.length * 4));
  for (const [at, point] of points.entries()) view.setUint32(at * 4, point, littleEndian);
  return new Uint8Array(view.buffer);
}

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** `read`, or the name of the error. */
function answerOf(work: () => unknown): string {
  try {
    work();
    return 'read';
  } catch (error) {
    return (error as Error).name;
  }
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('members that occur twice in an object', () => {
  const text = '{"a": [{"b": 1.0000000000000000001, "b": 2}]}';
  it('are refused with their path, if that is asked for', () => {
    try {
      parseJson(text, { duplicates: 'refuse' });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(JsonDuplicateError);
      expect((error as JsonDuplicateError).path).toEqual(['a', 0, 'b']);
    }
  });
  it('count as the last of them otherwise', () => {
    expect(parseJson(text)).toEqual({ a: [{ b: 2 }] });
    expect(parseJson(text, { duplicates: 'last' })).toEqual({ a: [{ b: 2 }] });
  });
});

describe('encodings', () => {
  const text = '{"a":"é😀","b":[1]}';
  const value = { a: 'é😀', b: [1] };
  const encodings: [string, (text: string) => Uint8Array][] = [
    ['UTF-8', utf8],
    ['UTF-16LE', (t) => utf16(t, true)],
    ['UTF-16BE', (t) => utf16(t, false)],
    ['UTF-32LE', (t) => utf32(t, true)],
    ['UTF-32BE', (t) => utf32(t, false)],
  ];
  it.each(encodings)('reads %s without a byte order mark', (_name, encode) => {
    expect(parseJson(encode(text))).toEqual(value);
  });
  it.each(encodings)('reads %s with a byte order mark', (_name, encode) => {
    expect(parseJson(encode(`\uFEFF${text}`))).toEqual(value);
  });
  it.each(encodings)('reads a single digit in %s', (_name, encode) => {
    expect(parseJson(encode('7'))).toBe(7);
  });
  it('takes a byte order mark in a string as a mistake', () => {
    expect(() => parseJson('\uFEFF{}')).toThrow(JsonSyntaxError);
  });
  it.each<[string, Uint8Array]>([
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ['a gzip header', Uint8Array.of(0x1f, 0x8b, 0x08, 0x00, 0x01)],
    ['half a UTF-16 pair', utf16('"\ud800"', true)],
    ['UTF-32 cut inside a character', utf32('"ab"', true).subarray(0, 14)],
    ['UTF-32 beyond Unicode', utf32('"a"', false).fill(0x7f, 5, 8)],
  ])('calls %s undecodable', (_name, bytes) => {
    expect(() => parseJson(bytes)).toThrow(JsonUndecodableError);
  });
});

describe('numbers', () => {
  it.each<[string, JsonValue]>([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['123456789012345678901234567890', 123456789012345678901234567890n],
    ['1e20', 1e20],
    ['9007199254740993.0', 9007199254740993n],
    ['-12345678901234567890.00', -12345678901234567890n],
    ['1234567890123456789e2', 123456789012345678900n],
    ['5.0', 5],
    ['-0.0', -0],
    ['0.1234567890123456', 0.1234567890123456],
    ['4111111111111111.5', 4111111111111111.5],
    ['0e999', 0],
    ['NaN', null],
    ['Infinity', null],
    ['-Infinity', null],
    ['[1, NaN, {"a": -Infinity}]', [1, null, { a: null }]],
    ['0.1', 0.1],
    ['1E-7', 1e-7],
  ])('reads %s', (text, value) => {
    expect(parseJson(text)).toStrictEqual(value);
  });
  it.each(['01', '+1', '.5', '1.', '1e', '-', '0x10', 'nan', '--1', '1_0', '-NaN'])('refuses %s', (text) => {
    expect(() => parseJson(text)).toThrow(JsonSyntaxError);
  });
  it.each<[string, string]>([
    ['12345678901234567890.0', '12345678901234567890'],
    ['0.12345678901234567890123', '0.12345678901234567890123'],
    ['-0.12345678901234567890123', '-0.12345678901234567890123'],
    ['41111111111111111.5', '41111111111111111.5'],
    ['4111111111111111.25', '4111111111111111.25'],
    ['4111111111111111.5', '4111111111111111.5'],
    ['4111111111111111.50', '4111111111111111.5'],
    ['1e20', '100000000000000000000'],
    ['1E+20', '100000000000000000000'],
    ['4.111111111111111e15', '4111111111111111'],
    ['4.1111111111111111e16', '41111111111111111'],
    ['41111111111111111111e-4', '4111111111111111.1111'],
    ['411111111111111100000e0', '411111111111111100000'],
    ['1e21', '1e+21'],
    ['1234567890123456789e3', '1.234567890123456789e+21'],
    ['1.2345678901234567890123e300', '1.2345678901234567890123e+300'],
    ['0.00000012345678901234567890', '1.234567890123456789e-7'],
    ['123456789012345678901234.5', '123456789012345678901234.5'],
    ['1.7976931348623157e308', '1.7976931348623157e+308'],
    ['4.9e-324', '4.9e-324'],
    ['-1e-999', '-1e-999'],
    ['0.000e-9999999', '0'],
  ])('keeps the digits of %s', (text, printed) => {
    expect(stringifyJson(parseJson(text))).toBe(printed);
    expect(stringifyJson(parseJson(`{"a":[${text}]}`))).toBe(`{"a":[${printed}]}`);
    expect(stringifyJson(parseLosslessly(text, MAX_JSON_DEPTH))).toBe(printed);
  });
  it.each([
    '1e999',
    '-1e999',
    '1e400',
    '1.8e308',
    '-1e-1000002',
    `1e${'9'.repeat(400)}`,
    `${'9'.repeat(400)}.5`,
  ])('refuses %s, and tells where it stands', (text) => {
    expect(thrownBy(() => parseJson(text))).toMatchObject({ name: 'JsonNumberError', offset: 0 });
    const error = thrownBy(() => parseJson(`{"é😀":{"amount":[1,${text}]}}`));
    expect(error).toMatchObject({ name: 'JsonNumberError', offset: 19 });
    expect((error as Error).message).toContain('the number at character 19');
  });
  it('leaves long digits inside strings alone', () => {
    expect(parseJson('{"card":"4111111111111111000"}')).toEqual({ card: '4111111111111111000' });
    expect(parseJson('{"text":"1e999 and 0.12345678901234567890"}')).toEqual({
      text: '1e999 and 0.12345678901234567890',
    });
  });
  it('calls an integer of more than 4,300 digits undecodable', () => {
    expect(parseJson('9'.repeat(4_300))).toBe(BigInt('9'.repeat(4_300)));
    expect(parseJson(`-${'9'.repeat(4_300)}`)).toBe(-BigInt('9'.repeat(4_300)));
    expect(() => parseJson('9'.repeat(4_301))).toThrow(JsonUndecodableError);
    expect(() => parseJson(`[${'9'.repeat(4_000_000)}]`)).toThrow(JsonUndecodableError);
  });
  it('refuses a text of very many long integers', () => {
    const list = (count: number): string => `[${Array(count).fill('9'.repeat(4_300)).join(',')}]`;
    expect(parseJson(list(200))).toHaveLength(200);
    expect(() => parseJson(list(201))).toThrow(JsonTooLargeError);
  });
  it('reads a fraction of a million digits', () => {
    const text = `0.${'3'.repeat(1_000_000)}`;
    expect(String(parseJson(text))).toBe(text);
    expect(String(parseJson(`-${text}000e5`))).toBe(`-33333.${'3'.repeat(999_995)}`);
  });
});

describe('objects', () => {
  it.each(['{"a":1,"a":2}', '{"a":1,"a":2,"b":9007199254740993}'])(
    'keeps the last duplicate of %s',
    (text) => {
      expect(parseJson(text)).toMatchObject({ a: 2 });
    },
  );
  it.each(['', ',"big":9007199254740993'])('keeps __proto__ as an own key%s', (more) => {
    const value = parseJson(`{"__proto__":{"admin":true}${more}}`);
    expect(Object.hasOwn(value as object, '__proto__')).toBe(true);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
    expect(stringifyJson(value)).toBe(`{"__proto__":{"admin":true}${more}}`);
  });
});

describe('mistakes', () => {
  it.each<[string, number]>([
    ['', 0],
    ['   ', 3],
    ['{"a":1} x', 8],
    ['{"a" 1}', 5],
    ['[1,]', 3],
    ['["😀", x]', 6],
    ['{a:1}', 1],
    ['["open', 1],
    ['[1 2]', 3],
    ['tru', 0],
  ])('names the character of the mistake in %j', (text, offset) => {
    const error = thrownBy(() => parseJson(text));
    expect(error).toBeInstanceOf(JsonSyntaxError);
    expect((error as JsonSyntaxError).offset).toBe(offset);
  });
});

describe('depth', () => {
  it('takes the deepest allowed text and refuses one level more', () => {
    expect(parseJson(nested(MAX_JSON_DEPTH))).toBeInstanceOf(Array);
    expect(() => parseJson(nested(MAX_JSON_DEPTH + 1))).toThrow(JsonTooDeepError);
  });
  it('refuses depth on the lossless path too', () => {
    const deep = (levels: number) => `${'['.repeat(levels)}9007199254740993${']'.repeat(levels)}`;
    expect(parseJson(deep(MAX_JSON_DEPTH))).toBeInstanceOf(Array);
    expect(() => parseJson(deep(MAX_JSON_DEPTH + 1))).toThrow(JsonTooDeepError);
    expect(() => parseLosslessly(deep(MAX_JSON_DEPTH + 1), MAX_JSON_DEPTH)).toThrow(JsonTooDeepError);
  });
  it('calls nesting in the ten thousands undecodable, closed or not', () => {
    expect(() => parseJson(nested(20_000))).toThrow(JsonUndecodableError);
    expect(() => parseJson('{"a":'.repeat(100_000))).toThrow(JsonUndecodableError);
  });
  it('does not count brackets in strings or brackets side by side', () => {
    const text = JSON.stringify({ text: `\\"${'[{'.repeat(500)}`, list: Array(500).fill([{}]) });
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });
  it('takes a smaller bound', () => {
    expect(() => parseJson('[[[]]]', { maxDepth: 2 })).toThrow(JsonTooDeepError);
  });
});

describe('size', () => {
  const list = (values: number): string => `[${'1,'.repeat(values - 2)}1]`;
  it('takes a text of as many values as allowed and refuses one more', () => {
    expect(parseJson(list(MAX_JSON_VALUES))).toHaveLength(MAX_JSON_VALUES - 1);
    expect(() => parseJson(list(MAX_JSON_VALUES + 1))).toThrow(JsonTooLargeError);
    expect(parseStoredJson(list(MAX_JSON_VALUES + 1))).toHaveLength(MAX_JSON_VALUES);
  });
  it('counts the names of members, and nothing in strings', () => {
    const members = Array.from({ length: MAX_JSON_VALUES / 2 }, (_, index) => `"k${index}":1`);
    expect(() => parseJson(`{${members.join(',')}}`)).toThrow(JsonTooLargeError);
    expect(parseJson(`{${members.slice(1).join(',')}}`)).toBeInstanceOf(Object);
    const text = '",{[:\\'.repeat(MAX_JSON_VALUES);
    expect(parseJson(JSON.stringify([text]))).toEqual([text]);
  });
});

const big = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map((n) => {
  return n <= BigInt(Number.MAX_SAFE_INTEGER) && n >= BigInt(Number.MIN_SAFE_INTEGER) ? Number(n) : n;
});
/** A number as it may be written: any digits, a fraction, an exponent. */
const writtenNumber = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,24}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,24}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,2}$/)),
  )
  .map((parts) => parts.join(''));

/** What a written number is, as a fraction of integers, in lowest terms of ten. */
function exactly(written: string): string {
  const [significand = '', exponent = '0'] = written.toLowerCase().split('e');
  const [whole = '', fraction = ''] = significand.split('.');
  let digits = BigInt(whole + fraction);
  let power = Number(exponent) - fraction.length;
  if (digits === 0n) return '0';
  while (digits % 10n === 0n) {
    digits /= 10n;
    power += 1;
  }
  return `${significand.startsWith('-') && digits > 0n ? -digits : digits}e${power}`;
}

const anyJson = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    big,
    fc.string({ unit: 'binary' }),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), { noNullPrototype: true }),
  ),
})).value;

describe('laws', () => {
  it('reads back what stringifyJson prints', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = stringifyJson(value);
        expect(jsonEqual(parseJson(text), value)).toBe(true);
        expect(jsonEqual(parseJson(utf8(text)), value)).toBe(true);
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
    );
  });
  it('loses no digit of any number', () => {
    fc.assert(
      fc.property(writtenNumber, (written) => {
        for (const read of [parseJson(written), parseLosslessly(written, MAX_JSON_DEPTH)]) {
          expect(exactly(stringifyJson(read))).toBe(exactly(written));
          expect(jsonEqual(read, parseJson(stringifyJson(read)))).toBe(true);
        }
      }),
      { numRuns: 5_000 },
    );
  });
  it('reads JSON of ordinary numbers like JSON.parse, on both paths', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!/\d[\d.]{15}|[eE][+-]/.test(text));
        expect(parseJson(text)).toStrictEqual(JSON.parse(text));
        expect(parseLosslessly(text, MAX_JSON_DEPTH)).toStrictEqual(JSON.parse(text));
      }),
    );
  });
  it('refuses exactly the texts that JSON.parse refuses, apart from the three constants and numbers out of range', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '\\',
        '\\u',
        '\n',
        ' ',
        '-',
        '0',
        '1',
        '.5',
        'e',
        '+',
        'true',
      ],
      ...['null', '\t', '\u0001', '\ud800', '"\\ud800"', '12345678901234567890'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        let refused = false;
        try {
          JSON.parse(text);
        } catch {
          refused = true;
        }
        const answers = [refused ? 'JsonSyntaxError' : 'read'];
        // An exponent of so many digits may be out of range, unless the number is 0 or stands in a string.
        if (/\de[-+]?\d{3}/.test(text)) answers.push('JsonNumberError');
        expect(answers).toContain(answerOf(() => parseJson(text)));
      }),
      { numRuns: 2_000 },
    );
  });
  it('gives the same result on both paths', () => {
    const number = fc.constantFrom(
      ...[
        '9007199254740991',
        '9007199254740993',
        '-9999999999999999',
        '0.12345678901234567',
        '0.1234567890123456',
        '-0',
      ],
      ...['1e5', '12345678901234567.5', '1E+308', '"9007199254740993"', '"\\"9007199254740993"', '"1e999"'],
    );
    const alone = (text: string) => parseLosslessly(text, MAX_JSON_DEPTH);
    fc.assert(
      fc.property(fc.array(number, { maxLength: 5 }), (numbers) => {
        const text = `[${numbers.join(',')}]`;
        expect(parseJson(text)).toStrictEqual(alone(text));
      }),
    );
  });
  it('answers any bytes with a value or one of its three errors', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          parseJson(bytes);
        } catch (error) {
          const known = [JsonSyntaxError, JsonTooDeepError, JsonNumberError, JsonUndecodableError];
          expect(known.some((kind) => error instanceof kind)).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
