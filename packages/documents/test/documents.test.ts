import { describe, expect, it } from 'vitest';
import { MAX_JSON_DEPTH, stringifyJson } from '../../exact-json/src/index.js';
import { readDocuments } from '../src/index.js';

describe('documents of a file', () => {
  const problemsOf = (text: string) =>
    readDocuments(text).problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);

  it('are exact JSON, whether they are YAML or JSON', () => {
    const text =
      '{"a": 123456789012345678901, "b": [1.5, true, null]}\n---\na: yes\nb: 0.1\n__proto__: { c: 1 }\n';
    const [json, yaml] = readDocuments(text).documents.map(({ value }) => value);
    expect(stringifyJson(json ?? null)).toBe('{"a":123456789012345678901,"b":[1.5,true,null]}');
    expect((json as { a: unknown }).a).toBe(123456789012345678901n);
    expect(stringifyJson(yaml ?? null)).toBe('{"a":"yes","b":0.1,"__proto__":{"c":1}}');
  });

  it.each([
    ['an alias', 'a: &x [1]\nb: *x\n', '2:4: aliases such as *x are not read; write the value out'],
    [
      'a member that occurs twice',
      'a: 1\nb: 2\na: 3\n',
      '3:1: Map keys must be unique: a occurs twice; remove or rename one of them',
    ],
    [
      'a number of another form',
      'a:\n  - 0x1F\n',
      '2:5: must be a number as in JSON, or a text in quotes: "0x1F"',
    ],
    ['infinity', 'a: .inf\n', '1:4: must be a number as in JSON, or a text in quotes: ".inf"'],
    [
      'a tag',
      'a: !!python/object x\n',
      '1:4: Unresolved tag: tag:yaml.org,2002:python/object; tags are not read, remove it',
    ],
    ['another version', '%YAML 1.1\n---\na: yes\n', '2:1: must be YAML 1.2'],
    ['marks alone', ']'.repeat(50), /^1:1: Unexpected flow-seq-end token in YAML document: "]"; check the/],
    ['a text that is not closed', 'a: "x\n', /^[12]:[0-9]+: Missing closing "quote/],
  ])('with %s are refused, with the place', (_, text, problem) => {
    expect(problemsOf(text)[0]).toMatch(problem);
  });

  it('with very many members are read at once, and those that occur twice are found', () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1\n`).join('');
    expect(problemsOf(text)).toEqual([]);
    expect(problemsOf(`${text}k7: 2\n`)).toEqual([
      expect.stringMatching(/^20001:1: Map keys must be unique/),
    ]);
  });

  it('that nest too deeply are refused', () => {
    for (const text of ['['.repeat(4_000_000), `a:\n  ${'[{ '.repeat(4_000)}`, '- '.repeat(5_000)])
      expect(problemsOf(text)[0]).toMatch(/^\d+:\d+: must not nest deeper than \d+ levels$/);
    expect(problemsOf(`${'['.repeat(MAX_JSON_DEPTH + 2)}${']'.repeat(MAX_JSON_DEPTH + 2)}`)[0]).toMatch(
      /must not nest deeper/,
    );
  });

  it.each([
    ['items', `a: [${'b,'.repeat(540_000)}]`, '1:1066667'],
    ['short keys', 'a: 1\n'.repeat(230_000), '228572:2'],
  ])('with too many tokens are refused where they have them: %s', (_, text, place) => {
    expect(problemsOf(text)).toEqual([
      expect.stringMatching(`^${place}: the file has more than 1600000 texts,`),
    ]);
  });

  it('with very many errors are refused with the first of them', () => {
    const problems = problemsOf('""'.repeat(100_000));
    expect(problems).toHaveLength(20);
    expect(problems[0]).toMatch(/^1:3: Unexpected double-quoted-scalar at node end; check the/);
  });
});
