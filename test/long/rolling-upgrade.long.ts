import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../packages/client/src/node.js';
import { PATIENT_MS, seedAgent } from '../client/client-harness.js';
import { keepAsking } from '../client/keep-asking.js';
import { startTcpBalancer } from '../client/tcp-balancer.js';
import { nextRelease } from '../e2e/migrations.support.js';
import { createTestDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import {
  type CompiledService,
  compileService,
  type ServiceProcess,
  spawnService,
} from '../support/service-process.js';
import { queryRow } from '../support/sql.js';
import { until } from '../support/until.js';

const REPLICAS = 3;
const MORE = 200;
const LIMIT_MS = 600_000;

describe('three replicas on PostgreSQL', () => {
  let present: CompiledService;
  let next: CompiledService;
  const running = new Set<ServiceProcess>();
  beforeAll(async () => {
    present = await compileService();
    next = await nextRelease(present);
  });
  afterAll(async () => {
    for (const service of running) await service.dispose();
    await next.remove();
    await present.remove();
  });

  it(
    'are upgraded and rolled back one by one without a failed evaluation or a lost event',
    async () => {
      const database = await createTestDatabase('postgresql');
      const environment = {
        DATABASE_URL: database.url,
        SERVICE_OBSERVABILITY_RECORD: 'all',
        SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2',
      };
      const start = async (release: CompiledService) => {
        const service = await spawnService(release, { environment });
        running.add(service);
        return { service, url: await service.listening() };
      };
      let replicas = await Promise.all(Array.from({ length: REPLICAS }, () => start(present)));
      await seedAgent(replicas[0]?.url ?? '');
      const balancer = await startTcpBalancer();
      const route = () => balancer.setTargets(replicas.map(({ url }) => url));
      route();
      const client = createClient({ baseUrl: balancer.url, timeoutMs: PATIENT_MS });
      const asked = keepAsking(client, 8);
      const goesOn = async () => {
        const before = asked.answers.length;
        await until(
          () => asked.answers.length,
          (count) => count > before + MORE,
        );
      };
      await goesOn();
      for (const release of [next, present]) {
        for (let round = 0; round < REPLICAS; round += 1) {
          // As a rolling update does: one more, then one fewer.
          const replacement = await start(release);
          const [oldest, ...others] = replicas;
          replicas = [...others, replacement];
          route();
          oldest?.service.process.kill('SIGTERM');
          expect(await oldest?.service.ended).toEqual({ code: 0, signal: null });
          // Changes are stored by both releases, and known to both.
          const call = restClient(replacement.url);
          const agent = { agent_name: `rolled-${running.size}-agent` };
          expect((await call('POST', '/api/v1/agents/initAgent', { agent })).status).toBe(200);
          await goesOn();
        }
        const newest = replicas.at(-1)?.service.stdout() ?? '';
        expect(newest.includes('1 migration of a later version')).toBe(release === present);
      }
      expect(await asked.stop()).toEqual({ failures: [], wrong: [] });
      client.close();
      balancer.close();
      for (const { service } of replicas) {
        service.process.kill('SIGTERM');
        expect(await service.ended).toEqual({ code: 0, signal: null });
      }
      // One control applies to each step, so each answer has an event. An evaluation that was sent again may have two.
      const [events] = await queryRow(database.url, 'SELECT count(*)::INTEGER FROM all_events');
      expect(events).toBeGreaterThanOrEqual(asked.answers.length);
      const [agents] = await queryRow(database.url, 'SELECT count(*)::INTEGER FROM agents');
      expect(agents).toBe(1 + 2 * REPLICAS);
      await database.drop();
    },
    LIMIT_MS,
  );
});
