import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '../../support/service.js';
import { CASES } from './conformance-cases.js';
import { startConforming } from './conforming-service.js';
import { play } from './exchange.js';

describe('a client that uses plain gRPC', () => {
  let withLane: TestService;
  let without: TestService;
  beforeAll(async () => {
    [withLane, without] = await Promise.all([startConforming(true), startConforming(false)]);
  });
  afterAll(async () => {
    await Promise.all([withLane.stop(), without.stop()]);
  });

  it('has more than sixty cases, each with a name of its own', () => {
    expect(new Set(CASES.map(({ what }) => what)).size).toBe(CASES.length);
    expect(CASES.length).toBeGreaterThan(60);
  });

  it.each(CASES)('$what, the same with the lane and without', async ({ exchange, expected }) => {
    const [seen, reference] = await Promise.all([play(withLane.url, exchange), play(without.url, exchange)]);
    if (expected === 'reset') expect(seen.rstCode).not.toBe(0);
    else if ('http' in expected) expect(seen.headers).toMatchObject({ ':status': expected.http });
    else expect(seen.trailers ?? seen.headers).toMatchObject({ 'grpc-status': String(expected.grpc) });
    expect(seen).toEqual(reference);
  });
});
