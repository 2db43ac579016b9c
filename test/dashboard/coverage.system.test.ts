import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { CoverageService } from '../../gen/proto/enforcement/v1/coverage_service_pb.js';
import { axeViolations, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { executeSql } from '../support/sql.js';
import { AGENT, adminTransport, REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

// What the page shows does not depend on the database: the calls behind it are tested with both.
describeOnSqlite('coverage in the dashboard', (freshDatabaseUrl) => {
  let databaseUrl = '';
  const dashboard = useDashboardTabs(async () => {
    databaseUrl = await freshDatabaseUrl();
    return startDashboardService(databaseUrl);
  });
  const { open } = dashboard;
  const client = () => createClient(CoverageService, adminTransport(dashboard.service.url));

  it('shows where steps are evaluated and which never are, and sets what is expected, at every width', async () => {
    await createClient(AgentService, adminTransport(dashboard.service.url)).initAgent({
      agent: { agentName: AGENT },
      steps: ['send_mail', 'pay', 'a', 'b', 'c'].map((name) => ({ type: 'tool', name })),
    });
    await dashboard.service.evaluate('one');
    await open('/coverage?name=billing', async ({ page }) => {
      const row = page.getByRole('row').filter({ hasText: AGENT });
      await row.getByText('grpc pre').waitFor();
      await row.getByText('and 3 more').waitFor();
      await row.getByRole('button', { name: 'Expect' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('At grpc, every').selectOption('15 minutes');
      expect(await axeViolations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await row.getByText('every 15 minutes at grpc').waitFor();
      const { coverage } = await client().getCoverage({ agentName: AGENT });
      expect(coverage?.expectations).toMatchObject([{ point: 'grpc', intervalSeconds: 900 }]);
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await settled(page);
        await expect.poll(() => overflow(page)).toBe(0);
        expect(await axeViolations(page)).toEqual([]);
      }
    });
  });

  it('lists overdue agents, and lets viewers change nothing', async () => {
    await executeSql(databaseUrl, 'UPDATE "agent_expectations" SET "overdue_s" = 1790000000');
    await open(
      '/coverage?state=overdue',
      async ({ page }) => {
        await page.getByText(/overdue since/).waitFor();
        await page.getByText(/and 1 is not heard as expected/).waitFor();
        expect(await page.getByRole('button', { name: /^Expect/ }).count()).toBe(0);
        expect(await page.getByRole('row').count()).toBe(2);
        await page.getByLabel('State').selectOption('never_seen');
        await page
          .getByText('No agent matches the filters')
          .or(page.getByText('never', { exact: true }))
          .first()
          .waitFor();
      },
      { key: REGULAR_KEY },
    );
  });
});
