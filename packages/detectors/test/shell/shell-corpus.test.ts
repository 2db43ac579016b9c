import { describe, expect, it } from 'vitest';
import { corpus, corpusFigures } from './shell-corpus.js';

describe('shell on its corpus', () => {
  it.each(['dev', 'test'] as const)('has 100 commands of each label in the half %s', (half) => {
    expect(corpus('dangerous', half)).toHaveLength(100);
    expect(corpus('harmless', half)).toHaveLength(100);
  });

  it('has no command in both halves', () => {
    for (const label of ['dangerous', 'harmless'] as const) {
      const dev = new Set(corpus(label, 'dev'));
      expect(corpus(label, 'test').filter((command) => dev.has(command))).toEqual([]);
    }
  });

  it.each(['dev', 'test'] as const)('judges all commands of the half %s as they are labelled', (half) => {
    expect(corpusFigures(half, 0.5)).toMatchObject({ missed: [], mistaken: [], precision: 1, recall: 1 });
  });

  it('misses, with a higher threshold, what is known only at run time', () => {
    const { recall, precision } = corpusFigures('test', 0.7);
    expect({ recall, precision }).toEqual({ recall: 0.96, precision: 1 });
  });
});
