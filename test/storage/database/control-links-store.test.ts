import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabaseReader } from '../../../src/app/last-known-good/state-reader.js';
import { createControlLinksStore } from '../../../src/decide/agent-state/control-links-store.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { newControl, write } from './support.js';

describeOnEachDatabase('The store of effective controls', (freshDatabaseUrl) => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
  });
  afterAll(() => database.close());

  it('reads the controls of links, and single controls, with the revision of both', async () => {
    const [kept, other, deleted] = await write(database, async ({ controls }) => [
      await controls.insert(newControl('kept')),
      await controls.insert(newControl('other')),
      await controls.insert(newControl('deleted')),
    ]);
    if (kept === undefined || other === undefined || deleted === undefined)
      throw new Error('three were added');
    await write(database, ({ controls }) => controls.remove(deleted.id, 1_700_000_000_003));
    const store = createControlLinksStore(database.client);
    const revision = await database.revision();
    const stored = { id: kept.id, name: 'kept', data: '{"of":"kept"}' };
    const reader = createDatabaseReader(store);
    expect(await reader.definitionsOf([kept.id, deleted.id, 4711])).toEqual({ revision, controls: [stored] });
    expect(await reader.definitionsOf([])).toEqual({ revision, controls: [] });
    const links = { policyIds: [], controlIds: [kept.id, deleted.id] };
    expect(await store.controlsOf([links])).toEqual({ revision, controls: [[stored]] });
  });
});
