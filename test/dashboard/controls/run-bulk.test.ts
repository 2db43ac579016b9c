import { describe, expect, it } from 'vitest';
import { runBulk } from '../../../packages/dashboard/src/controls/bulk/run-bulk.js';

const never = () => new AbortController().signal;

describe('a bulk action', () => {
  it('has a result for each item, in their order, whether others fail or not', async () => {
    const progress: number[] = [];
    const results = await runBulk({
      items: [1, 2, 3, 4, 5, 6],
      act: async (item) => {
        if (item % 3 === 0) throw new Error(`no ${item}`);
      },
      signal: never(),
      onProgress: (finished) => progress.push(finished),
    });
    expect(results.map(({ item, kind }) => [item, kind])).toEqual([
      [1, 'done'],
      [2, 'done'],
      [3, 'failed'],
      [4, 'done'],
      [5, 'done'],
      [6, 'failed'],
    ]);
    expect(results[2]).toMatchObject({ error: new Error('no 3') });
    expect(progress).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('runs a few items at once', async () => {
    let [running, most] = [0, 0];
    await runBulk({
      items: Array.from({ length: 20 }, (_, index) => index),
      act: async () => {
        running += 1;
        most = Math.max(most, running);
        await Promise.resolve();
        running -= 1;
      },
      signal: never(),
      atOnce: 3,
    });
    expect(most).toBe(3);
  });

  it('starts nothing more when it is stopped, and says what was not started', async () => {
    const stop = new AbortController();
    const results = await runBulk({
      items: ['a', 'b', 'c', 'd'],
      act: async (item) => {
        if (item === 'b') stop.abort();
      },
      signal: stop.signal,
      atOnce: 1,
    });
    expect(results.map(({ kind }) => kind)).toEqual(['done', 'done', 'not started', 'not started']);
  });
});
