import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type DrillReport, runDrill, type Store } from '../../../scripts/drill/drill.mjs';
import { openPostgresDumpStore } from '../../../scripts/drill/postgres-dump-store.mjs';
import { openPostgresFilesStore } from '../../../scripts/drill/postgres-files-store.mjs';
import { openSqliteStore } from '../../../scripts/drill/sqlite-store.mjs';
import { compiled } from '../../support/service-process.js';
import { executeSql, queryRow } from '../../support/sql.js';

const ENTRIES = 150;

const drill = (open: (folder: string) => Promise<Store>, tamper?: (store: Store) => Promise<void>) =>
  runDrill({ main: compiled.main, open, entries: ENTRIES, ...(tamper && { tamper }) });

/** Nothing is lost, and there was something to lose on either side of the backup. */
function expectIntact({ problems, acknowledged, advanced, verified }: DrillReport): void {
  expect(problems).toEqual([]);
  for (const count of Object.values(acknowledged)) expect(count).toBeGreaterThanOrEqual(ENTRIES);
  expect(advanced).toMatch(/^The revision is \d{10,};/);
  expect(verified).toMatch(/\d+:[0-9a-f]{64}/);
}

/** Whether pg_dump of this machine is able to copy a database of the server of the tests. */
async function hasDumpFor(serverUrl: string): Promise<boolean> {
  const dump = await promisify(execFile)('pg_dump', ['--version']).catch(() => null);
  const [server] = await queryRow(serverUrl, `SELECT current_setting('server_version_num')::INTEGER / 10000`);
  return dump !== null && Number(/(\d+)\./.exec(dump.stdout)?.[1]) >= Number(server);
}

describe('A database that is backed up under load, destroyed and restored', () => {
  it('has everything acknowledged before, on PostgreSQL, and everyone goes on', async () => {
    const serverUrl = process.env.TEST_DATABASE_URL ?? '';
    // The PostgreSQL that is installed with the packages has no pg_dump.
    const canDump = await hasDumpFor(serverUrl);
    expectIntact(
      await drill(canDump ? (folder) => openPostgresDumpStore(folder, serverUrl) : openPostgresFilesStore),
    );
  });

  it('is reported with exactly what it lacks, on SQLite', async () => {
    const { problems } = await drill(openSqliteStore, async ({ url }) => {
      await executeSql(
        url,
        `DELETE FROM "events" WHERE "position" = (SELECT MIN("position") FROM "events" WHERE "trace_id" = 'drill')`,
      );
      await executeSql(url, 'DELETE FROM "agent_controls" WHERE "control_id" = 2');
      await executeSql(url, 'DROP TRIGGER "audit_entries_no_update"');
      await executeSql(url, `UPDATE "audit_entries" SET "actor_name" = 'someone' WHERE "position" = 2`);
    });
    expect(problems).toEqual([
      expect.stringMatching(/^2 acknowledged and lost: link drill-agent-\d+ 2, event [0-9a-f-]{36}$/),
      expect.stringMatching(/The audit log is not verified: entry 2 has another content/),
      expect.stringMatching(/^statistics differ from the events: .*corrected [1-9]\d* sums/),
    ]);
  });
});
