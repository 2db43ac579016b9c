import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createControlVersionStore } from '../../../src/manage/controls/control-version-store.js';
import { changedMembers } from '../../../src/manage/controls/version-recording.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { migrate } from '../../../src/storage/database/migrate.js';
import { readMigrations } from '../../../src/storage/database/migration-files.js';
import { describeOnEachEmptyDatabase } from '../../support/databases.js';
import { scoped } from '../../support/scoped.js';
import { executeSql } from '../../support/sql.js';
import { newControl, write } from './support.js';

describeOnEachEmptyDatabase('Controls stored before there were versions', (freshDatabaseUrl, kind) => {
  let database: Database;
  beforeAll(async () => {
    const url = await freshDatabaseUrl();
    const former = readMigrations(kind).filter(({ name }) => name < '20261124000000_control_versions');
    await migrate(parseDatabaseUrl(url), former);
    await executeSql(
      url,
      `INSERT INTO "controls" ("name", "data", "enabled", "template_backed", "restricts_step_types",
        "restricts_stages", "created_at_ms", "updated_at_ms")
      VALUES ('first', '{"n":1}', TRUE, FALSE, FALSE, FALSE, 1700000000001, 1700000000009),
        ('second', 'no json', FALSE, FALSE, FALSE, FALSE, 1700000000002, 1700000000002)`,
    );
    database = await openDatabase({ url });
  });
  afterAll(() => database.close());

  it('begin their history with what they are', async () => {
    const store = createControlVersionStore(scoped(database.client));
    expect(await store.find(1, 1)).toEqual({
      clonedFromId: null,
      id: 1,
      eventType: 'created',
      note: 'stored before versions were kept',
      createdAtMs: 1_700_000_000_001,
      keyFingerprint: null,
      author: null,
      changedMembers: [],
      name: 'first',
      data: '{"n":1}',
    });
    expect(await store.find(2, 1)).toMatchObject({ name: 'second', data: 'no json' });
    expect(await store.lastNumber(1)).toBe(1);
    expect(await store.lastNumber(3)).toBe(0);
  });

  it('keep their names to themselves', async () => {
    const taken = write(database, ({ controls }) => controls.insert(newControl('first')));
    await expect(taken).rejects.toMatchObject({ code: 'DATABASE_ERROR' });
    expect(await write(database, ({ controls }) => controls.remove(1, 7))).toBe(true);
    const { id } = await write(database, ({ controls }) => controls.insert(newControl('first')));
    expect(id).toBeGreaterThan(2);
  });
});

describe('Members that changed', () => {
  const change = (before: string, after: string) =>
    changedMembers({ name: 'same', data: before }, { name: 'same', data: after });

  it.each([
    ['{"a":1}', '{"a":1}', []],
    ['{"enabled":true,"tags":["x"]}', '{"tags":["x"],"enabled":true}', []],
    ['{"scope":{"a":1,"b":2}}', '{"scope":{"b":2,"a":1}}', []],
    ['{"enabled":true}', '{"enabled":true,"description":null}', []],
    ['{"enabled":true}', '{"enabled":false,"description":"x"}', ['data.description', 'data.enabled']],
    ['{"tags":["x","y"]}', '{"tags":["y","x"]}', ['data.tags']],
    ['{"template":{},"template_values":{"a":1}}', '{}', ['data.template', 'data.template_values']],
    ['{"unknown":1}', '{"unknown":2}', []],
    ['no json', '{"enabled":true}', ['data']],
    ['[]', '{"enabled":true}', ['data']],
    ['no json', 'no json', []],
    ['{"__proto__":{"enabled":true}}', '{"enabled":true}', ['data.enabled']],
  ])('from %s to %s are reported', (before, after, expected) => {
    expect(change(before, after)).toEqual(expected);
  });

  it('begin with the name', () => {
    const before = { name: 'old', data: '{"enabled":true}' };
    expect(changedMembers(before, { name: 'new', data: '{"enabled":false}' })).toEqual([
      'name',
      'data.enabled',
    ]);
  });
});
