import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateNames, hasDuplicateNames } from '../src/duplicate-names.js';

const paths = (text: string, limit = 100) =>
  duplicateNames(text, limit).map(({ path }) => path.map(String).join('/'));

describe('names that stand in an object twice', () => {
  it.each<[string, string[]]>([
    ['{"a": 1, "a": 2}', ['a']],
    ['{"a": 1, "b": {"a": 2}}', []],
    ['{"a": {"b": 1, "b": 2}}', ['a/b']],
    ['[{"a": 1}, {"a": 1, "a": 1}]', ['1/a']],
    ['{"a": [1, {"x": "}", "x": "{"}]}', ['a/1/x']],
    ['{"a": "\\"a\\": 1, \\"a\\": 1"}', []],
    ['{"a": 1, "\\u0061": 2}', ['a']],
    ['{"__proto__": 1, "__proto__": 2}', ['__proto__']],
    ['{"a": 1, "a": 2, "a": 3}', ['a', 'a']],
    ['{"a": {"c": 1}, "a": {"c": 1}}', ['a']],
    ['{"a" : [ ] , "b" : { } , "a" : null }', ['a']],
    ['"a"', []],
    ['', []],
  ])('of %s are found', (text, expected) => {
    expect(paths(text)).toEqual(expected);
  });

  it('are found up to a limit', () => {
    const text = `{${Array.from({ length: 50 }, () => '"a":1').join()}}`;
    expect(paths(text, 3)).toEqual(['a', 'a', 'a']);
  });

  /** JSON whose objects may have names twice, as text and as the paths of the repeated ones. */
  interface Written {
    readonly text: string;
    readonly repeated: string[];
  }
  const { json } = fc.letrec<{ json: Written }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.jsonValue({ maxDepth: 0 }).map((value): Written => ({ text: JSON.stringify(value), repeated: [] })),
      fc.array(tie('json'), { maxLength: 4 }).map((items): Written => {
        return {
          text: `[${items.map(({ text }) => text).join(' , ')}]`,
          repeated: items.flatMap((item, index) => item.repeated.map((path) => `${index}/${path}`)),
        };
      }),
      fc
        .array(fc.tuple(fc.constantFrom('a', 'b', '"', '\\', 'é'), tie('json')), { maxLength: 5 })
        .map((members): Written => {
          const seen = new Set<string>();
          const repeated = members.flatMap(([name, { repeated: inner }]) => {
            const own = seen.has(name) ? [name] : [];
            seen.add(name);
            return [...own, ...inner.map((path) => `${name}/${path}`)];
          });
          const text = members.map(([name, value]) => `${JSON.stringify(name)}: ${value.text}`).join(', ');
          return { text: `{${text}}`, repeated };
        }),
    ),
  }));

  it('are found wherever they are, and nowhere else', () => {
    fc.assert(
      fc.property(json, ({ text, repeated }) => {
        expect(paths(text)).toEqual(repeated);
        expect(hasDuplicateNames(text, JSON.parse(text))).toBe(repeated.length > 0);
      }),
    );
  });

  it('are noticed beside colons, quotes and backslashes in strings of any length', () => {
    const strings = fc.array(fc.constantFrom('"', '\\', ':', 'a', '":', ' '), { maxLength: 200 });
    fc.assert(
      fc.property(
        strings,
        strings,
        fc.boolean(),
        fc.constantFrom('', ' ', '\n\t\r'),
        (name, text, twice, blank) => {
          const member = `${JSON.stringify(name.join(''))}${blank}:${blank}${JSON.stringify(text.join(''))}`;
          const written = `{${member},"other name":[{${member}}]${twice ? `,${member}` : ''}}`;
          expect(hasDuplicateNames(written, JSON.parse(written))).toBe(twice);
        },
      ),
    );
  });
});
