import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/database/database.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { createAgentStore } from '../../src/agents/agent-store.js';

describeOnEachDatabase('x', (fresh) => {
  let db: Database;
  const q: string[] = [];
  beforeAll(async () => { db = await openDatabase({ url: await fresh(), onQuery: (s) => q.push(s) }); });
  afterAll(() => db.close());
  it('works', async () => {
    console.log(await db.ping(), await db.revision());
    const r = await db.mutate(async (tx) => {
      const a = await createAgentStore(tx).insert({ name: 'abc', data: '{}', createdAtMs: 1700000000000 });
      console.log('outside sees', await createAgentStore(db.client).find('abc'));
      return { value: a, changed: true };
    });
    console.log(r, await createAgentStore(db.client).find('abc'));
    console.log(await createAgentStore(db.client).list({ cursor: null, limit: 3, nameContains: 'B' }));
    console.log(await createAgentStore(db.client).list({ cursor: 'abc', limit: 3, nameContains: 'B' }));
    console.log(q);
    expect(1).toBe(1);
  });
});
