import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareNumbers, type JsonNumber, parseJson } from '../../exact-json/src/index.js';
import { compileExpression } from '../src/index.js';
import { ANY, evaluate, NOW, VARIABLES } from './expression.support.js';

const yields = (value: unknown) => ({ ok: true, value });

describe('numbers of JSON', () => {
  it.each([
    ['x > 9007199254740992', '9007199254740993', true],
    ['x == 9007199254740992', '9007199254740993', false],
    ['x == 9007199254740993', '9007199254740993', true],
    ['x == 9007199254740992.0', '9007199254740993', false],
    ['x > 9223372036854775807', '9223372036854775808', true],
    ['x > 9223372036854775807', '123456789012345678901234567890', true],
    ['x == 1', '1.0', true],
    ['x < 0.1', '0.09999999999999999999999', true],
    ['x == 0.1', '0.1000000000000000000000001', false],
    ['x + 1 == 6', '5', true],
    ['x + 0.5 == 5.5', '5', true],
    ['x / 2 == 2', '5', true],
    ['x % 3 == 2', '5', true],
    ['-x == -5', '5', true],
    ['x * x == 25', '5', true],
    ['x * 9007199254740993 == 18014398509481986', '2', true],
    ['type(x) == int && type(x + 0.5) == double', '5', true],
    ['[x] == [5.0] && {"a": x} == {"a": 5u}', '5', true],
    ['x in [1, 5.0]', '5', true],
    ['math.greatest(x, 6) == 6 && math.abs(-x) == x', '5', true],
  ])('are exact: %s for %s is %s', (text, x, value) => {
    expect(evaluate(text, x)).toEqual(yields(value));
  });

  it.each([
    ['x + 1 > 0', '9223372036854775807', /overflow/],
    ['x + 1 > 0', '9223372036854775808', /overflow/],
    ['x * x > 0', '4611686018427387904', /overflow/],
    ['-x < 0', '-9223372036854775808', /overflow/],
    ['1 / x == 0', '0', /division by zero/],
    ['1 % x == 0', '0', /modulus by zero/],
    ['x + 1u == 2u', '1', /does not take/],
    ['x > "a"', '1', /does not take/],
    ['x + "a" == "1a"', '1', /does not take/],
  ])('have errors rather than wrong results: %s for %s', (text, x, error) => {
    expect(evaluate(text, x)).toMatchObject({
      ok: false,
      missing: null,
      error: expect.stringMatching(error),
    });
  });

  it('compare as their digits do, whatever they are', () => {
    const numbers = fc.oneof(
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
      fc.integer().map(String),
      fc
        .tuple(fc.integer(), fc.bigInt({ min: 1n, max: 10n ** 25n }))
        .map(([whole, part]) => `${whole}.${part}`),
      fc.constantFrom(
        '9007199254740992',
        '9007199254740993',
        '9007199254740992.5',
        '1e300',
        '0.1',
        '0.10000000000000000001',
      ),
    );
    const compiled = compileExpression('(x < y ? -1 : (x > y ? 1 : (x == y ? 0 : 2))) == z', {
      variables: new Map([
        ['x', ANY],
        ['y', ANY],
        ['z', ANY],
      ]),
      strictTypes: true,
    });
    fc.assert(
      fc.property(numbers, numbers, (one, other) => {
        const [x, y] = [parseJson(one) as JsonNumber, parseJson(other) as JsonNumber];
        const given = [x, y, Math.sign(compareNumbers(x, y)) + 0];
        expect(compiled.evaluate({ variable: (index) => given[index] as JsonNumber }, () => 0)).toEqual(
          yields(true),
        );
      }),
    );
  });
});

