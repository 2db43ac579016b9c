import { describe, expect, it } from 'vitest';
import { createProcessStore } from '../../../src/decide/memory/process/process-store.js';
import { MemoryStoreError } from '../../../src/decide/memory/store/memory-store.js';
import { countOf, engine, key, limited, settled, VirtualTimes } from './engine.support.js';

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
    // An exchange takes what has come in some milliseconds, which a busy machine would make many.
    const { memory, counts } = engine({ virtual: new VirtualTimes() });
    const results = await Promise.all(
      Array.from({ length: 1_000 }, () => memory.run(limited(700, [key('hot')]))),
    );
    expect(results.filter((allowed) => allowed)).toHaveLength(700);
    expect(counts.exchanges).toBeLessThan(20);
  });

  it('a decision that throws fails its own step alone', async () => {
    const { memory } = engine();
    const broken = {
      ...limited(5, [key('a')]),
      decide: () => {
        throw new Error('broken');
      },
    };
    const [first, second, third] = await Promise.allSettled([
      memory.run(limited(5, [key('a')])),
      memory.run(broken),
      memory.run(limited(5, [key('a')])),
    ]);
    expect([first?.status, second?.status, third?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await countOf(memory, key('a'))).toBe(2);
  });

  it('a step that is aborted before it is sent counts nothing', async () => {
    const { memory } = engine();
    const controller = new AbortController();
    const run = memory.run(limited(5, [key('a')]), controller.signal);
    controller.abort(new Error('gone'));
    await expect(run).rejects.toThrow('gone');
    expect(await countOf(memory, key('a'))).toBe(0);
  });

  it('a denial and a reset are seen by processes that knew something else', async () => {
    const store = createProcessStore({ clockUs: () => 1.7e15 + performance.now() * 1_000 });
    const [one, two] = [engine({ store }).memory, engine({ store }).memory];
    expect(await one.run(limited(1, [key('a')]))).toBe(true);
    expect(await two.run(limited(1, [key('a')]))).toBe(false);
    expect(await one.resetKey('default', key('a'), null)).toBe(true);
    expect(await one.resetKey('default', key('b'), null)).toBe(false);
    expect(await two.run(limited(1, [key('a')]))).toBe(true);
    expect(await one.run(limited(1, [key('a')]))).toBe(false);
  });

  it('the same step counts once', async () => {
    const { memory } = engine();
    const plans = Array.from({ length: 50 }, () => memory.run(limited(3, [key('a')], 'step')));
    expect(await Promise.all(plans)).not.toContain(false);
    expect(await countOf(memory, key('a'))).toBe(1);
  });

  it('without the store steps are decided at once, and with it again when it answers', async () => {
    const virtual = new VirtualTimes();
    const store = createProcessStore({ clockUs: () => 1.7e15 + virtual.us });
    let isAway = false;
    const flaky = {
      ...store,
      exchange: (...of: Parameters<typeof store.exchange>) =>
        isAway ? Promise.reject(new MemoryStoreError('away')) : store.exchange(...of),
    };
    const { memory, counts } = engine({ store: flaky, virtual });
    expect(await memory.run(limited(3, [key('a')]))).toBe(true);
    isAway = true;
    const denied = memory.run(limited(3, [key('a')]));
    await virtual.advance(5_000);
    expect(await denied).toBe(false);
    expect(counts.local).toBe(1);
    expect(memory.status('default')).toMatchObject({ isAvailable: false, problem: 'away' });
    expect(await memory.run(limited(3, [key('a')]))).toBe(false);
    isAway = false;
    await virtual.advance(5_000);
    expect(memory.status('default').isAvailable).toBe(true);
    expect(await memory.run(limited(3, [key('a')]))).toBe(true);
    expect(await countOf(memory, key('a'))).toBe(2);
  });

  it('a checkpoint that cannot be read is made anew of the ledger', async () => {
    const store = createProcessStore({ clockUs: () => 1.7e15 + performance.now() * 1_000 });
    const one = engine({ store }).memory;
    for (let count = 0; count < 40; count += 1) await one.run(limited(100, [key('a')]));
    const kept = await one.readKey('default', key('a'));
    const id = kept?.id ?? '';
    await store.repair('default', id, 40, '{"broken');
    const two = engine({ store });
    expect(await two.memory.run(limited(100, [key('a')]))).toBe(true);
    await settled();
    expect(two.lines).toContain('error memory damage');
    expect(await countOf(two.memory, key('a'))).toBe(41);
    expect(two.memory.troubles().damagedKeys).toBe(0);
  });
});
