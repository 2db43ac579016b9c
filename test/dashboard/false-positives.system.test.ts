import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { AGENT, adminTransport, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const CONTROL = 'no-card-numbers';

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('false positives in the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open } = dashboard;
  const events = () => createClient(ObservabilityService, adminTransport(dashboard.service.url));
  const idOf = (name: string) => dashboard.service.controlIds.get(name) ?? 0;
  const marks = async () => (await events().listFalsePositives({})).falsePositives;

  it('marks a match, says so wherever it is shown, counts it, and takes the mark away', async () => {
    await dashboard.service.evaluate('card 4111111111111111');
    const found = await events().queryEvents({
      agentName: AGENT,
      controlIds: [idOf(CONTROL)],
      matched: true,
      includeBuffered: true,
    });
    const trace = `/traces?id=${found.events[0]?.traceId}`;
    const object = `the match of ${CONTROL}`;
    await open(trace, async ({ page }) => {
      await page
        .getByRole('button', { name: `Mark as false positive ${object}` })
        .first()
        .click();
      const dialog = page.getByRole('dialog', { name: /^Mark as false positive/ });
      await dialog.getByLabel(/^Why/).fill('an order number');
      await settled(page);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await dialog.getByRole('button', { name: /^Mark as false positive/ }).click();
      await page.getByText(/Marked by .*: an order number/).waitFor();
      await settled(page);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
    });
    expect(await marks()).toMatchObject([{ controlId: idOf(CONTROL), note: 'an order number' }]);
    for (const path of [`/events?control=${idOf(CONTROL)}`, `/controls/${idOf(CONTROL)}?tab=activity`]) {
      await open(path, async ({ page }) => {
        await page.getByText('false positive', { exact: true }).waitFor();
        await settled(page);
        expect(await axeViolationsInThemes(page)).toEqual([]);
        expect(await overflow(page)).toBe(0);
      });
    }
    await open(`/controls/${idOf(CONTROL)}`, async ({ page }) => {
      await page.getByText('1 marked false positive in 30 days').waitFor();
    });
    await open(trace, async ({ page }) => {
      await page.getByRole('button', { name: `Take the mark away from ${object}` }).click();
      await page
        .getByRole('button', { name: `Mark as false positive ${object}` })
        .first()
        .waitFor();
    });
    expect(await marks()).toEqual([]);
  });
});
