import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { Evaluator } from '../../../src/kernel/core/evaluator.js';
import { MIN_SCANNED_SEARCHES } from '../../../src/kernel/core/text-scan.js';
import type { EvaluatorResult, Verdict } from '../../../src/kernel/core/types.js';
import { aDefinition, aLeaf, aProgram, aResult, aStep, fakeEvaluator, idsOf } from './support.js';

const found = aResult({ message: 'found' });
const miss = aResult({ matched: false, message: 'not found', metadata: { a: 1 } });

/** Looks for the member `word` of its configuration, and says so beforehand. */
function searching() {
  const searched: JsonValue[] = [];
  const evaluator: Evaluator = {
    ...fakeEvaluator('word', () => miss),
    compile: ({ word, literals }) => ({
      prefilter: { literals: literals === null ? null : [String(word)], normalizes: false, miss },
      evaluate(data): EvaluatorResult {
        searched.push(word ?? null);
        if (data === null) return aResult({ matched: false, message: 'no data' });
        return JSON.stringify(data).includes(String(word)) ? found : miss;
      },
    }),
  };
  return { searched, evaluator };
}

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}x`);
const definitionsOf = (some: readonly string[], path = 'input.q') =>
  some.map((word) => aDefinition(aLeaf('word', { word }, path), 'observe'));

describe('searches of one value', () => {
  it('are done only where the value has one of their literals', () => {
    const { searched, evaluator } = searching();
    const program = aProgram(definitionsOf(words(20)), [evaluator]);
    // The first ones are done without a scan: there could be no more of them.
    const first = words(20)
      .reverse()
      .slice(0, MIN_SCANNED_SEARCHES - 1);
    for (const [q, rest] of [
      ['a word3x and a WORD7X', ['word7x', 'word3x']],
      ['nothing', []],
      ['a word0x', ['word0x']],
    ] as const) {
      void program.evaluate(aStep({ input: { q } }), 'pre', 'verdict');
      expect(searched.splice(0)).toEqual([...first, ...rest]);
    }
  });

  it('have the same verdict as when they are done one by one', () => {
    const { evaluator } = searching();
    const few = words(MIN_SCANNED_SEARCHES - 1);
    const many = [...few, ...words(2 * MIN_SCANNED_SEARCHES).map((word) => `other-${word}`)];
    for (const q of ['word3x word6x', 'nothing', '', null, ['word1x'], { word2x: 1 }, 5]) {
      const step = aStep({ input: { q } });
      for (const detail of ['verdict', 'full'] as const) {
        const one = aProgram(definitionsOf(few), [evaluator]).evaluate(step, 'pre', detail) as Verdict;
        const scanned = aProgram(definitionsOf(many), [evaluator]).evaluate(step, 'pre', detail) as Verdict;
        const withoutIds = (list: Verdict['matches']) =>
          list
            .filter(({ control_id }) => control_id <= few.length)
            .map((item) => ({ ...item, control_execution_id: '' }));
        expect(withoutIds(scanned.matches)).toEqual(withoutIds(one.matches));
        expect(withoutIds(scanned.non_matches)).toEqual(withoutIds(one.non_matches));
      }
    }
  });

  it('are all done when there are only a few, or nothing is known of them', () => {
    const { searched, evaluator } = searching();
    void aProgram(definitionsOf(words(MIN_SCANNED_SEARCHES - 1)), [evaluator]).evaluate(
      aStep(),
      'pre',
      'verdict',
    );
    expect(searched).toHaveLength(MIN_SCANNED_SEARCHES - 1);
    searched.length = 0;
    const unknown = words(20).map((word) =>
      aDefinition(aLeaf('word', { word, literals: null }, 'input.q'), 'observe'),
    );
    void aProgram(unknown, [evaluator]).evaluate(aStep(), 'pre', 'verdict');
    expect(searched).toHaveLength(20);
  });

  it('are done each when there is no value', () => {
    const { searched, evaluator } = searching();
    const verdict = aProgram(definitionsOf(words(20), 'output'), [evaluator]).evaluate(
      aStep(),
      'pre',
      'full',
    );
    expect(searched).toHaveLength(20);
    expect(verdict).toMatchObject({ non_matches: { length: 20 } });
  });

  it('of other values are scanned apart', () => {
    const { evaluator } = searching();
    const program = aProgram(
      [...definitionsOf(words(10), 'input.q'), ...definitionsOf(words(10), 'input.r')],
      [evaluator],
    );
    const verdict = program.evaluate(
      aStep({ input: { q: 'word1x', r: 'word2x' } }),
      'pre',
      'full',
    ) as Verdict;
    expect(idsOf(verdict.matches)).toEqual([13, 2]);
  });
});
