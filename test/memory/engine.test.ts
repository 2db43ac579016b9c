import { describe, expect, it } from 'vitest';
import { createProcessStore } from '../../src/memory/process/process-store.js';
import { countOf, engine, key, limited } from './engine.support.js';

describe('decisions with memory', () => {
  it('exactly the limit passes among processes that share a store', async () => {
    const store = createProcessStore({ clockUs: () => 1.7e15 + performance.now() * 1_000 });
    const engines = [1, 2, 3, 4].map(() => engine({ store }));
    const plans = Array.from({ length: 400 }, (_, index) =>
      engines[index % 4]?.memory.run(limited(40, [key('shared')])),
    );
    const results = await Promise.all(plans);
    expect(results.filter((allowed) => allowed)).toHaveLength(40);
    expect(await countOf(engine({ store }).memory, key('shared'))).toBe(40);
  });

  it('a thousand plans on one key take few exchanges', async () => {
    const { memory, counts } = engine();
    const results = await Promise.all(
      Array.from({ length: 1_000 }, () => memory.run(limited(700, [key('hot')]))),
    );
    expect(results.filter((allowed) => allowed)).toHaveLength(700);
    expect(counts.exchanges).toBeLessThan(20);
  });
});
