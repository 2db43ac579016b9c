import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withGrowingTime } from '../../support/growing-time.js';
import type { TestService } from '../../support/service.js';
import { CASES, type Case, TIMEOUT_SECONDS } from './conformance-cases.js';
import { startConforming } from './conforming-service.js';
import { type Exchange, play } from './exchange.js';

describe('a client that uses plain gRPC', () => {
  it('has more than sixty cases, each with a name of its own', () => {
    expect(new Set(CASES.map(({ what }) => what)).size).toBe(CASES.length);
    expect(CASES.length).toBeGreaterThan(60);
  });

  const isOpen = ({ exchange }: Case) => !exchange.actions.includes('end');
  sees(
    'has all the time it needs',
    {},
    CASES.filter((one) => !isOpen(one)),
  );
  // What never ends is given up, also after it was refused.
  sees(
    'leaves its body open',
    { SERVICE_REQUEST_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) },
    CASES.filter(isOpen),
  );
});

/** Compares what cases see with the lane and without. */
function sees(name: string, settings: Record<string, string>, cases: readonly Case[]): void {
  describe(name, () => {
    let withLane: TestService;
    let without: TestService;
    beforeAll(async () => {
      [withLane, without] = await Promise.all([
        startConforming(true, settings),
        startConforming(false, settings),
      ]);
    });
    afterAll(async () => {
      await Promise.all([withLane.stop(), without.stop()]);
    });

    async function compare(exchange: Exchange, expected: Case['expected']): Promise<void> {
      const [seen, reference] = await Promise.all([
        play(withLane.url, exchange),
        play(without.url, exchange),
      ]);
      if (expected === 'reset') expect(seen.rstCode).not.toBe(0);
      else if ('http' in expected) expect(seen.headers).toMatchObject({ ':status': expected.http });
      else expect(seen.trailers ?? seen.headers).toMatchObject({ 'grpc-status': String(expected.grpc) });
      expect(seen).toEqual(reference);
    }

    it.each(cases)('$what, the same with the lane and without', ({ exchange, expected, deadlineMs }) => {
      if (deadlineMs === undefined) return compare(exchange, expected);
      return withGrowingTime(deadlineMs, (ms) =>
        compare({ ...exchange, headers: { ...exchange.headers, 'grpc-timeout': `${ms}m` } }, expected),
      );
    });
  });
}
