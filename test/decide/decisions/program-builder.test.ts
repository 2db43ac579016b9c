import { describe, expect, it } from 'vitest';
import { createControlLibrary } from '../../../src/decide/decisions/control-library.js';
import { createProgramBuilder } from '../../../src/decide/decisions/program-builder.js';
import { serviceRegistry } from '../../support/evaluators.js';
import { denyWord } from '../../support/seed.js';

function builder() {
  const registry = serviceRegistry;
  const library = createControlLibrary({ registry, keepEvaluators: 100 });
  return createProgramBuilder({ library, newExecutionId: () => 'an-execution', onFailure: () => {} });
}

const control = (id: number, word = 'bad', name = `control-${id}`) => ({
  id,
  name,
  data: JSON.stringify(denyWord(word)),
});

describe('a program builder', () => {
  it('gives the same program for equal controls', async () => {
    const { build } = builder();
    const first = await build([control(2), control(1)]);
    expect(await build([control(2), control(1)])).toBe(first);
    expect(first.controlIds).toEqual([2, 1]);
  });

  it('gives another one when an id, a name or a definition differs', async () => {
    const { build } = builder();
    const first = await build([control(1)]);
    for (const other of [control(2), control(1, 'worse'), control(1, 'bad', 'renamed')]) {
      expect(await build([other])).not.toBe(first);
    }
    expect(await build([])).not.toBe(first);
    expect(await build([control(1)])).toBe(first);
  });

  it('replaces and removes controls of a program, without the others', async () => {
    const { build, replace } = builder();
    const first = await build([control(3), control(2), control(1)]);
    const replaced = await replace(first, [2, 9], [control(2, 'worse'), control(9)]);
    expect(replaced).toBe(await build([control(3), control(2, 'worse'), control(1)]));
    expect(replaced).not.toBe(first);
    const removed = await replace(first, [2, 3], [control(3)]);
    expect(removed).toBe(await build([control(3), control(1)]));
    expect(await replace(first, [1], [control(1)])).toBe(first);
    const others = await builder().build([control(1)]);
    expect(await replace(others, [1], [control(1)])).toBeNull();
  });
});
