import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAgentStore } from '../../../src/manage/agents/agent-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { scoped } from '../../support/scoped.js';
import { newControl, write } from './support.js';

describeOnEachDatabase('The agent store', (freshDatabaseUrl) => {
  let database: Database;
  /** Names in the order of insertion, and when each was created. */
  const created: [name: string, createdAtMs: number][] = [
    ['billing-bot-01', 2_000],
    ['billing_bot-02', 1_000],
    ['billing:bot-03', 3_000],
    ['billingbot--04', 3_000],
    ['search-agent-05', 3_000],
  ];
  /** Newest first; those of the same moment in descending order of bytes. */
  const newestFirst = [
    'search-agent-05',
    'billingbot--04',
    'billing:bot-03',
    'billing-bot-01',
    'billing_bot-02',
  ];

  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    await write(database, async ({ agents }) => {
      for (const [name, createdAtMs] of created) await agents.insert({ name, data: '{}', createdAtMs });
    });
  });
  afterAll(() => database.close());

  const list = async (filters: { cursor?: string; limit?: number; nameContains?: string } = {}) => {
    const { cursor = null, limit = 20, nameContains = null } = filters;
    const page = await createAgentStore(scoped(database.client)).list({
      cursor,
      limit,
      nameContains,
      hasActiveControls: null,
      labels: [],
      controlId: null,
      policyId: null,
      orderBy: 'newest',
      reverse: false,
    });
    return { names: page.rows.map(({ name }) => name), total: page.total, hasMore: page.hasMore };
  };

  it('finds what was inserted, exactly', async () => {
    const agent = {
      name: 'exact-agent-10',
      data: JSON.stringify({ b: 'x\0\ud800é😀', a: 1 }),
      createdAtMs: 0,
    };
    const inserted = await write(database, ({ agents }) => agents.insert(agent));
    expect(inserted).toMatchObject(agent);
    expect(await createAgentStore(scoped(database.client)).find(agent.name)).toEqual(inserted);
    expect(await write(database, ({ agents }) => agents.update(inserted.id, { data: '[]' }))).toBe(2);
    const changed = { ...inserted, data: '[]', version: 2 };
    expect(await createAgentStore(scoped(database.client)).find(agent.name)).toEqual(changed);
    const removed = await write(database, ({ agents }) => agents.remove(inserted));
    expect(removed).toEqual({ controls: 0, policies: 0 });
    expect(await createAgentStore(scoped(database.client)).find(agent.name)).toBeNull();
  });

  it('keeps data of several megabytes', async () => {
    const data = JSON.stringify({ text: 'é"\\\n'.repeat(1_000_000) });
    await database.mutate(async (tx) => {
      const { id } = await createAgentStore(scoped(tx)).insert({
        name: 'large-agent-11',
        data,
        createdAtMs: 1,
      });
      const row = await tx.agent.findUniqueOrThrow({ where: { id } });
      expect(row.data === data).toBe(true);
      return { value: null, changed: false };
    });
  });

  it('finds no agent of an unknown or impossible name', async () => {
    const store = createAgentStore(scoped(database.client));
    for (const name of ['nobody', '', 'billing-bot-01\0', '\ud800'])
      expect(await store.find(name)).toBeNull();
  });

  it('refuses text that a database could not keep', async () => {
    for (const data of ['\0', '"\ud800"']) {
      const inserting = write(database, ({ agents }) => agents.insert({ name: 'bad', data, createdAtMs: 1 }));
      await expect(inserting).rejects.toMatchObject({ name: 'ServiceError', code: 'INTERNAL_ERROR' });
    }
  });

  it('lists newest first, and by name where the moment is the same', async () => {
    expect(await list()).toEqual({ names: newestFirst, total: 5, hasMore: false });
  });

  it.each([1, 2, 3, 5, 6])('shows every agent once in pages of %i', async (limit) => {
    const shown: string[] = [];
    for (;;) {
      const cursor = shown.at(-1);
      const page = await list({ limit, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.total).toBe(5);
      expect(page.names.length).toBeLessThanOrEqual(limit);
      shown.push(...page.names);
      expect(page.hasMore).toBe(shown.length < newestFirst.length);
      if (!page.hasMore) break;
    }
    expect(shown).toEqual(newestFirst);
  });

  it('shows the first page after a cursor of no agent', async () => {
    for (const cursor of ['unknown-agent', '\0', '\udc00'])
      expect((await list({ cursor })).names).toEqual(newestFirst);
  });

  it.each([
    ['BILLING', ['billingbot--04', 'billing:bot-03', 'billing-bot-01', 'billing_bot-02']],
    ['_', ['billing_bot-02']],
    ['-', ['search-agent-05', 'billingbot--04', 'billing:bot-03', 'billing-bot-01', 'billing_bot-02']],
    ['--', ['billingbot--04']],
    ['%', []],
    ['\\', []],
    ["'", []],
    ['\0', []],
    ['billing\0', []],
    ['\ud800', []],
    ['bİlling', []],
    ['search-agent-05', ['search-agent-05']],
    ['search-agent-05x', []],
    ['', newestFirst],
    ['x'.repeat(100_000), []],
  ])('filters by the part %j of a name', async (nameContains, names) => {
    expect(await list({ nameContains })).toEqual({ names, total: names.length, hasMore: false });
  });

  it('combines filter and cursor, with the total of all pages', async () => {
    const page = await list({ nameContains: 'bot', cursor: 'billing:bot-03', limit: 1 });
    expect(page).toEqual({ names: ['billing-bot-01'], total: 4, hasMore: true });
  });

  it('counts the enabled controls of agents', async () => {
    const ids = await write(database, async ({ agents, controls, links }) => {
      const [first, second, third] = await Promise.all(
        created.slice(0, 3).map(async ([name]) => (await agents.find(name))?.id ?? 0),
      );
      const enabled = await controls.insert(newControl('enabled'));
      const another = await controls.insert(newControl('another'));
      const disabled = await controls.insert(newControl('disabled', { enabled: false }));
      for (const control of [enabled, another, disabled]) await links.add(first ?? 0, control.id);
      await links.add(second ?? 0, disabled.id);
      return [first ?? 0, second ?? 0, third ?? 0];
    });
    const counts = await createAgentStore(scoped(database.client)).activeControlCounts(ids);
    expect(counts).toEqual(new Map([[ids[0], 2]]));
    expect(await createAgentStore(scoped(database.client)).activeControlCounts([])).toEqual(new Map());
  });
});
