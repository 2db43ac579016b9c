import { describe, expect, it } from 'vitest';
import { createParts } from '../../../src/app/process/parts.js';

describe('parts', () => {
  it('start in the order in which they were added, each when the one before has', async () => {
    const done: string[] = [];
    const parts = createParts();
    parts.add({
      async start() {
        await new Promise((resolve) => setImmediate(resolve));
        done.push('first');
      },
    });
    const second = { start: () => done.push('second'), keep: () => done.push('kept'), drain: () => {} };
    expect(parts.add(second)).toBe(second);
    parts.add({ start: () => Promise.reject(new Error('cannot')) });
    parts.add({ start: () => done.push('fourth'), drain: () => done.push('drained') });
    await expect(parts.start()).rejects.toThrow('cannot');
    parts.keep();
    parts.drain();
    expect(done).toEqual(['first', 'second', 'kept', 'drained']);
  });

  it('close in the reverse order, one after the other', async () => {
    const done: string[] = [];
    const parts = createParts();
    parts.add({
      async close() {
        await Promise.resolve();
        done.push('first');
      },
    });
    parts.add({
      async close() {
        await new Promise((resolve) => setImmediate(resolve));
        done.push('second');
      },
    });
    parts.add({ close: () => done.push('third') });
    await parts.close();
    expect(done).toEqual(['third', 'second', 'first']);
  });

  it('close although one before them failed, and reject with the first failure', async () => {
    const done: string[] = [];
    const parts = createParts();
    parts.add({ close: () => done.push('database') });
    parts.add({ close: () => Promise.reject(new Error('later')) });
    parts.add({
      close() {
        throw new Error('first');
      },
    });
    await expect(parts.close()).rejects.toThrow('first');
    expect(done).toEqual(['database']);
  });

  it('close once, and a second call waits for the same end', async () => {
    let runs = 0;
    let open: () => void = () => {};
    const parts = createParts();
    parts.add({
      async close() {
        runs += 1;
        await new Promise<void>((resolve) => {
          open = resolve;
        });
      },
    });
    const [one, other] = [parts.close(), parts.close()];
    open();
    await Promise.all([one, other]);
    expect(runs).toBe(1);
  });
});
