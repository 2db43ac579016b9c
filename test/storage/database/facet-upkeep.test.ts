import { afterAll, beforeAll, expect, it } from 'vitest';
import { createControlStore } from '../../../src/manage/controls/control-store.js';
import { createFacetUpkeep } from '../../../src/manage/controls/facet-upkeep.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { serviceRegistry } from '../../support/evaluators.js';
import { scoped } from '../../support/scoped.js';
import { denyWord } from '../../support/seed.js';
import { newControl, write } from './support.js';

const FILTERS = {
  cursor: null,
  limit: 100,
  nameContains: null,
  enabled: null,
  templateBacked: null,
  cloned: null,
  stepType: null,
  stage: null,
  execution: null,
  tag: null,
  hasAgents: null,
  agentName: null,
  orderBy: 'name',
  reverse: false,
} as const;

describeOnEachDatabase('The upkeep of what lists are filtered by', (freshDatabaseUrl) => {
  let database: Database;
  const names = async (decisions: readonly string[], stepName: string | null): Promise<string[]> => {
    const { rows } = await createControlStore(scoped(database.client)).list({
      ...FILTERS,
      decisions,
      stepName,
    });
    return rows.map(({ name }) => name);
  };
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
  });
  afterAll(() => database.close());

  it('completes controls that a program of an earlier version stored, and those alone', async () => {
    const scopes = [{ step_names: ['pay'] }, { step_name_regex: '^send' }, {}];
    await write(database, async ({ controls }) => {
      for (const [index, scope] of scopes.entries()) {
        const data = JSON.stringify(denyWord('x', { scope }));
        await controls.insert(newControl(`old-${index}`, { data }));
      }
      // More than are completed at once.
      for (let index = 10; index < 60; index += 1) {
        const data = JSON.stringify(denyWord('x', { action: { decision: 'observe' } }));
        await controls.insert(newControl(`many-${index}`, { data }));
      }
      await controls.insert(newControl('unreadable', { data: '{' }));
      const draft = { templateBacked: true, templateRendered: false, enabled: false, execution: null };
      await controls.insert(newControl('draft', { data: '{}', ...draft }));
    });
    const upkeep = createFacetUpkeep({ database, registry: serviceRegistry });
    expect(await names(['deny'], null)).toEqual([]);
    await upkeep.catchUp();
    expect(await names(['deny'], null)).toEqual(['old-0', 'old-1', 'old-2']);
    expect(await names(['deny'], 'pay')).toEqual(['old-0', 'old-2']);
    expect(await names(['deny'], 'send_mail')).toEqual(['old-1', 'old-2']);
    expect(await names(['observe'], null)).toHaveLength(50);
    // Nothing is left to do.
    await upkeep.catchUp();
  });
});
