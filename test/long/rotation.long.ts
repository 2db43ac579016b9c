import { expect, it } from 'vitest';
import { rotate } from '../support/rotation.js';

const SECONDS = 60;
const LIMIT_MS = 1_000;

it('rotates keys and certificates every second for a minute without a failed call', async () => {
  const { failed, succeeded, ends, refusedAfterMs, endedAfterMs, certificates } = await rotate(SECONDS);
  const longest = (times: readonly number[]) => Math.round(Math.max(...times));
  const [refused, ended] = [longest(refusedAfterMs), longest(endedAfterMs)];
  console.log(
    JSON.stringify({ succeeded, failed: failed.length, refused, ended, keys: refusedAfterMs.length }),
  );
  expect(failed).toEqual([]);
  expect([...ends]).toEqual(['Unauthenticated']);
  expect(certificates.size).toBe(2);
  expect(refused).toBeLessThan(LIMIT_MS);
  expect(ended).toBeLessThan(LIMIT_MS);
}, 600_000);