describe('members', () => {
  it.each([
    ['x.a.b == 1', '{"a": {}}', 'x.a.b'],
    ['x.a.b == 1', '{}', 'x.a'],
    ['x.a.b == 1', '{"a": null}', 'x.a.b'],
    ['x["a"].b == 1', '{"a": {}}', 'x["a"].b'],
    ['x.list[3] == 1', '{"list": [1]}', 'x.list[3]'],
    ['x.toString == 1', '{}', 'x.toString'],
    ['x.__proto__ == 1', '{}', 'x.__proto__'],
    ['x.constructor == 1', '{"a": 1}', 'x.constructor'],
    ['!(x.a == 1)', '{}', 'x.a'],
    ['x.a == 1 && true', '{}', 'x.a'],
    ['[1, 2].exists(i, x.a == i)', '{}', 'x.a'],
    ['has(x.a.b)', '{}', 'x.a'],
  ])('that are missing are errors with their path: %s for %s', (text, x, missing) => {
    expect(evaluate(text, x)).toMatchObject({ ok: false, missing });
  });

  it.each([
    ['x.a == null', '{"a": null}', true],
    ['has(x.a)', '{"a": null}', true],
    ['has(x.a)', '{"b": 1}', false],
    ['has(x.toString)', '{}', false],
    ['x.toString == 1', '{"toString": 1}', true],
    ['"a" in x && !("b" in x)', '{"a": 1}', true],
    ['x.a == 1 || true', '{}', true],
    ['x.a == 1 && false', '{}', false],
    ['x.length == 3', '{"length": 3}', true],
    ['x.all(k, v, k == "a" && v == 1)', '{"a": 1}', true],
    ['x.exists(i, v, i == 1 && v == "b")', '["a", "b"]', true],
    ['x.transformMap(k, v, v + 1) == {"a": 2}', '{"a": 1}', true],
    ['x.filter(i, i > 1).map(i, i * 2) == [4, 6]', '[1, 2, 3]', true],
  ])('are those of the JSON: %s for %s is %s', (text, x, value) => {
    expect(evaluate(text, x)).toEqual(yields(value));
  });

  it.each([
    'double(x) > 1000.0',
    'double(x) <= 1000.0',
    '!(double(x) <= 1000.0)',
    '5.0 < double(x)',
    'math.greatest(1.0, double(x)) > 0.0',
    'math.least([double(x), 1.0]) > 0.0',
    '0.0 / 0.0 >= 1.0',
  ])('is an error where NaN would be put in order: %s', (text) => {
    expect(evaluate(text, '"NaN"')).toEqual({ ok: false, error: 'NaN has no order', missing: null });
  });

  it.each([['"text"'], ['5'], ['true'], ['[{"a": 1}]']])(
    'of %s are an error that is no missing member',
    (x) => {
      expect(evaluate('x.a == 1', x)).toMatchObject({ ok: false, missing: null });
    },
  );
});

describe('texts', () => {
  it.each([
    ['size(x) == 2 && x.charAt(1) == "b"', '"😀b"'],
    ['x.indexOf("b") == 1 && x.lastIndexOf("b") == 3', '"😀b😀b"'],
    ['x.substring(1, 3) == "b😀"', '"😀b😀b"'],
    ['x.lowerAscii() == "aÄ" && x.upperAscii() == "AÄ"', '"aÄ"'],
    ['x.split(",") == ["a", "", "b"] && x.split(",").join("-") == "a--b"', '"a,,b"'],
    ['x.split("") == ["a", "😀"] && x.replace("", "-") == "-a-😀-"', '"a😀"'],
    ['x.trim() == "a b"', '"\\t a b\\u2003\\n"'],
    ['x.matches("^[a-z]+@example\\\\.com$")', '"me@example.com"'],
    ['x < "\\U0001F600"', '"\\uffff"'],
    ['x.contains("") && x.reverse() == "cba"', '"abc"'],
  ])('have code points, not code units: %s for %s', (text, x) => {
    expect(evaluate(text, x)).toEqual(yields(true));
  });

  it('are found where JavaScript finds them, by every search', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 400 });
    const parts = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 60 });
    const compiled = compileExpression(
      '[x.indexOf(y), x.lastIndexOf(y)] == z && x.contains(y) == (z[0] >= 0)',
      {
        variables: new Map([
          ['x', ANY],
          ['y', ANY],
          ['z', ANY],
        ]),
        strictTypes: true,
      },
    );
    fc.assert(
      fc.property(
        texts,
        parts,
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        (some, part, times, isPeriodic) => {
          const text = isPeriodic ? part.slice(0, 3).repeat(times * 20) + part : some.repeat(times);
          const given = [text, part, [text.indexOf(part), text.lastIndexOf(part)]];
          expect(compiled.evaluate({ variable: (index) => given[index] as string }, () => 0)).toEqual(
            yields(true),
          );
        },
      ),
    );
  });
});

