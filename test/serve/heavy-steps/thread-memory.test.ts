import { describe, expect, it } from 'vitest';
import type { ForeignMemory } from '../../../src/decide/memory/memory-types.js';
import type { MemoryPlan } from '../../../src/kernel/core/memory.js';
import { answerMemory, createThreadMemory } from '../../../src/serve/heavy-steps/thread-memory.js';
import type { FromThread } from '../../../src/serve/heavy-steps/thread-messages.js';
import { countOf, engine, identity, key, limited } from '../../decide/memory/engine.support.js';

/** The memory of a thread whose messages pass on as between threads. */
async function threadOf(foreign: ForeignMemory | undefined, hashKey: Uint8Array = new Uint8Array(32)) {
  const sent: FromThread[] = [];
  const thread = createThreadMemory((message) => {
    const arrived = structuredClone(message);
    sent.push(arrived);
    if (!('memory' in arrived)) throw new Error('a thread asks the memory only');
    void answerMemory(foreign, arrived.memory, arrived.question).then((reply) => {
      const back = structuredClone(reply);
      if ('memory' in back) thread.answered(back.memory, back.answer);
    });
  });
  const { memory } = thread.remembered(identity(), hashKey, false);
  return { run: <T>(plan: MemoryPlan<T>, signal?: AbortSignal) => memory.run(plan, signal), memory, sent };
}

describe('the memory of a thread', () => {
  it('hashes as that of the process does', async () => {
    const { memory } = engine();
    const { memory: inThread } = await threadOf(memory.foreign, await memory.foreign.hashKey());
    const [own, other] = [await memory.ready(), await inThread.ready()];
    expect(other('some text')).toBe(own('some text'));
  });

  it('lets exactly the limit pass, together with steps of the process', async () => {
    const { memory } = engine();
    const { run, sent } = await threadOf(memory.foreign);
    const steps = Array.from({ length: 60 }, (_, index) => {
      const plan = limited(25, [key('a')], `step-${index}`);
      return index % 2 === 0 ? run(plan) : memory.run(plan);
    });
    const allowed = (await Promise.all(steps)).filter((passed) => passed);
    expect(allowed).toHaveLength(25);
    // Steps that were decided together had to be decided again.
    expect(sent.length).toBeGreaterThan(60);
  });

  it('counts a step with the same id once', async () => {
    const { memory } = engine();
    const { run } = await threadOf(memory.foreign);
    const again = () => run(limited(1, [key('a')], 'the-same'));
    expect([await again(), await again(), await run(limited(1, [key('a')], 'another'))]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('adds nothing for a caller that has left', async () => {
    const { memory } = engine();
    const { run } = await threadOf(memory.foreign);
    const aborter = new AbortController();
    const step = run(limited(1, [key('a')], 'left'), aborter.signal);
    aborter.abort(new Error('the caller left'));
    await expect(step).rejects.toThrow('the caller left');
    expect(await run(limited(1, [key('a')], 'next'))).toBe(true);
  });

  it('decides without the store once others were faster 64 times', async () => {
    const { memory, counts, lines } = engine();
    const sources: string[] = [];
    let others = 0;
    const contended: ForeignMemory = {
      ...memory.foreign,
      async load(request) {
        const loaded = await memory.foreign.load(request);
        sources.push(loaded.view.source);
        others += 1;
        await memory.run(limited(1_000, [key('a')], `other-${others}`));
        return loaded;
      },
    };
    const { run } = await threadOf(contended);
    // Like a control that may not decide without the store.
    expect(await run(limited(1_000, [key('a')], 'unlucky'))).toBe(false);
    expect(sources).toEqual([...Array(64).fill('store'), 'local']);
    expect(lines).toContain('warn memory conflicts');
    expect(counts.local).toBeGreaterThan(0);
    expect(await countOf(memory, key('a'))).toBe(others);
  });

  it('says why it cannot answer', async () => {
    const { run } = await threadOf(undefined);
    await expect(run(limited(1, [key('a')]))).rejects.toThrow('there is no memory');
  });
});
