import { describe, expect, it } from 'vitest';
import { createClosers } from '../../../src/app/process/closers.js';

describe('closers', () => {
  it('run in the reverse order, one after the other', async () => {
    const done: string[] = [];
    const closers = createClosers();
    closers.add(async () => {
      await Promise.resolve();
      done.push('first');
    });
    closers.add(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      done.push('second');
    });
    closers.add(() => done.push('third'));
    await closers.close();
    expect(done).toEqual(['third', 'second', 'first']);
  });

  it('run although one before them failed, and reject with the first failure', async () => {
    const done: string[] = [];
    const closers = createClosers();
    closers.add(() => done.push('database'));
    closers.add(() => Promise.reject(new Error('later')));
    closers.add(() => {
      throw new Error('first');
    });
    await expect(closers.close()).rejects.toThrow('first');
    expect(done).toEqual(['database']);
  });

  it('run once, and a second call waits for the same end', async () => {
    let runs = 0;
    let open: () => void = () => {};
    const closers = createClosers();
    closers.add(async () => {
      runs += 1;
      await new Promise<void>((resolve) => {
        open = resolve;
      });
    });
    const [one, other] = [closers.close(), closers.close()];
    open();
    await Promise.all([one, other]);
    expect(runs).toBe(1);
  });
});
