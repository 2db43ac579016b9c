import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restClient } from '../../../support/http.js';
import { denyWord, seeder } from '../../../support/seed.js';
import { startService, type TestService } from '../../../support/service.js';
import { ADMIN_KEY, AGENT, CASES, KEY, MAX_BYTES, OTHER_AGENT } from './cases.js';
import { rawExchange, type Sent } from './raw-exchange.js';

/** A service with an agent that has controls and one that has none, with the lane or without. */
async function start(lane: boolean, more: Record<string, string>): Promise<TestService> {
  const service = await startService({
    SERVICE_REST_LANE: String(lane),
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: KEY,
    SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
    SERVICE_MAX_BODY_BYTES: String(MAX_BYTES),
    SERVICE_MIN_REVISION_WAIT_SECONDS: '0.1',
    ...more,
  });
  const seed = seeder(restClient(service.url, { 'x-api-key': ADMIN_KEY }));
  await seed.agent(AGENT);
  await seed.agent(OTHER_AGENT);
  const action = { decision: 'steer', steering_context: { message: 'é' } };
  await seed.link(AGENT, await seed.control('no-bad', denyWord('bad')));
  await seed.link(AGENT, await seed.control('not-quoted', denyWord('quotes', { action })));
  const either = [denyWord('one').condition, denyWord('other').condition];
  await seed.link(AGENT, await seed.control('either', denyWord('', { condition: { or: either } })));
  return service;
}

/** Replies as they came, but for what no two of them share. */
async function seen(service: TestService, sent: Sent): Promise<string> {
  const bytes = await rawExchange(service.url, sent);
  return bytes
    .toString('latin1')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '(id)')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+\+00:00/g, '(time)')
    .replaceAll(/\r\nDate: [^\r]+/gi, '\r\nDate: (date)')
    .replaceAll(`:${service.port}`, ':(port)');
}

describe.each([
  ['of any origin', {}],
  ['of listed origins', { SERVICE_CORS_ORIGINS: 'http://listed.example,http://other.example' }],
])('a client that uses HTTP/1.1, where pages %s may call,', (_, more) => {
  let withLane: TestService;
  let without: TestService;
  beforeAll(async () => {
    [withLane, without] = await Promise.all([start(true, more), start(false, more)]);
  });
  afterAll(() => Promise.all([withLane.stop(), without.stop()]));

  it('has more than ninety cases, each with a name of its own', () => {
    expect(new Set(CASES.map(({ what }) => what)).size).toBe(CASES.length);
    expect(CASES.length).toBeGreaterThan(90);
  });

  it.each(CASES)('sees the same with the lane and without: $what', async ({ sent, statuses }) => {
    const [fast, reference] = await Promise.all([seen(withLane, sent), seen(without, sent)]);
    expect(fast).toBe(reference);
    expect([...fast.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))).toEqual(statuses);
  });
});
