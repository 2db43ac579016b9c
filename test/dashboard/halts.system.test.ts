import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { HaltScope, HaltService, HaltState } from '../../gen/proto/enforcement/v1/halt_service_pb.js';
import { axeViolations, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { AGENT, adminTransport, REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('halts in the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open } = dashboard;
  const halts = () => createClient(HaltService, adminTransport(dashboard.service.url));
  const listed = async () => (await halts().listHalts({})).halts;

  it('halts an agent on its page once a reason is given, and lifts it on the page of halts', async () => {
    await open(`/agents/${AGENT}`, async ({ page }) => {
      await page.getByRole('button', { name: 'Halt…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Halt steps?' });
      expect(await dialog.getByLabel('Agent', { exact: true }).inputValue()).toBe(AGENT);
      const halt = dialog.getByRole('button', { name: 'Halt', exact: true });
      expect(await halt.isDisabled()).toBe(true);
      await dialog.getByLabel('Reason, which agents are told').fill('<b>wrong</b> customers');
      await dialog.getByLabel('It ends').selectOption('60');
      await settled(page);
      expect(await axeViolations(page)).toEqual([]);
      await halt.click();
      await dialog.waitFor({ state: 'detached' });
    });
    expect(await listed()).toMatchObject([
      { scope: HaltScope.AGENT, agentName: AGENT, reason: '<b>wrong</b> customers', state: HaltState.ACTIVE },
    ]);
    await open('/halts', async ({ page }) => {
      await page.getByText('<b>wrong</b> customers').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      await page.getByRole('button', { name: `Lift halt 1 of agent ${AGENT}` }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Why (for the audit log)').fill('mended');
      await dialog.getByRole('button', { name: /^Lift/ }).click();
      await page.getByText('No halt is in force').waitFor();
      await page.getByLabel('State').selectOption('lifted');
      await page.getByText(/mended/).waitFor();
    });
    expect(await listed()).toMatchObject([{ state: HaltState.LIFTED, liftReason: 'mended' }]);
  });

  it('asks for the members of the scope, and shows what the service refuses', async () => {
    await open('/halts', async ({ page }) => {
      await page.getByRole('button', { name: 'New halt' }).click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByRole('option', { name: 'all namespaces' }).count()).toBe(0);
      await dialog.getByLabel('Deny the steps of').selectOption({ label: 'a session of an agent' });
      await dialog.getByLabel('Reason, which agents are told').fill('why');
      await dialog.getByRole('button', { name: 'Halt', exact: true }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
    });
  });

  it('lets viewers read, and change nothing', async () => {
    await halts().createHalt({ scope: HaltScope.NAMESPACE, reason: 'for all to see' });
    await open(
      '/halts',
      async ({ page }) => {
        await page.getByText('for all to see').waitFor();
        expect(await page.getByRole('button', { name: /Lift|halt/i }).count()).toBe(0);
      },
      { key: REGULAR_KEY },
    );
  });
});
