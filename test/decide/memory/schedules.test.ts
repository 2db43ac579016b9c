import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createProcessStore } from '../../../src/decide/memory/process/process-store.js';
import {
  type ExchangeReply,
  type MemoryStore,
  MemoryStoreError,
} from '../../../src/decide/memory/store/memory-store.js';
import { countOf, engine, key, limited, settled, VirtualTimes } from './engine.support.js';

const FATES = ['at once', 'later', 'lost', 'refused', 'lost late', 'never'] as const;
type Fate = (typeof FATES)[number];

/** A store whose exchanges have fates: they take turns, or their reply is lost before or after they are applied. */
function fateful(store: MemoryStore, fates: readonly Fate[]): MemoryStore {
  let next = 0;
  const failed = () => new MemoryStoreError('the connection was lost');
  return {
    ...store,
    async exchange(request): Promise<ExchangeReply> {
      // Those without groups open the store and look at its clock.
      const fate = request.groups.length === 0 ? 'at once' : (fates[next++] ?? 'at once');
      if (fate === 'refused') throw failed();
      if (fate === 'lost late') {
        void settled(7).then(() => store.exchange(request));
        throw failed();
      }
      if (fate === 'never') {
        await store.exchange(request);
        return new Promise(() => {});
      }
      if (fate === 'later') await settled(3);
      const reply = await store.exchange(request);
      if (fate === 'lost') throw failed();
      return reply;
    },
  };
}

const step = fc.record({
  engine: fc.integer({ min: 0, max: 3 }),
  keys: fc.constantFrom(['a'], ['b'], ['a', 'b'], ['b', 'a']),
  id: fc.option(fc.integer({ min: 0, max: 9 })),
  pauseMs: fc.constantFrom(0, 0, 0, 1, 30),
});

it('exactly the limit passes in any schedule of processes, failures, lost replies and crashes', async () => {
  let failures = 0;
  let conflicts = 0;
  let denied = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom(...FATES), { maxLength: 12 }), { minLength: 4, maxLength: 4 }),
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 12 }),
      fc.option(fc.integer({ min: 0, max: 59 })),
      async (fates, steps, limit, crashAt) => {
        const virtual = new VirtualTimes();
        const store = createProcessStore({ clockUs: () => 1.7e15 + virtual.us });
        const engines = fates.map((ofEngine) => engine({ store: fateful(store, ofEngine), virtual }));
        const pending: Promise<unknown>[] = [];
        const passed = { a: new Set<string>(), b: new Set<string>() };
        let unsure = 0;
        for (const [index, { engine: at, keys, id, pauseMs }] of steps.entries()) {
          const isLost = crashAt !== null && index >= crashAt && at === 0;
          if (isLost) continue;
          const memory = engines[at]?.memory;
          const name = id === null ? `anonymous ${index}` : `step ${id} ${keys.join()}`;
          const stepId = id === null ? null : name;
          const answer = memory?.run(limited(limit, keys.map(key), stepId)).then((allowed) => {
            if (!allowed) unsure += 1;
            else for (const each of keys) passed[each as 'a' | 'b'].add(name);
          });
          if (answer !== undefined) pending.push(answer);
          if (pauseMs > 0) await virtual.advance(pauseMs);
        }
        let done = false;
        const all = Promise.all(pending).then(() => {
          done = true;
        });
        for (let turn = 0; turn < 200 && !done; turn += 1) await virtual.advance(100);
        await all;
        await settled(20);
        const reader = engine({ store, virtual }).memory;
        for (const name of ['a', 'b'] as const) {
          const count = await countOf(reader, key(name));
          expect(count).toBeLessThanOrEqual(limit);
          // Nothing that was acknowledged is lost; a step counts once, however often it was sent.
          expect(passed[name].size).toBeLessThanOrEqual(count);
          // What is counted without being acknowledged was answered as denied, after its reply was lost.
          expect(count - passed[name].size).toBeLessThanOrEqual(unsure);
        }
        const isCalm = fates.every((ofEngine) =>
          ofEngine.every((fate) => fate === 'at once' || fate === 'later'),
        );
        if (isCalm) expect(await countOf(reader, key('a'))).toBe(passed.a.size);
        failures += engines.reduce((sum, { counts }) => sum + counts.failures, 0);
        conflicts += engines.reduce((sum, { counts }) => sum + counts.conflicts, 0);
        denied += unsure;
      },
    ),
    { seed: 34, numRuns: 200 },
  );
  expect(failures).toBeGreaterThan(100);
  expect(conflicts).toBeGreaterThan(100);
  expect(denied).toBeGreaterThan(100);
});
