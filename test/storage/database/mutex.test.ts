import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMutex } from '../../../src/storage/database/mutex.js';

describe('the mutex', () => {
  it('is given in the order in which it was requested, to one at a time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { minLength: 1, maxLength: 20 }), async (pauses) => {
        const mutex = createMutex();
        const order: number[] = [];
        let holders = 0;
        const all = pauses.map(async (pause, index) => {
          const release = await mutex.acquire();
          holders += 1;
          order.push(index);
          for (let turn = 0; turn < pause; turn++) {
            await Promise.resolve();
            expect(holders).toBe(1);
          }
          holders -= 1;
          release();
        });
        await Promise.all(all);
        expect(order).toEqual(pauses.map((_, index) => index));
      }),
    );
  });

  it('refuses more waiters than allowed', async () => {
    const mutex = createMutex({ maxWaiting: 1 });
    const release = await mutex.acquire();
    const waiting = mutex.acquire();
    await expect(mutex.acquire()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      options: { retryAfterSeconds: 1 },
    });
    release();
    (await waiting)();
  });

  it('gives up on one that waits too long, and skips it afterwards', async () => {
    const mutex = createMutex({ waitLimitMs: 5 });
    const release = await mutex.acquire();
    await expect(mutex.acquire()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const next = mutex.acquire();
    release();
    (await next)();
    (await mutex.acquire())();
  });

  it('is not given twice by a second release', async () => {
    const mutex = createMutex();
    const first = await mutex.acquire();
    const second = mutex.acquire();
    const third = mutex.acquire();
    first();
    first();
    const releaseSecond = await second;
    let thirdHolds = false;
    const settled = third.then((release) => {
      thirdHolds = true;
      release();
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(thirdHolds).toBe(false);
    releaseSecond();
    await settled;
  });
});
