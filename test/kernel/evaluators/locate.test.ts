import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { listEvaluator } from '../../../src/kernel/evaluators/list/list.js';
import { regexEvaluator } from '../../../src/kernel/evaluators/regex/regex.js';

const call = { signal: new AbortController().signal };

/** The parts of a text that a configuration finds. */
async function found(evaluator: typeof regexEvaluator, config: JsonObject, text: string): Promise<string[]> {
  const spans = (await evaluator.compile(config).locate?.(text, call)) ?? [];
  return spans.map(({ start, end }) => `${start}:${text.slice(start, end)}`);
}

describe('regex', () => {
  it.each<[string, JsonObject, string, string[]]>([
    ['every match', { pattern: 'a+' }, 'aa b a', ['0:aa', '5:a']],
    ['a match after a character of two code units', { pattern: 'b' }, '😀b', ['2:b']],
    ['such a character', { pattern: '[😀]' }, 'a😀b', ['1:😀']],
    ['the first alternative, as the engine does', { pattern: 'ab|abc' }, 'abc', ['0:ab']],
    ['anchored', { pattern: '^a' }, 'aa', ['0:a']],
    ['word boundaries', { pattern: '\\ba' }, 'aa a', ['0:a', '3:a']],
    ['nothing', { pattern: 'x' }, 'abc', []],
    ['no empty matches', { pattern: 'x*' }, 'axb', ['1:x']],
    ['in any case', { pattern: 'KEY', flags: ['I'] }, 'a Key', ['2:Key']],
    ['a letter that folds to another', { pattern: 'k', flags: ['I'] }, 'a \u212a', ['2:\u212a']],
    ['normalised, where that changes nothing', { pattern: 'key', normalize: 'nfkc' }, 'a key', ['2:key']],
    ['all of a text that is changed by that', { pattern: 'key', normalize: 'nfkc' }, 'a ｋey', ['0:a ｋey']],
    ['nothing in such a text', { pattern: 'word', normalize: 'nfkc' }, 'a ｋey', []],
  ])('finds %s', async (_what, config, text, expected) => {
    expect(await found(regexEvaluator, config, text)).toEqual(expected);
  });

  it('refuses what costs too much', () => {
    const { locate } = regexEvaluator.compile({ pattern: '(a[^z]{0,200}z|a)' });
    expect(() => locate?.('a'.repeat(200_000), call)).toThrow();
  });
});

describe('list', () => {
  it.each<[string, JsonObject, string, string[]]>([
    ['an exact value', { values: ['Ab', 'x'] }, 'aB', ['0:aB']],
    ['no part of a text', { values: ['ab'] }, 'ab c', []],
    ['words', { values: ['ab', 'ab c'], match_mode: 'contains' }, 'Ab c AB abc', ['0:Ab', '0:Ab c', '5:AB']],
    ['words with case', { values: ['ab'], match_mode: 'contains', case_sensitive: true }, 'Ab ab', ['3:ab']],
    ['the longest beginning', { values: ['a', 'ab'], match_mode: 'starts_with' }, 'ABC', ['0:AB']],
    ['the longest end', { values: ['c', 'bc'], match_mode: 'ends_with' }, 'abC', ['1:bC']],
    ['what is not in an allow list', { values: ['ab'], match_on: 'no_match' }, 'x', ['0:x']],
    ['nothing that is in it', { values: ['ab'], match_on: 'no_match' }, 'ab', []],
    [
      'a normalised value',
      { values: ['key'], normalize: 'nfkc', match_mode: 'contains' },
      'a ｋey',
      ['0:a ｋey'],
    ],
    ['a letter beyond the first plane', { values: ['𐐀'] }, '𐐨', ['0:𐐨']],
  ])('finds %s', async (_what, config, text, expected) => {
    expect(await found(listEvaluator, config, text)).toEqual(expected);
  });
});

describe('in a text that is JSON', () => {
  const TEXT = '{"a":"\\u0053ECRET","b":"x"}';
  it.each<[typeof regexEvaluator, JsonObject, string[]]>([
    [regexEvaluator, { pattern: 'SECRET' }, ['6:\\u0053ECRET']],
    [listEvaluator, { values: ['secret'], match_mode: 'contains' }, ['6:\\u0053ECRET']],
    // Of what must be in the list, all is wrong that is not, as it is.
    [listEvaluator, { values: [TEXT], match_on: 'no_match' }, []],
  ])('finds what is escaped, at its place', async (evaluator, config, expected) => {
    expect(await found(evaluator, config, TEXT)).toEqual(expected);
  });
});
