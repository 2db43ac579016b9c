import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pauseMs } from '../../packages/client/src/pause.js';

it('pauses grow up to a bound, are spread over it, and respect what the service requests', () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(10_000), part, (failures, asked, random) => {
      const bound = Math.min(2_000, 25 * 2 ** failures);
      const pause = pauseMs(failures, asked, () => random);
      expect(pause).toBeGreaterThanOrEqual(Math.min(asked, 2_000));
      expect(pause - Math.min(asked, 2_000)).toBeCloseTo(random * bound, 6);
    }),
  );
});
