import { restClient } from '../../support/http.js';
import { denyWord, seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { AGENT, KEY, MAX_BYTES, OTHER_AGENT } from './conformance-cases.js';

/** A service with an agent that has a control and one that has none, with the lane or without. */
export async function startConforming(
  lane: boolean,
  more: Record<string, string> = {},
): Promise<TestService> {
  const service = await startService({
    SERVICE_GRPC_LANE: String(lane),
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: KEY,
    SERVICE_ADMIN_API_KEYS: 'admin-key',
    SERVICE_MAX_BODY_BYTES: String(MAX_BYTES),
    ...more,
  });
  const seed = seeder(restClient(service.url, { 'x-api-key': 'admin-key' }));
  await seed.agent(AGENT);
  await seed.agent(OTHER_AGENT);
  await seed.link(AGENT, await seed.control('no-bad', denyWord('bad')));
  return service;
}
