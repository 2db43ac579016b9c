import { afterAll, beforeAll, expect, it } from 'vitest';
import { nextRelease } from '../../e2e/migrations.support.js';
import { createTestDatabase, type TestDatabase } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { type CompiledService, compileService } from '../../support/service-process.js';
import { type Fleet, NOTHING_LOST, startFleet } from './rolling-fleet.js';

let present: CompiledService;
let next: CompiledService;
let database: TestDatabase;
let fleet: Fleet | undefined;
beforeAll(async () => {
  present = await compileService();
  next = await nextRelease();
  database = await createTestDatabase('postgresql', 'nothing');
});
afterAll(async () => {
  await fleet?.dispose();
  await database.drop();
  await next.remove();
  await present.remove();
});

it('a release with a further migration runs beside the one before, and can be taken back, without a loss', async () => {
  fleet = await startFleet(database.url, 2, present);
  await fleet.goesOn();
  const upgraded = await fleet.replace(next);
  // A change that one release stores is known to the other.
  const [before] = fleet.replicas;
  const agent = { agent_name: 'agent-of-the-next-release' };
  const stored = await restClient(upgraded.url)('POST', '/api/v1/agents/initAgent', { agent });
  expect(stored.status).toBe(200);
  expect((await restClient(before?.url ?? '')('GET', `/api/v1/agents/${agent.agent_name}`)).status).toBe(200);
  await fleet.replace(next);
  const back = await fleet.replace(present);
  expect(back.service.stdout()).toContain('1 migration of a later version');
  const report = await fleet.finish();
  expect(report).toMatchObject(NOTHING_LOST);
  expect(report.answers).toBeGreaterThan(0);
  expect(report.published).toBeGreaterThan(0);
});
