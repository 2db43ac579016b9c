import { describe, expect, it } from 'vitest';
import { createWorkLimit } from '../../../src/manage/configuration/work-limit.js';
import { unavailable } from '../../../src/storage/database/errors.js';

describe('The limit of work in a transaction', () => {
  const LIMIT_MS = 5_000;
  let nowMs = 0;
  const begun = (lastedMs: number) => {
    const limit = createWorkLimit(LIMIT_MS, () => nowMs);
    limit.begin();
    nowMs += lastedMs;
    return limit;
  };
  const tooLarge = expect.objectContaining({
    code: 'PAYLOAD_TOO_LARGE',
    message: expect.stringContaining('longer than the 5 seconds'),
  });

  it('ends work that takes longer, and nothing else', () => {
    expect(begun(LIMIT_MS).demandTime()).toBeUndefined();
    expect(() => begun(LIMIT_MS + 1).demandTime()).toThrow(tooLarge);
  });

  it('is what ended work that the database has ended late', () => {
    const ended = unavailable('The database took too long to make the change.');
    expect(begun(LIMIT_MS - 1).meaningOf(ended)).toEqual(tooLarge);
    expect(begun(LIMIT_MS / 2).meaningOf(ended)).toBe(ended);
    expect(createWorkLimit(LIMIT_MS, () => 10 * LIMIT_MS).meaningOf(ended)).toBe(ended);
    const other = new Error('another one');
    expect(begun(2 * LIMIT_MS).meaningOf(other)).toBe(other);
  });
});
