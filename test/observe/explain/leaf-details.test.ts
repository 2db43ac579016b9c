import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { PreparedNode } from '../../../src/kernel/core/prepared-control.js';
import type { Step } from '../../../src/kernel/core/types.js';
import { celEvaluator } from '../../../src/kernel/evaluators/cel/cel.js';
import { createExpressionValues, findingsOf } from '../../../src/observe/explain/leaf-details.js';
import { aResult, aStep } from '../../kernel/core/support.js';

type Leaf = Extract<PreparedNode, { kind: 'leaf' }>;

function leafOf(expression: string, path = '*'): Leaf {
  const compiled = celEvaluator.compile({ expression });
  const part = { evaluatorName: 'cel', compiled, timeoutMs: 0, external: false, sizeBytes: 0 };
  return { kind: 'leaf', path, required: false, part, negated: false };
}

function valuesOf(expression: string, step: Partial<Step>, mayKnowAll = true) {
  const values = createExpressionValues({
    step: aStep(step),
    stage: 'pre',
    agent: null,
    nowMs: 0,
    mayKnowAll,
  });
  return values(leafOf(expression));
}

describe('the values of the parts of an expression', () => {
  it('are masked where a name says that they are secret, or a text looks so', () => {
    const input = { password: 'hunter2', note: 'card 4111111111111111' };
    const values = valuesOf("input.password + input.note != '' && size(input.password) > 3", { input });
    const text = JSON.stringify(values);
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('4111111111111111');
    expect(values.find((one) => one.text === 'size(input.password)')?.value?.text).not.toBe('7');
    expect(values[0]?.value).toMatchObject({ type: 'boolean', text: 'true' });
  });

  it('say which part failed, and why to admins only', () => {
    const step = { input: { a: 1 } };
    const failed = (mayKnowAll: boolean) =>
      valuesOf('input.b > 1', step, mayKnowAll).find(({ text }) => text === 'input.b');
    expect(failed(true)).toMatchObject({
      evaluated: true,
      value: null,
      error: expect.stringContaining('input.b'),
    });
    expect(failed(false)).toMatchObject({ evaluated: true, value: null, error: 'Internal evaluator error' });
  });

  it('say which part was not evaluated', () => {
    const values = valuesOf('input.a == 2 && input.c == 1', { input: { a: 1, c: 1 } });
    expect(values.find(({ text }) => text === 'input.c')).toMatchObject({
      evaluated: false,
      value: null,
      error: null,
    });
  });

  it('are bounded for all leaves of a reply', () => {
    const values = createExpressionValues({
      step: aStep(),
      stage: 'pre',
      agent: null,
      nowMs: 0,
      mayKnowAll: true,
    });
    const leaf = leafOf(Array.from({ length: 30 }, (_, at) => `input.q != 'x${at}'`).join(' && '));
    const counts = Array.from({ length: 300 }, () => values(leaf).length);
    expect(counts[0]).toBeGreaterThan(50);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5_000);
    expect(counts.at(-1)).toBe(0);
  });
});

describe('the findings of a leaf', () => {
  const finding = { kind: 'email', path: '/text', in_name: false, start: 3, end: 9, score: 0.9 };
  const of = (findings: unknown) => findingsOf(aResult({ metadata: { findings } as unknown as JsonObject }));

  it('are those in the metadata of its result, at most 100', () => {
    expect(of([finding])).toEqual([finding]);
    expect(of(Array.from({ length: 200 }, () => finding))).toHaveLength(100);
  });

  it('are none where an evaluator means something else by them', () => {
    expect(findingsOf(null)).toEqual([]);
    expect(findingsOf(aResult())).toEqual([]);
    for (const other of [
      7,
      'text',
      { kind: 'email' },
      [7],
      [{ ...finding, start: 'x' }],
      [{ ...finding, end: -1 }],
    ]) {
      expect(of(other)).toEqual([]);
    }
  });
});
