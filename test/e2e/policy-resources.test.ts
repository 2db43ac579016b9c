import { beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/storage/database/database.js';
import { problem } from '../support/refusals.js';
import { denyWord, evaluate } from '../support/seed.js';
import { describeService, suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const POLICIES = '/api/v1/policies';
/** One more than a change lists by name. */
const MANY = 1_001;
const agentName = (index: number) => `fleet-agent-${String(index).padStart(4, '0')}`;

/** One transaction: as many registrations over the API take minutes on a busy machine. */
async function registerLike(first: string, names: readonly string[], url: string): Promise<void> {
  const database = await openDatabase({ url, migrate: false });
  try {
    await database.mutate(async (tx) => {
      const { data, createdAtMs } = await tx.agent.findUniqueOrThrow({ where: { name: first } });
      await tx.agent.createMany({
        data: names.map((name) => ({ name, createdAtMs, data: data.replaceAll(first, name) })),
      });
      return { value: undefined, changed: true };
    });
  } finally {
    await database.close();
  }
}

describeService('policies of many agents', ({ call, seed, service }) => {
  let control: number;
  let policy: number;
  const other = suiteService(() => ({ DATABASE_URL: service.databaseUrl }));
  const { call: otherCall } = other;
  beforeAll(async () => {
    control = await seed.control('fleet-control', denyWord('bad'));
    policy = (await call('PUT', POLICIES, { name: 'fleet' })).body.policy_id as number;
    await call('POST', `${POLICIES}/${policy}/controls/${control}`);
    const names = Array.from({ length: MANY }, (_, index) => agentName(index));
    const [first = '', ...others] = names;
    await seed.agent(first);
    await registerLike(first, others, service.databaseUrl);
    for (const some of [names.slice(0, 1_000), names.slice(1_000)]) {
      await call('POST', `${POLICIES}/${policy}/agents`, { agent_names: some });
    }
  });

  it('are listed with all their agents, page by page, each once', async () => {
    for (const path of [`${POLICIES}/${policy}/agents`, `/api/v1/controls/${control}/agents`]) {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const query: string = cursor === null ? 'limit=100' : `limit=100&cursor=${cursor}`;
        const { body } = await call('GET', `${path}?${query}`);
        expect(body.pagination.total).toBe(MANY);
        seen.push(...(body.agents as { agent_name: string }[]).map((agent) => agent.agent_name));
        cursor = body.pagination.next_cursor as string | null;
      } while (cursor !== null);
      expect(seen).toEqual(Array.from({ length: MANY }, (_, index) => agentName(index)));
    }
  });

  it.each([
    ['', MANY],
    ['zzz', 0],
    ['%00', 0],
    ['fleet-agent-0999', 1],
  ])('are continued after any text: %j', async (cursor, left) => {
    const { status, body } = await call('GET', `${POLICIES}/${policy}/agents?cursor=${cursor}&limit=100`);
    expect(status).toBe(200);
    expect([body.agents.length, body.pagination.total]).toEqual([Math.min(left, 100), MANY]);
  });

  it.each(['limit=0', 'limit=101', 'limit=x'])('are refused with %s', async (query) => {
    for (const path of [POLICIES, `${POLICIES}/${policy}/agents`, `/api/v1/controls/${control}/policies`]) {
      const reply = await call('GET', `${path}?${query}`);
      expect([reply.status, reply.body.errors[0].field]).toEqual([422, 'query.limit']);
    }
  });

  it('are kept without force, and deleted with it at one revision for every agent and process', async () => {
    const checked = [agentName(0), agentName(1_000)];
    for (const name of checked) {
      for (const by of [call, otherCall]) expect((await evaluate(by, name, 'bad')).body.is_safe).toBe(false);
    }
    const refused = await call('DELETE', `${POLICIES}/${policy}`);
    expect(refused).toMatchObject(
      problem(409, 'POLICY_IN_USE', { detail: `${MANY} agents have the policy "fleet".` }),
    );
    expect(refused.body.errors).toHaveLength(1_000);
    const deleted = await call('DELETE', `${POLICIES}/${policy}?force=true`);
    expect(deleted.body).toMatchObject({ success: true, removed_from_agents_count: MANY });
    expect(deleted.body.removed_from_agents).toHaveLength(1_000);
    for (const name of checked) {
      expect((await evaluate(call, name, 'bad')).body.is_safe).toBe(true);
      await until(
        () => evaluate(otherCall, name, 'bad'),
        ({ body }) => body.is_safe === true,
      );
    }
    expect((await call('GET', `${POLICIES}/${policy}`)).status).toBe(404);
    expect((await call('GET', `/api/v1/controls/${control}/policies`)).body.policies).toEqual([]);
    expect((await call('GET', `/api/v1/agents/${agentName(0)}/policies`)).body.policy_ids).toEqual([]);
    // Its name is free, and its id is not given again.
    const next = await call('PUT', POLICIES, { name: 'fleet' });
    expect(next.body.policy_id).toBeGreaterThan(policy);
  });
});
