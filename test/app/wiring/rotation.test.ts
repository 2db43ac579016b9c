import { expect, it } from 'vitest';
import { rotate } from '../../support/rotation.js';

it('fails no call but those with withdrawn keys while keys and certificates change every second', async () => {
  const { rounds, failed, succeeded, ends, refusedAfterMs, endedAfterMs, certificates } = await rotate(6);
  expect(failed).toEqual([]);
  const protocols = ['REST', 'gRPC', 'gRPC-Web', 'Connect', 'gRPC stream', 'Connect stream'];
  expect(Object.keys(succeeded)).toEqual(protocols);
  for (const count of Object.values(succeeded)) expect(count).toBeGreaterThan(0);
  expect([...ends]).toEqual(['Unauthenticated']);
  // Each withdrawal was waited for; how long it took is measured by `npm run verify:long -- rotation`.
  expect([refusedAfterMs.length, endedAfterMs.length]).toEqual([rounds, rounds]);
  expect(certificates.size).toBe(2);
});
