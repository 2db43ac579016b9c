import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import { aLeaf, aProgram, aStep } from '../../core/support.js';
import { loadModule } from './support.js';

const { signal } = new AbortController();

async function located(text: string, config: JsonObject = {}) {
  const { evaluator } = await loadModule('spans.mjs');
  return evaluator.compile(config).locate?.(text, { signal });
}

describe('the spans of a custom evaluator', () => {
  it('are where it matches, none without a match', async () => {
    expect(await located('a bad, bad text')).toEqual([
      { start: 2, end: 5 },
      { start: 7, end: 10 },
    ]);
    expect(await located('a good text')).toEqual([]);
  });

  it('are missing if it does not say where it matches', async () => {
    await expect(located('bad', { spans: null })).rejects.toThrow('does not say where');
  });

  it.each<[string, JsonValue]>([
    ['no list', 5],
    ['no span', [null]],
    ['no integers', [{ start: 0.5, end: 2 }]],
    ['before the text', [{ start: -1, end: 2 }]],
    ['behind the text', [{ start: 0, end: 4 }]],
    ['backwards', [{ start: 2, end: 1 }]],
    [
      'out of order',
      [
        { start: 1, end: 2 },
        { start: 0, end: 1 },
      ],
    ],
  ])('are an error of the check: %s', async (_what, spans) => {
    await expect(located('bad', { spans })).rejects.toThrow('"spans" of the answer');
  });

  it('are replaced, in each text below the selected data', async () => {
    const { evaluator } = await loadModule('spans.mjs');
    const definition = (config: JsonObject): JsonObject => ({
      execution: 'server',
      condition: aLeaf('spans', config, 'input'),
      action: { decision: 'deny', modify: [{ path: 'input', replace: 'matches', with: '***' }] },
    });
    const step = aStep({ input: { a: 'bad', b: ['not bad', 1], bad: true } });
    const change = async (config: JsonObject) => {
      const program = aProgram([definition(config)], [evaluator]);
      const lifts = program.lifts?.of(await program.evaluate(step, 'pre', 'verdict'));
      return program.lifts?.change(step, 'pre', lifts?.changing ?? []);
    };
    expect(await change({})).toMatchObject({ step: { input: { a: '***', b: ['not ***', 1], bad: true } } });
    expect(await change({ spans: null })).toEqual({ problem: 'the evaluator does not say where it matches' });
  });
});
