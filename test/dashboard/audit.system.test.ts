import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { describeOnSqlite } from '../support/databases.js';
import { executeSql } from '../support/sql.js';
import { REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';
import { chooseRange, filterBy } from './query-bar.js';

/** The hash of an exported entry, as docs/audit.md describes it. */
function hashOf(entry: Record<string, unknown>): string {
  const actor = entry.actor as Record<string, unknown>;
  const members = [
    ...['position', 'revision', 'time'].map((name) => entry[name]),
    ...['kind', 'name', 'key_fingerprint'].map((name) => actor[name]),
    ...['address', 'request_id', 'action', 'resource', 'resource_id', 'resource_name', 'before', 'after'].map(
      (name) => entry[name],
    ),
  ];
  return createHash('sha256')
    .update(`${entry.previous_hash}\n${JSON.stringify(members)}`)
    .digest('hex');
}

describeOnSqlite('the audit log in the dashboard', (freshDatabaseUrl) => {
  let databaseUrl: string;
  const { open } = useDashboardTabs(async () => {
    databaseUrl = await freshDatabaseUrl();
    return startDashboardService(databaseUrl);
  });

  it('is filtered by its address, shows what a change did, is exported and verified', async () => {
    await open('/audit?action=agent.create', async ({ page }) => {
      const rows = page.getByRole('region', { name: 'Entries', exact: true }).getByRole('row');
      await expect.poll(() => rows.filter({ hasText: 'agent.create' }).count()).toBeGreaterThan(0);
      expect(await rows.filter({ hasText: 'control.create' }).count()).toBe(0);

      await filterBy(page, 'action:control.create');
      await rows.filter({ hasText: 'control.create' }).first().waitFor();
      expect(new URL(page.url()).searchParams.get('action')).toBe('control.create');
      // Anywhere in the row.
      await rows
        .filter({ hasText: 'created the control “no-card-numbers”' })
        .getByRole('cell')
        .first()
        .click();
      const details = page.getByRole('region', { name: /^Entry / });
      await details.getByText('created the control').waitFor();
      await details.getByRole('region', { name: 'Changed members' }).waitFor();
      await details.getByRole('link', { name: 'Show the control as it is now' }).waitFor();

      // Names by a part of them, in any case; what cannot be read is no filter that is ignored.
      await filterBy(page, 'name:CARD-NUM');
      await expect.poll(() => rows.count()).toBe(2);
      await page.getByRole('button', { name: 'Remove name: CARD-NUM' }).click();
      await filterBy(page, 'resource:server');
      await page
        .getByRole('alert')
        .getByText(
          'Possible are: agent, control, policy, control_binding, pack, key, namespace, halt, database.',
        )
        .waitFor();
      await filterBy(page, 'actor:adm action:control.cr');
      await page.getByRole('button', { name: 'Remove action: control.cr' }).waitFor();
      await rows.filter({ hasText: 'control.create' }).first().waitFor();
      await chooseRange(page, '5 minutes');
      expect(new URL(page.url()).searchParams.get('range')).toBe('5m');
      await chooseRange(page, 'Any time');

      await page.evaluate('window.showSaveFilePicker = undefined');
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export as NDJSON' }).click();
      const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\n');
      const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(entries.length).toBeGreaterThan(0);
      for (const entry of entries) {
        expect(entry.action).toBe('control.create');
        expect(entry.hash).toBe(hashOf(entry));
      }

      await page.getByRole('button', { name: 'Verify the chain' }).click();
      await page.getByText(/^Intact: \d+ entries/).waitFor();
      await executeSql(databaseUrl, 'DROP TRIGGER "audit_entries_no_update"');
      await executeSql(databaseUrl, `UPDATE "audit_entries" SET "actor_kind" = 'key' WHERE "position" = 3`);
      await page.getByRole('button', { name: 'Verify the chain' }).click();
      await page.getByText('Broken: entry 3 has another content than its hash.').waitFor();
    });
  });

  it('is not shown to a regular key', async () => {
    await open(
      '/audit',
      async ({ page }) => {
        await page.getByText('audit.read').first().waitFor();
        expect(await page.getByRole('navigation', { name: 'Pages' }).getByText('Audit log').count()).toBe(0);
      },
      { key: REGULAR_KEY },
    );
  });
});
