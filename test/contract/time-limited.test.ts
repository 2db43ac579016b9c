import { describe, expect, it } from 'vitest';
import { timeLimited } from '../../src/contract/call/time-limited.js';

const LONG_MS = 60_000;
const never = new Promise<string>(() => {});

describe('a promise with a time limit', () => {
  it('gives its result, and leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    await expect(timeLimited(Promise.resolve('done'), LONG_MS, () => 'late')).resolves.toBe('done');
    expect(timers()).toBe(before);
  });

  it('gives its error', async () => {
    const failing = Promise.reject(new Error('broken'));
    await expect(timeLimited(failing, LONG_MS, () => 'late')).rejects.toThrow('broken');
  });

  it('gives what comes instead at the limit, or its error', async () => {
    await expect(timeLimited(never, 1, () => 'late')).resolves.toBe('late');
    const refused = timeLimited(never, 1, () => {
      throw new Error('too late');
    });
    await expect(refused).rejects.toThrow('too late');
  });

  it('ignores an error after the limit', async () => {
    let fail: (error: Error) => void = () => {};
    const work = new Promise<string>((_resolve, reject) => {
      fail = reject;
    });
    await expect(timeLimited(work, 1, () => 'late')).resolves.toBe('late');
    // An unhandled rejection would fail the run.
    fail(new Error('much later'));
    await new Promise((resolve) => setImmediate(resolve));
  });
});
