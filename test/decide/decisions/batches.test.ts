import { describe, expect, it } from 'vitest';
import { createBatches } from '../../../src/decide/decisions/batches.js';
import { until } from '../../support/until.js';

/** Loads that end when the test says so. */
function loads() {
  const begun: { keys: readonly string[]; end: (how?: 'fail') => Promise<void> }[] = [];
  const load = (keys: readonly string[]): Promise<string>[] => {
    const ended = new Promise<void>((resolve, reject) => {
      begun.push({
        keys,
        end: async (how) => {
          if (how === 'fail') reject(new Error('no database'));
          else resolve();
          await turns();
        },
      });
    });
    return keys.map(async (key) => {
      await ended;
      if (key === 'bad') throw new Error('a bad key');
      return `value of ${key}`;
    });
  };
  return { begun, load };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('batches', () => {
  it('load together what is requested in one turn, each key once', async () => {
    const { begun, load } = loads();
    const get = createBatches({ load, maxSize: 10 });
    const all = Promise.all([get('a'), get('b'), get('a')]);
    await turns();
    expect(begun.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    await begun[0]?.end();
    expect(await all).toEqual(['value of a', 'value of b', 'value of a']);
  });

  it('load a key again that is requested after its load has begun', async () => {
    const { begun, load } = loads();
    const get = createBatches({ load, maxSize: 10 });
    const first = get('a');
    await turns();
    const second = get('a');
    await turns();
    expect(begun).toHaveLength(2);
    for (const { end } of begun) await end();
    expect(await Promise.all([first, second])).toEqual(['value of a', 'value of a']);
  });

  it('collect what is requested while two of them are loaded', async () => {
    const { begun, load } = loads();
    const get = createBatches({ load, maxSize: 10 });
    const all: Promise<string>[] = [];
    for (const key of ['a', 'b', 'c', 'd']) {
      all.push(get(key));
      await turns();
    }
    expect(begun.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
    await begun[0]?.end();
    expect(begun[2]?.keys).toEqual(['c', 'd']);
    for (const { end } of begun) await end();
    expect(await Promise.all(all)).toHaveLength(4);
  });

  it('are not held up by slow ones', async () => {
    const { begun, load } = loads();
    const get = createBatches({ load, maxSize: 1 });
    const all = Promise.all(['a', 'b', 'c'].map((key) => get(key)));
    await until(
      () => begun.length,
      (count) => count === 3,
    );
    for (const { end } of begun) await end();
    expect(await all).toHaveLength(3);
  });

  it('are no larger than allowed, but for a single key', async () => {
    const { begun, load } = loads();
    const get = createBatches({ load, maxSize: 3, weightOf: (key: string) => key.length });
    const all = Promise.all(['a', 'bb', 'c', 'ddddd', 'e'].map((key) => get(key)));
    for (let count = 0; count < 4; count += 1) {
      await turns();
      await begun[count]?.end();
    }
    await all;
    expect(begun.map(({ keys }) => keys)).toEqual([['a', 'bb'], ['c'], ['ddddd'], ['e']]);
  });

  it('fail for the key that is at fault, or as a whole', async () => {
    const { begun, load } = loads();
    const get = createBatches({ load, maxSize: 10 });
    const some = Promise.allSettled([get('a'), get('bad')]);
    await turns();
    await begun[0]?.end();
    expect(await some).toMatchObject([
      { status: 'fulfilled', value: 'value of a' },
      { status: 'rejected', reason: { message: 'a bad key' } },
    ]);
    const none = Promise.allSettled([get('a'), get('b')]);
    await turns();
    await begun[1]?.end('fail');
    expect((await none).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
