import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { event } from '../e2e/events.support.js';
import { nextRelease } from '../e2e/migrations.support.js';
import { type Fleet, NOTHING_LOST, startFleet } from '../operations/rolling-fleet.js';
import { createTestDatabase, type TestDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { compileRevision, landedRevision } from '../support/released.js';
import { type CompiledService, compileService, spawnService } from '../support/service-process.js';
import { queryRow } from '../support/sql.js';
import { until } from '../support/until.js';

const REPLICAS = 3;
const LIMIT_MS = 900_000;
/** Events of the old release stay where they are until this one is over: longer than the upgrade takes. */
const TAKEOVER_S = '600';

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
    revision = process.env.VERIFY_OLD_RELEASE ?? (await landedRevision());
    old = await compileRevision(revision);
  });
  afterAll(() => old.remove());

  it(
    'are upgraded to this one one by one without a loss; the way back is refused, and harms nothing',
    async () => {
      fleet = await startFleet(database.url, REPLICAS, old);
      await fleet.goesOn();
      const takesOverLater = { SERVICE_EVENT_TAKEOVER_SECONDS: TAKEOVER_S };
      for (let round = 0; round < REPLICAS; round += 1) {
        const newest = await fleet.replace(present, takesOverLater);
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
      // Releases up to 7.7.0 refuse every migration that they do not know, also while others of them still run.
      const refused = await fleet.spawn(old);
      expect((await refused.ended).code).toBe(1);
      const said = /"msg":"(the service cannot start[^"]*)/.exec(refused.stdout())?.[1];
      console.log(`${revision} says: ${said}`);
      expect(said).toMatch(/20261206000000_event_segments/);
      await fleet.goesOn();
      // The events of the old release are taken over under load, once no process of it runs.
      const last = await fleet.replace(present, { SERVICE_EVENT_TAKEOVER_SECONDS: '0' });
      await until(
        () =>
          queryRow(
            database.url,
            'SELECT (SELECT COUNT(*) FROM event_segments)::INTEGER, (SELECT COUNT(*) FROM event_segments WHERE is_old = 1)::INTEGER',
          ),
        ([all, left]) => Number(all) > 0 && left === 0,
      );
      expect(last.service.stdout()).not.toMatch(/"level":[56]0/);
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
