import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Fleet, NOTHING_LOST, startFleet } from '../app/operations/rolling-fleet.js';
import { event } from '../e2e/events.support.js';
import { nextRelease } from '../e2e/migrations.support.js';
import { createTestDatabase, type TestDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { compileRevision } from '../support/released.js';
import { type CompiledService, compileService, spawnService } from '../support/service-process.js';
import { queryRow } from '../support/sql.js';

const REPLICAS = 3;
const LIMIT_MS = 900_000;

let present: CompiledService;
let database: TestDatabase;
let fleet: Fleet | undefined;
beforeAll(async () => {
  present = await compileService();
});
beforeEach(async () => {
  database = await createTestDatabase('postgresql', 'nothing');
});
afterEach(async () => {
  await fleet?.dispose();
  await database.drop();
});
afterAll(() => present.remove());

async function command(...words: string[]): Promise<string> {
  const environment = { DATABASE_URL: database.url };
  const one = await spawnService(present, { environment, arguments: words });
  const { code } = await one.ended;
  const text = one.stdout();
  await one.dispose();
  expect({ words, code, stderr: one.stderr() }).toEqual({ words, code: 0, stderr: '' });
  return text;
}

describe(`${REPLICAS} replicas on PostgreSQL`, () => {
  let next: CompiledService;
  beforeAll(async () => {
    next = await nextRelease();
  });
  afterAll(() => next.remove());

  it(
    'are upgraded to the next release and rolled back one by one without a loss',
    async () => {
      fleet = await startFleet(database.url, REPLICAS, present);
      await fleet.goesOn();
      for (const release of [next, present]) {
        for (let round = 0; round < REPLICAS; round += 1) {
          const { service, url } = await fleet.replace(release);
          // Changes are stored by both releases, and known to both.
          const agent = { agent_name: `rolled-${round}-${release === next}` };
          expect((await restClient(url)('POST', '/api/v1/agents/initAgent', { agent })).status).toBe(200);
          expect(service.stdout().includes('1 migration of a later version')).toBe(release === present);
        }
      }
      const report = await fleet.finish();
      console.log(`next release: ${report.answers} answers, ${report.published} published`);
      expect(report).toMatchObject(NOTHING_LOST);
      const [agents] = await queryRow(database.url, 'SELECT count(*)::INTEGER FROM agents');
      expect(agents).toBe(1 + 2 * REPLICAS);
    },
    LIMIT_MS,
  );
});

describe(`${REPLICAS} replicas of the last landed release on PostgreSQL`, () => {
  let old: CompiledService;
  let revision: string;
  beforeAll(async () => {
    // Any revision of the history, for example of an earlier release.
    const landed = await readFile(new URL('../../.ci/landed', import.meta.url), 'utf8');
    revision = process.env.VERIFY_OLD_RELEASE ?? landed.trim();
    old = await compileRevision(revision);
  });
  afterAll(() => old.remove());

  it(
    'are upgraded to this one one by one without a loss, and one of them back and on again',
    async () => {
      fleet = await startFleet(database.url, REPLICAS, old);
      await fleet.goesOn();
      for (let round = 0; round < REPLICAS; round += 1) {
        const newest = await fleet.replace(present);
        // The oldest one is of the old release in all rounds but the last.
        const oldest = fleet.replicas[0]?.url ?? '';
        const sent = [`by-old-${round}`, `by-new-${round}`];
        for (const [index, url] of [oldest, newest.url].entries()) {
          const events = [event({ control_execution_id: sent[index] })];
          const reply = await restClient(url)('POST', '/api/v1/observability/events', { events });
          expect(reply.body).toMatchObject({ status: 'queued', enqueued: 1 });
        }
        // Each finds what the other has stored, and knows its changes.
        const agent = { agent_name: `beside-agent-${round}` };
        expect((await restClient(oldest)('POST', '/api/v1/agents/initAgent', { agent })).status).toBe(200);
        for (const url of [oldest, newest.url]) {
          for (const id of sent) {
            const query = { control_execution_id: id };
            const { body } = await restClient(url)('POST', '/api/v1/observability/events/query', query);
            expect(body).toMatchObject({ total: 1, events: [{ control_execution_id: id }] });
          }
          const found = await restClient(url)('GET', `/api/v1/agents/${agent.agent_name}`);
          expect(found.status).toBe(200);
        }
      }
      // The way back: a replica of the old release serves again, beside the new ones.
      const back = await fleet.replace(old);
      expect((await restClient(back.url)('GET', '/api/v1/agents/beside-agent-0')).status).toBe(200);
      await fleet.goesOn();
      for (let round = 0; round < REPLICAS; round += 1) await fleet.replace(present);
      await fleet.goesOn();
      const report = await fleet.finish();
      console.log(`from ${revision}: ${report.answers} answers, ${report.published} published`);
      expect(report).toMatchObject(NOTHING_LOST);
      expect(await command('rebuild-statistics')).toMatch(/corrected 0 sums/);
      console.log(await command('verify-audit'));
    },
    LIMIT_MS,
  );
});
