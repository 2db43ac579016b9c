import { describe, expect, it } from 'vitest';
import { createProcessStore } from '../../../src/decide/memory/process/process-store.js';
import type { MemoryPlan } from '../../../src/kernel/core/memory.js';
import { countOf, engine, key, limited, settled, VirtualTimes } from './engine.support.js';

const HOUR_MS = 3_600_000;

/** A memory with room for few keys, whose store has the time of the virtual clock. */
function small(options: { readonly maxKeys?: number; readonly maxBytes?: number } = {}) {
  const virtual = new VirtualTimes();
  const store = createProcessStore({ clockUs: () => 1.7e15 + virtual.us });
  return { ...engine({ store, virtual, maxKeys: 8, ...options }), store, virtual };
}

const byAgent = (agent: string, name: string, limit = 2): MemoryPlan<boolean> => {
  const plan = limited(limit, [key(name)]);
  return { ...plan, identity: { ...plan.identity, agent } };
};

describe('room for keys', () => {
  it('an agent begins a quarter of the keys of its namespace, and others have theirs', async () => {
    const { memory, counts, lines, virtual } = small();
    const begins = (agent: string, ...names: string[]) =>
      Promise.all(names.map((name) => memory.run(byAgent(agent, name))));
    expect(await begins('one', '1', '2', '3', '4')).toEqual([true, true, false, false]);
    expect(await begins('two', '5', '6', '7')).toEqual([true, true, false]);
    // Keys that exist count on, whoever began them, up to their limit.
    expect(await begins('one', '5', '5', '1')).toEqual([true, false, true]);
    expect(await begins('three', '3', '4')).toEqual([true, true]);
    expect(await begins('four', '7', '8')).toEqual([true, true]);
    expect(await begins('five', '9')).toEqual([false]);
    await virtual.advance(60_000);
    expect(counts.keysRefused).toBeGreaterThanOrEqual(4);
    expect(lines).toContain('warn memory full');
    expect(memory.troubles().isFull).toBe(true);
  });

  it('nothing is forgotten for the keys of another agent, whatever it sends', async () => {
    const { memory, virtual } = small();
    expect(await memory.run(byAgent('spender', 'budget', 1))).toBe(true);
    for (let round = 0; round < 3; round += 1) {
      const names = Array.from({ length: 300 }, (_, index) => `flood ${round} ${index}`);
      await Promise.all(names.map((name) => memory.run(byAgent('flooding', name))));
      await virtual.advance(60_000);
    }
    expect(await memory.run(byAgent('spender', 'budget', 1))).toBe(false);
    expect(await countOf(memory, key('budget'))).toBe(1);
    expect(memory.status('default')).toMatchObject({ cells: 3, evicted: 0 });
  });

  it('keys that expire make room', async () => {
    const { memory, virtual } = small();
    for (const name of ['1', '2']) expect(await memory.run(byAgent('one', name))).toBe(true);
    expect(await memory.run(byAgent('one', '3'))).toBe(false);
    await virtual.advance(3 * HOUR_MS);
    expect(await memory.run(byAgent('one', '3'))).toBe(true);
  });

  it('bytes bound a namespace too, and namespaces do not count for each other', async () => {
    const { memory, virtual } = small({ maxKeys: 1_000, maxBytes: 40 });
    expect(await memory.run(byAgent('one', '1'))).toBe(true);
    await virtual.advance(60_000);
    expect(await memory.run(byAgent('two', '2'))).toBe(false);
    const plan = byAgent('two', '2');
    expect(await memory.run({ ...plan, identity: { ...plan.identity, namespace: 'other' } })).toBe(true);
  });

  it('a process that starts knows what is kept before it counts', async () => {
    const { store, virtual, memory } = small();
    for (const name of ['1', '2']) await memory.run(byAgent('one', name));
    const next = engine({ store, virtual, maxKeys: 8 });
    expect(await next.memory.run(byAgent('two', '1'))).toBe(true);
    await settled();
    expect(await next.memory.run(byAgent('one', '3'))).toBe(false);
  });

  it('marks of denied steps have twice the room, so that their ends are not counted', async () => {
    const { memory } = small();
    const denied = (step: number): MemoryPlan<boolean> => {
      const plan = limited(0, [key('one')], `step ${step}`);
      return { ...plan, identity: { ...plan.identity, sessionId: `session ${step}` }, marksDenied: true };
    };
    const wasDenied = (step: number): Promise<boolean> =>
      memory.run({
        ...denied(step),
        stage: 'post',
        decide: (view) => ({ value: view.wasDenied, allowed: true, additions: [] }),
      });
    for (const step of [1, 2, 3, 4, 5, 6]) expect(await memory.run(denied(step))).toBe(false);
    for (const step of [1, 2, 3, 4]) expect(await wasDenied(step)).toBe(true);
    for (const step of [5, 6]) expect(await wasDenied(step)).toBe(false);
  });
});