describe('times and addresses', () => {
  it.each<[text: string, x?: string]>([
    ['now == timestamp("2030-05-06T07:08:09.5Z") && now - duration("1h") < now'],
    [
      'now.getFullYear() == 2030 && now.getMonth() == 4 && now.getDayOfWeek() == 1 && now.getMilliseconds() == 500',
    ],
    ['now.getHours("Europe/Berlin") == 9 && now.getHours("-07:00") == 0'],
    ['timestamp(x) < now', '"2030-05-06T09:00:00+02:00"'],
    ['ip(x).family() == 6 && !ip(x).isLoopback() && string(ip(x)) == "2001:db8::1"', '"2001:DB8:0::0:1"'],
    ['cidr("10.0.0.0/8").containsIP(x) && !cidr("10.0.0.0/8").containsIP("11.0.0.1")', '"10.255.0.1"'],
    ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && cidr("10.1.2.3/8").masked().ip() == ip("10.0.0.0")'],
    [
      '!isIP(x) && !isIP("1.2.3") && !isIP("01.2.3.4") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0")',
      '"1.2.3.4.5"',
    ],
    ['ip("169.254.169.254").isLinkLocalUnicast() && !ip("169.254.169.254").isGlobalUnicast()'],
    ['base64.encode(base64.decode(x)) == x && string(base64.decode(x)) == "hello"', '"aGVsbG8="'],
  ])('are as the libraries of CEL have them: %s', (text, x) => {
    expect(evaluate(text, x)).toEqual(yields(true));
  });

  it('read the clock once for an evaluation, and only if the expression asks', () => {
    let reads = 0;
    const clock = () => {
      reads += 1;
      return NOW + reads;
    };
    const run = (text: string) =>
      compileExpression(text, { variables: VARIABLES, strictTypes: true }).evaluate(
        { variable: () => null },
        clock,
      );
    expect(run('now == now && [1, 2].all(i, now == now)')).toEqual(yields(true));
    expect(reads).toBe(1);
    run('x == null');
    expect(reads).toBe(1);
  });
});

describe('an evaluation', () => {
  it('reads each variable at most once, and only those that it needs', () => {
    const asked: number[] = [];
    const compiled = compileExpression('x == 1 && x < 5 && [1, 2].all(i, i + x > 0) || y == 1', {
      variables: new Map([
        ['x', ANY],
        ['y', ANY],
      ]),
      strictTypes: true,
    });
    const values = {
      variable: (index: number) => {
        asked.push(index);
        return 1;
      },
    };
    expect(compiled.evaluate(values, () => 0)).toEqual(yields(true));
    expect(asked).toEqual([0]);
  });

  it('may be within another of the same expression', () => {
    const compiled = compileExpression('x == 1', { variables: new Map([['x', ANY]]), strictTypes: true });
    const inner = { variable: () => 2 };
    const outer = {
      variable: () => {
        expect(compiled.evaluate(inner, () => 0)).toEqual(yields(false));
        return 1;
      },
    };
    expect(compiled.evaluate(outer, () => 0)).toEqual(yields(true));
  });
});
