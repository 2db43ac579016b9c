import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { createControlLibrary } from '../../../src/decide/decisions/control-library.js';
import { WeakStore } from '../../../src/decide/decisions/weak-store.js';
import type { Evaluator } from '../../../src/kernel/core/evaluator.js';
import { linkProgram } from '../../../src/kernel/core/program.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import { aDefinition, aLeaf, aResult, aStep, fakeEvaluator } from '../../kernel/core/support.js';

/** A library with an evaluator that counts its compilations. */
function counting() {
  const compiled: JsonObject[] = [];
  const fake = fakeEvaluator('counted', () => aResult());
  const evaluator: Evaluator = {
    ...fake,
    compile(config) {
      compiled.push(config);
      return fake.compile(config);
    },
  };
  const registry = createRegistry([evaluator]);
  return { compiled, library: createControlLibrary({ registry, keepEvaluators: 100 }) };
}

const stored = (config: JsonObject, more: JsonObject = {}) =>
  JSON.stringify(aDefinition(aLeaf('counted', config), 'deny', more));

describe('a control library', () => {
  it('prepares a definition once, for whatever agents', () => {
    const { library, compiled } = counting();
    const first = library.prepare(stored({ a: 1 }));
    expect(library.prepare(stored({ a: 1 }))).toBe(first);
    expect(compiled).toHaveLength(1);
  });

  it('compiles an evaluator once, in whatever definitions', () => {
    const { library, compiled } = counting();
    library.prepare(stored({ a: 1 }));
    library.prepare(stored({ a: 1 }, { description: 'another' }));
    library.prepare(stored({ a: 2 }));
    expect(compiled).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it('keeps configurations apart whose members come in another order', () => {
    const { library, compiled } = counting();
    library.prepare(stored({ a: 1, b: 2 }));
    library.prepare(stored({ b: 2, a: 1 }));
    expect(compiled).toHaveLength(2);
  });

  it('makes text that is no JSON a control that fails closed, and reports that in every program', () => {
    const { library } = counting();
    const problems: string[] = [];
    for (const name of ['one', 'two']) {
      const program = linkProgram([{ id: 1, name, prepared: library.prepare('{"condition"') }], {
        newExecutionId: () => 'id',
        onFailure: ({ controlName }) => problems.push(controlName),
      });
      expect(program.evaluate(aStep(), 'pre', 'verdict')).toMatchObject({ is_safe: false });
    }
    expect(problems).toEqual(['one', 'two']);
  });
});

describe('a weak store', () => {
  const part = (sizeBytes: number) => ({ sizeBytes });

  it('finds a part by its content as long as it is held', () => {
    const store = new WeakStore({ keep: 0, keepBytes: 0 });
    const held = part(1);
    store.set('key', held);
    expect(store.get('key')).toBe(held);
    expect(store.get('another')).toBeUndefined();
    expect(store.kept).toBe(0);
  });

  it('keeps the parts used last, within a number and within bytes', () => {
    const store = new WeakStore({ keep: 3, keepBytes: 100 });
    for (const key of ['a', 'b', 'c', 'd']) store.set(key, part(10));
    expect(store.kept).toBe(3);
    store.set('large', part(90));
    expect(store.kept).toBe(2);
    store.set('too large', part(101));
    expect(store.kept).toBe(0);
  });
});
