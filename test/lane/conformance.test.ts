import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restClient } from '../support/rest-client.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { AGENT, CASES, KEY, MAX_BYTES, OTHER_AGENT, TIMEOUT_SECONDS } from './conformance-cases.js';
import { play } from './exchange.js';

async function start(lane: boolean): Promise<TestService> {
  const service = await startService({
    SERVICE_GRPC_HOT_LANE: String(lane),
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: KEY,
    SERVICE_ADMIN_API_KEYS: 'admin-key',
    SERVICE_MAX_BODY_BYTES: String(MAX_BYTES),
    SERVICE_REQUEST_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS),
  });
  const call = restClient(service.url, { 'x-api-key': 'admin-key' });
  const seed = seeder(call);
  await seed.agent(AGENT);
  await seed.agent(OTHER_AGENT);
  await seed.link(AGENT, await seed.control('no-bad', denyWord('bad')));
  return service;
}

describe('a client that speaks plain gRPC', () => {
  let withLane: TestService;
  let without: TestService;
  beforeAll(async () => {
    [withLane, without] = await Promise.all([start(true), start(false)]);
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
