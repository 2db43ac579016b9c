/**
 * Expressions that make as much work as they can, and steps that make them. `packages/cel/test/bounds.test.ts` evaluates each
 * with each; `bench/cel-worst.mjs` tells how long the longest holds the thread.
 */

/** Variables of the expressions. */
export const NAMES = ['s', 't', 'l', 'ts', 'os', 'm', 'deep', 'n'];

const REPEATED_TERMS = Array.from({ length: 30 }, (_, at) => `s.contains(t + '${at}')`).join(' || ');
const LONG_SUM = Array.from({ length: 60 }, () => 's').join(' + ');

/** Each yields a bool. */
export const HOSTILE_EXPRESSIONS = [
  's.contains(t)',
  's.contains("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")',
  REPEATED_TERMS,
  's.lastIndexOf(t) > 5',
  's.indexOf(t, 3) > 5',
  'ts.exists(x, s.contains(x + "b"))',
  'ts.all(x, ts.all(y, x + y != s))',
  'l.all(x, l.all(y, x + y >= -1))',
  'l.exists(x, l.exists(y, x * y == -7))',
  'l.all(x, m.all(k, k != string(x)))',
  'm.all(k, v, m.all(j, w, k != j || v == w))',
  'l.map(x, l.map(y, x + y)).flatten().size() < 0',
  'l.filter(x, x % 2 == 0).map(x, string(x)).join("-").size() < 0',
  `size(${LONG_SUM}) < 0`,
  'cel.bind(a, s + s, cel.bind(b, a + a, cel.bind(c, b + b, cel.bind(d, c + c, size(d + d) < 0))))',
  's.replace("a", s) == t',
  's.replace("", "b").replace("b", "cd").replace("c", "efg") == t',
  's.split("").distinct().size() < 0',
  's.split("a").join(s) == t',
  's.split("").sort().reverse().join() == t',
  'ts.map(x, x + s).distinct().size() < 0',
  'os.distinct().size() < 0',
  'os.all(x, x in os)',
  'os.all(x, os.all(y, x == y))',
  'sets.equivalent(os, os.map(x, x))',
  'sets.contains(os, deep)',
  'deep == deep.map(x, x)',
  'os == os.filter(x, true)',
  'm == m && m != {"a": 1}',
  's.matches("(a|aa)+$")',
  's.matches("(?i)(x+x+)+y|[ab]{1,40}c")',
  's.matches("a.{0,200}b.{0,200}c")',
  's.matches("(.*a){12}b")',
  'ts.exists(x, x.matches("(a?){30}a{30}b"))',
  's.lowerAscii().upperAscii().reverse().trim() == t',
  's.substring(1).substring(1).substring(1).charAt(3) == t',
  'ts.all(x, x.lowerAscii().size() == s.size())',
  'ts.all(x, size(x) == size(s) || x.startsWith(s) || x.endsWith(s))',
  'ts.all(x, x < s && s < x + "b")',
  'base64.encode(bytes(s)) == t',
  'bytes(s) == bytes(t + s)',
  'size(base64.decode(s)) < 0',
  'l.all(x, ip("10.0.0." + string(x % 200)).isLoopback())',
  'l.all(x, cidr("2001:db8::/32").containsIP("2001:db8::" + string(x % 9000)))',
  'l.all(x, timestamp("2020-01-01T00:00:00Z").getFullYear("Europe/Berlin") == x)',
  'l.all(x, timestamp(x * 86400).getHours("+01:00") == x)',
  'l.all(x, timestamp("2020-01-01T00:00:00Z") + duration(string(x) + "h") < now)',
  'l.map(x, [x, string(x), {"a": x}]).distinct().size() < 0',
  'l.sort().reverse() == l.slice(0, 5)',
  'math.greatest(l) < 0 || math.least(l.map(x, x * 2)) > 5',
  'ts.map(x, x.split("")).flatten(5).size() < 0',
  'n.all(x, n.all(y, x < y))',
  'n.exists(x, x + 0.5 == 3.25 || string(x) == s)',
  'lists.range(100000).all(x, x >= 0)',
  'lists.range(300).all(x, lists.range(300).all(y, x + y >= 0))',
  'deep.all(x, deep.all(y, x == y))',
  's in ts || t in ts || l in [l, l, l] || os in [os]',
  '[s, s, s, s] == [s + "", s + "", s + "", t]',
];

/** Values of the variables, by `NAMES`; each step has some kind of size. */
export function hostileSteps() {
  const list = (/** @type {number} */ length, /** @type {(at: number) => unknown} */ of) =>
    Array.from({ length }, (_, at) => of(at));
  const members = (/** @type {number} */ length) =>
    Object.fromEntries(
      list(length, (at) => [`member${at}`, at]).map((pair) => /** @type {[string, number]} */ (pair)),
    );
  const nested = (/** @type {number} */ depth) => {
    /** @type {unknown} */
    let value = [1];
    for (let level = 0; level < depth; level += 1) value = [value, value];
    return value;
  };
  const digits = BigInt(`9${'7'.repeat(300)}`);
  return [
    ['a', 'a', [], [], [], {}, [], []],
    [
      'a'.repeat(1_000),
      `${'a'.repeat(50)}b`,
      list(40, (at) => at),
      list(40, (at) => `a${at}`),
      list(40, (at) => ({ at })),
      members(40),
      nested(5),
      list(40, (at) => at + 0.5),
    ],
    [
      'a'.repeat(100_000),
      `${'a'.repeat(5_000)}b`,
      list(2_000, (at) => at),
      list(200, () => 'a'.repeat(500)),
      list(500, (at) => ({ at, text: 'a'.repeat(100) })),
      members(2_000),
      nested(10),
      list(500, () => digits),
    ],
    [
      'a'.repeat(1_000_000),
      'aaaaaab',
      list(100_000, (at) => at),
      list(1_000, () => 'a'.repeat(1_000)),
      list(5_000, () => ({ a: [1, 2, 3], b: 'x' })),
      members(50_000),
      list(1_000, () => nested(3)),
      list(5_000, () => 1e300),
    ],
    [
      'ab'.repeat(200_000),
      'ba'.repeat(100_000),
      list(100_000, () => 0),
      list(10, () => 'ab'.repeat(50_000)),
      list(20, () => members(1_000)),
      members(100),
      nested(14),
      list(5_000, () => digits),
    ],
    [
      '😀'.repeat(100_000),
      '😀'.repeat(99),
      list(1_000, () => 1),
      list(1_000, (at) => '😀'.repeat(at % 100)),
      [],
      {},
      [],
      [0],
    ],
    [
      `${'x'.repeat(500_000)}y`,
      'x'.repeat(7),
      list(10_000, (at) => -at),
      list(1_000, () => ' '.repeat(900)),
      list(1_000, (at) => ({ [`k${at}`]: at })),
      members(1_000),
      list(2_000, (at) => [at]),
      list(100, (at) => at),
    ],
  ];
}
