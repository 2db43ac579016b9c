import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSuggester, didYouMean, editDistance } from '../../../src/contract/warnings/suggestion.js';

const { closest } = createSuggester();

describe('the closest known word', () => {
  it.each([
    ['scop', ['scope', 'condition', 'action'], 'scope'],
    ['enabeld', ['enabled', 'execution'], 'enabled'],
    ['match_onn', ['match_on', 'match_mode'], 'match_on'],
    ['pth', ['path'], 'path'],
    ['flag', ['flags', 'pattern'], 'flags'],
    ['regexp', ['regex', 'list', 'json', 'sql'], 'regex'],
    ['stepTypes', ['step_names', 'step_types'], 'step_types'],
    ['Tool', ['llm', 'tool'], 'tool'],
    ['tool ', ['llm', 'tool'], 'tool'],
    ['agent', ['agent_name', 'actions'], 'agent_name'],
    ['trace', ['trace_id', 'span_id'], 'trace_id'],
    ['value', ['logic', 'values'], 'values'],
  ])('of %j in %j is %s', (word, known, expected) => {
    expect(closest(word, known)).toBe(expected);
    expect(didYouMean(word, known)).toBe(`; did you mean ${expected}?`);
  });

  it.each([
    ['nonsense', ['name', 'enabled']],
    ['x', ['y']],
    ['ab', ['xy']],
    ['', ['name']],
    ['a'.repeat(100), ['a'.repeat(99)]],
    ['id', ['control_id']],
  ])('of %j in %j is none', (word, known) => {
    expect(closest(word, known)).toBeUndefined();
    expect(didYouMean(word, known)).toBe('');
  });

  it('is the first of equally near ones, and never the word itself', () => {
    expect(closest('cat', ['bat', 'rat'])).toBe('bat');
    expect(closest('bat', ['bat', 'rat'])).toBe('rat');
  });

  it('is looked for as long as a bounded number of words has been compared, whatever the number of words', () => {
    const suggester = createSuggester(100);
    const known = ['condition', 'scope'];
    for (let asked = 0; asked < 50; asked += 1) expect(suggester.closest('scop', known)).toBe('scope');
    expect(suggester.closest('scop', known)).toBeUndefined();
    expect(suggester.didYouMean('scop', known)).toBe('');
    let compared = 0;
    const endless = function* () {
      for (;;) {
        compared += 1;
        yield `other-${compared}`;
      }
    };
    expect(createSuggester(100).closest('scop', endless())).toBeUndefined();
    expect(compared).toBeLessThanOrEqual(101);
  });
});

describe('the distance of two words', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '😀'), maxLength: 8 });

  it('counts a swap of neighbours once', () => {
    expect(editDistance('enabeld', 'enabled')).toBe(1);
    expect(editDistance('ab', 'ba')).toBe(1);
    expect(editDistance('abc', 'cab')).toBe(2);
  });

  it('is symmetric, 0 for equal words only, and at most the length of the longer one', () => {
    fc.assert(
      fc.property(word, word, (left, right) => {
        const distance = editDistance(left, right);
        expect(distance).toBe(editDistance(right, left));
        expect(distance === 0).toBe(left === right);
        expect(distance).toBeLessThanOrEqual(Math.max([...left].length, [...right].length));
        expect(distance).toBeGreaterThanOrEqual(Math.abs([...left].length - [...right].length));
      }),
    );
  });

  it('is 1 after any single mistake', () => {
    const mistake = fc.constantFrom('insert', 'delete', 'replace', 'swap');
    fc.assert(
      fc.property(word, fc.nat(), mistake, (text, seed, kind) => {
        const letters = [...text];
        const at = seed % Math.max(1, letters.length);
        if (kind === 'insert') letters.splice(at, 0, 'z');
        else if (letters.length < 2) return;
        else if (kind === 'delete') letters.splice(at, 1);
        else if (kind === 'replace') letters[at] = 'z';
        else {
          const next = Math.min(at + 1, letters.length - 1);
          [letters[at], letters[next]] = [letters[next] as string, letters[at] as string];
        }
        expect(editDistance(text, letters.join(''))).toBeLessThanOrEqual(1);
      }),
    );
  });
});
