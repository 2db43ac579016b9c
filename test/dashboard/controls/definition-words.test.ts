import { create, type JsonObject } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ConditionSchema, ScopeSchema, Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  conditionWords,
  scopeWords,
} from '../../../packages/dashboard/src/control-parts/definition-words.js';
import { leafWords, type Words } from '../../../packages/dashboard/src/control-parts/leaf-words.js';

/** A sentence as text, with the pieces of the definition in backticks. */
const textOf = (words: readonly Words[]) =>
  words.map(({ text, isCode }) => (isCode ? `\`${text}\`` : text)).join(' ');

describe('a definition in words', () => {
  it.each<[string, string, JsonObject, string]>([
    ['input.text', 'regex', { pattern: '\\b\\d{16}\\b' }, '`input.text` matches regex `\\b\\d{16}\\b`'],
    [
      '*',
      'regex',
      { pattern: 'x', flags: ['IGNORECASE'], normalize: 'nfkc' },
      'the whole step matches regex `x` in upper or lower case after Unicode normalization',
    ],
    ['name', 'regex', { pattern: 'x', flags: null, later: 3 }, '`name` matches regex `x` with later `3`'],
    ['name', 'list', { values: ['send_mail'] }, '`name` is `send_mail`'],
    ['name', 'list', { values: ['a'], at_most: 2 }, '`name` is `a` with at most `2`'],
    [
      'input.to',
      'list',
      { values: ['a', 1], match_on: 'no_match', match_mode: 'ends_with', case_sensitive: true },
      '`input.to` does not end with any of `a` `1` in exactly this case',
    ],
    ['input.to', 'list', { values: [], logic: 'all' }, '`input.to` with every item is any of no values'],
    [
      'input',
      'json',
      { required_fields: ['id', 'sum'], json_schema: null },
      '`input` violates the rules for JSON: required fields `id, sum`',
    ],
    ['input.query', 'sql', { block_ddl: true }, '`input.query` violates the rules for SQL: block ddl `true`'],
    ['output', 'word-limit', { max: 5 }, '`output` is matched by `word-limit` with max `5`'],
    ['output', 'vendor.model', {}, '`output` is matched by `vendor.model`'],
    ['*', 'cel', { expression: 'input.a > 1' }, 'the expression `input.a > 1` is true'],
    [
      'input.to',
      'cel',
      { expression: "value == 'a'", on_missing: 'match', later: 3 },
      "the expression `value == 'a'` is true with value = `input.to` " +
        'or reads a member that is missing with later `3`',
    ],
    ['input', 'secrets', { threshold: 0.8 }, '`input` contains secrets with threshold `0.8`'],
    ['input', 'pii', {}, '`input` contains personal data'],
    [
      'input.url',
      'url',
      { allow_hosts: ['a.example'] },
      '`input.url` contains an address that violates the rules: allow hosts `a.example`',
    ],
  ])('says what %s, %s %j checks', (path, evaluator, config, text) => {
    expect(textOf(leafWords(path, evaluator, config))).toBe(text);
  });

  it('has the nodes of the condition', () => {
    const leaf = { selector: { path: 'name' }, evaluator: { name: 'list', config: { values: ['a'] } } };
    const condition = create(ConditionSchema, {
      and: { conditions: [leaf, { not: { or: { conditions: [leaf, { evaluator: leaf.evaluator }] } } }] },
    });
    const kinds = (node: ReturnType<typeof conditionWords>): unknown =>
      node === undefined ? null : [node.kind, node.path, ...node.children.map(kinds)];
    expect(kinds(conditionWords(condition))).toEqual([
      'and',
      undefined,
      ['leaf', 'name'],
      ['not', undefined, ['or', undefined, ['leaf', 'name'], ['leaf', '*']]],
    ]);
  });

  it('says which steps are checked', () => {
    expect(textOf(scopeWords(undefined))).toBe('Checks every step before it runs and after it has run');
    const scope = create(ScopeSchema, {
      stepTypes: ['tool', 'llm'],
      stepNames: ['send'],
      stepNameRegex: '^x',
      stages: [Stage.POST],
    });
    expect(textOf(scopeWords(scope))).toBe(
      'Checks each step of type `tool` or `llm` named `send` or with a name that matches regex `^x` after it has run',
    );
  });
});
