import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBatchWriter } from '../../../src/contract/runtime/batch-writer.js';

const FAILURE = new Error('not stored');

/** Until everything has run that waits for nothing but its turn. */
const settled = () => new Promise(setImmediate);

/** A writer of numbers in batches of at most two, over a store whose attempts are answered one by one. */
function numbers(timing: { wakeMs?: number; intervalMs?: number; shortestMs?: number } = {}) {
  const waiting: number[] = [];
  const attempts: (readonly number[])[] = [];
  const stored: number[] = [];
  const failures: unknown[] = [];
  let answer: ((isStored: boolean) => void) | undefined;
  let nowMs = 0;
  const writer = createBatchWriter<readonly number[]>({
    *take() {
      for (let left = waiting.length; left > 0; left -= 2) yield waiting.splice(0, Math.min(2, left));
    },
    store(batch) {
      if (answer !== undefined) throw new Error('two at a time');
      attempts.push(batch);
      return new Promise((resolve, reject) => {
        answer = (isStored) => {
          answer = undefined;
          if (!isStored) return reject(FAILURE);
          stored.push(...batch);
          resolve();
        };
      });
    },
    failed: (error) => failures.push(error),
    monotonic: () => nowMs,
    ...timing,
  });

  /** Answers the attempt that runs, if one does. */
  async function answerOne(isStored: boolean): Promise<void> {
    answer?.(isStored);
    await settled();
  }

  return {
    ...writer,
    isAway: () => writer.isAway,
    pending: () => writer.pending,
    pass: (ms: number) => {
      nowMs += ms;
    },
    waiting,
    attempts,
    stored,
    failures,
    answerOne,
    /** Stores all that is attempted until nothing is. */
    async storeAll() {
      await settled();
      while (answer !== undefined) await answerOne(true);
    },
  };
}

type Act = 'add' | 'flush' | 'flushLatest' | 'store' | 'refuse';
const ACTS = fc.array(
  fc.constantFrom<Act>('add', 'add', 'flush', 'flushLatest', 'store', 'store', 'refuse'),
  {
    maxLength: 60,
  },
);

describe('a batch writer', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('stores everything once, in its order and one batch at a time, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(ACTS, async (acts) => {
        const { waiting, attempts, stored, failures, ...writer } = numbers();
        let added = 0;
        let refused: readonly number[] | undefined;
        const latest: Promise<void>[] = [];
        for (const act of acts) {
          const before = attempts.length;
          if (act === 'add') waiting.push(added++);
          if (act === 'flush') void writer.flush();
          if (act === 'flushLatest') {
            const all = added;
            const done = () => (writer.isAway() ? [] : expect(stored.length).toBeGreaterThanOrEqual(all));
            latest.push(writer.flushLatest().then(() => void done()));
          }
          if (act === 'refuse' && writer.pending() !== undefined) refused = attempts.at(-1);
          if (act === 'store' || act === 'refuse') await writer.answerOne(act === 'store');
          else await settled();
          if (refused !== undefined && attempts.length > before) {
            expect(attempts[before]).toBe(refused);
            refused = undefined;
          }
        }
        const closing = writer.close();
        await writer.storeAll();
        await Promise.all([closing, ...latest]);
        expect(stored).toEqual(Array.from({ length: added }, (_, index) => index));
        expect(writer.pending()).toBeUndefined();
        expect(failures.every((error) => error === FAILURE)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('prepares every write, also while a batch cannot be stored', async () => {
    let prepared = 0;
    const { flush } = createBatchWriter({
      prepare: () => {
        prepared += 1;
      },
      take: () => [1],
      store: () => Promise.reject(FAILURE),
      failed: () => {},
    });
    await flush();
    await flush();
    expect(prepared).toBe(2);
  });

  it('writes at every interval from its start to its end', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { start, close, waiting, stored, storeAll } = numbers({ intervalMs: 1_000 });
    waiting.push(1);
    start();
    vi.advanceTimersByTime(999);
    await storeAll();
    expect(stored).toEqual([]);
    vi.advanceTimersByTime(1);
    await storeAll();
    expect(stored).toEqual([1]);
    await close();
    start();
    waiting.push(2);
    vi.advanceTimersByTime(5_000);
    await storeAll();
    expect(stored).toEqual([1]);
  });

  it('wakes once for all that comes meanwhile, and not after its end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { wake, close, waiting, attempts, storeAll } = numbers({ wakeMs: 200 });
    waiting.push(1);
    wake();
    vi.advanceTimersByTime(150);
    waiting.push(2);
    wake();
    vi.advanceTimersByTime(50);
    await storeAll();
    expect(attempts).toEqual([[1, 2]]);
    await close();
    wake();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('writes soon at most as often as it is told, not after a failure and not after its end', async () => {
    const writer = numbers({ shortestMs: 1_000 });
    const soon = async (value: number) => {
      writer.waiting.push(value);
      void writer.flushSoon();
      await settled();
    };
    await soon(1);
    await writer.storeAll();
    await soon(2);
    expect(writer.attempts).toEqual([[1]]);
    writer.pass(1_000);
    await soon(3);
    await writer.answerOne(false);
    writer.pass(1_000);
    await soon(4);
    expect(writer.attempts).toEqual([[1], [2, 3]]);
    void writer.close();
    await writer.storeAll();
    writer.pass(1_000);
    await soon(5);
    expect(writer.stored).toEqual([1, 2, 3, 4]);
  });
});
