import { expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase, describeOnSqlite } from '../../support/databases.js';
import { openedInTest } from '../../support/opened.js';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { executeSql } from '../../support/sql.js';
import { allEntries, record, storeOf, withoutTriggers } from './audit.support.js';
import { killRuns } from './kill-runs.js';

describeOnEachDatabase('the audit log of a service that is killed', (freshDatabaseUrl) => {
  it('is intact, and has one entry for each revision and each control', async () => {
    const url = await freshDatabaseUrl();
    const report = await killRuns({ compiled, url, kills: 3, seed: 1 });
    expect(report).toMatchObject({ problems: [], revisions: [], controls: [], lost: [] });
    expect(report.acknowledged).toBeGreaterThan(2);
  });
});

describeOnSqlite('the commands about the audit log', (freshDatabaseUrl) => {
  const running = openedInTest<ServiceProcess>((one) => one.dispose());

  it('verify it, name a broken entry, and are in it themselves', async () => {
    const url = await freshDatabaseUrl();
    const run = async (...words: string[]) => {
      const one = await spawnService(compiled, { environment: { DATABASE_URL: url }, arguments: words });
      running.push(one);
      const { code } = await one.ended;
      return { code, out: one.stdout().trim(), error: one.stderr().trim() };
    };
    const database = await openDatabase({ url });
    const store = storeOf(database);
    for (let index = 0; index < 3; index += 1) await record(database);
    const { hash } = (await store.chain()).head;
    expect(await run('verify-audit')).toEqual({
      code: 0,
      out: `The audit log is intact: 3 entries after the beginning. The last entry is 3:${hash}`,
      error: '',
    });

    for (const words of [['prune-events'], ['rebuild-statistics'], ['after-restore']]) {
      expect(await run(...words)).toMatchObject({ code: 0 });
    }
    const actions = ['database.prune_events', 'database.rebuild_statistics', 'database.advance_revision'];
    const added = await allEntries(store, 3);
    expect(added.map(({ action }) => action)).toEqual(actions);
    for (const { actor, address } of added) {
      expect(actor).toMatchObject({ kind: 'command', name: expect.stringMatching(/./) });
      expect(address).not.toBeNull();
    }
    expect(added.map(({ revision }) => revision === null)).toEqual([true, true, false]);
    expect(await run('verify-audit', `3:${hash}`)).toMatchObject({ code: 0, error: '' });
    const other = 'f'.repeat(64);
    const failures: [string[], RegExp][] = [
      [['verify-audit', `3:${other}`], /entry 3 has the hash [0-9a-f]{64}: it is another one/],
      [['verify-audit', `9:${other}`], /entry 9 does not exist/],
      [['verify-audit', '3'], /POSITION:HASH/],
    ];
    for (const [words, message] of failures) {
      expect(await run(...words)).toMatchObject({
        code: 1,
        out: '',
        error: expect.stringMatching(message),
      });
    }
    await executeSql(url, withoutTriggers('sqlite'));
    await executeSql(url, `UPDATE "audit_entries" SET "action" = 'agent.delete' WHERE "position" = 2`);
    expect(await run('verify-audit')).toEqual({
      code: 1,
      out: '',
      error: 'The audit log is not verified: entry 2 has another content than its hash',
    });
    await database.close();
  });
});
