import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSharedTurns, mapInTurns, runInTurns } from '../../../src/decide/decisions/in-turns.js';

/** As long as the longest part of a turn. */
const STEP_MS = 2;
const STEPS = 40;

function work(): void {
  const end = performance.now() + STEP_MS;
  while (performance.now() < end);
}

async function turnsDuring(run: Promise<unknown>): Promise<number> {
  let isOver = false;
  void run.finally(() => {
    isOver = true;
  });
  let turns = 0;
  while (!isOver) {
    await nextTurn();
    turns += 1;
  }
  return turns;
}

describe('work in turns', () => {
  it('yields the event loop to others, and gives its result', async () => {
    function* steps(): Generator<void, string> {
      for (let step = 0; step < STEPS; step += 1) {
        work();
        yield;
      }
      return 'done';
    }
    const run = runInTurns(steps());
    expect(await turnsDuring(run)).toBeGreaterThan(5);
    expect(await run).toBe('done');
  });

  it('maps a list in its order', async () => {
    const items = Array.from({ length: STEPS }, (_, index) => index);
    const run = mapInTurns(items, (item) => {
      work();
      return item * 2;
    });
    expect(await turnsDuring(run)).toBeGreaterThan(5);
    expect(await run).toEqual(items.map((item) => item * 2));
  });

  it('has one part of each turn of the event loop, however much of it goes on', async () => {
    const taken: string[] = [];
    const runs = ['a', 'b', 'c'].map((name) =>
      mapInTurns([1, 2, 3], () => {
        work();
        taken.push(name);
      }),
    );
    expect(taken).toEqual(['a', 'b', 'c']);
    while (taken.length < 9) {
      const before = taken.length;
      await nextTurn();
      expect(taken.length - before).toBeLessThanOrEqual(1);
    }
    await Promise.all(runs);
    expect(taken.slice(3)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('rejects when a step throws', async () => {
    // biome-ignore lint/correctness/useYield: it fails before it could
    function* steps(): Generator<void, string> {
      throw new Error('no result');
    }
    await expect(runInTurns(steps())).rejects.toThrow('no result');
  });
});

describe('turns that evaluations share', () => {
  it('are one in each turn of the event loop, in order', async () => {
    const take = createSharedTurns();
    const taken: string[] = [];
    const evaluations = ['a', 'b', 'c'].map(async (name) => {
      for (let slice = 0; slice < 2; slice += 1) {
        await take();
        taken.push(name);
      }
    });
    let turns = 0;
    while (taken.length < 6) {
      const before = taken.length;
      await nextTurn();
      turns += 1;
      expect(taken.length - before).toBeLessThanOrEqual(1);
    }
    await Promise.all(evaluations);
    expect(turns).toBeGreaterThanOrEqual(6);
    expect(taken).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });
});
