import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import { type AgentUseStore, createAgentUseStore } from '../../../src/decide/agent-state/agent-use-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';

const key = (name: string) => DEFAULT_NAMESPACE.agentKey(name);

const MANY = Array.from({ length: 1_200 }, (_, index) => `agent-${index}`);

describeOnEachDatabase('The store of agent uses', (freshDatabaseUrl) => {
  let database: Database;
  let uses: AgentUseStore;
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    uses = createAgentUseStore(database.bulk);
    await database.mutate(async (tx) => {
      const names = ['a', 'b', 'c', 'd', ...MANY];
      await tx.agent.createMany({ data: names.map((name) => ({ name, data: '{}', createdAtMs: 1n })) });
      return { value: undefined, changed: true };
    });
  });
  afterAll(() => database.close());

  it('lists the agents used last first, each once, and drops the old ones', async () => {
    expect(await uses.lastUsed(10)).toEqual([]);
    await uses.record(['b', 'a', 'c'].map(key), 1_000);
    await uses.record(['d', 'a'].map(key), 2_000);
    expect(await uses.lastUsed(10)).toEqual(['a', 'd', 'b', 'c']);
    expect(await uses.lastUsed(1)).toEqual(['a']);
    await uses.forgetBefore(2_000);
    expect(await uses.lastUsed(10)).toEqual(['a', 'd']);
  });

  it('lists no agents that do not exist', async () => {
    await uses.record(['unknown'].map(key), 9_000);
    expect(await uses.lastUsed(2_000)).not.toContain('unknown');
  });

  it('records many agents, also when several processes record the same ones', async () => {
    await Promise.all([uses.record(MANY.map(key), 5_000), uses.record(MANY.map(key).reverse(), 5_000)]);
    expect(new Set(await uses.lastUsed(1_200))).toEqual(new Set(MANY));
  });
});
