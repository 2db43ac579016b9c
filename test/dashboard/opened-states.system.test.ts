import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { axeViolationsInThemes, overflow } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

/** What is opened on a page: its address, and what shows it. */
type Opened = readonly [path: string, show: (page: Page) => Promise<void>];

// What pages do is tested without a browser, in `packages/dashboard/test`; what they look like when they are opened, in
// `every-page.system.test.ts`.
describeOnSqlite('what opens on pages of the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open, address } = dashboard;

  const states = (): readonly Opened[] => [
    [
      '/keys/new',
      async (page) => {
        await page.getByLabel('Name', { exact: true }).fill('reports');
        await page.getByRole('button', { name: 'Create the key' }).click();
        await page.getByRole('region', { name: 'New secret' }).waitFor();
        // Nothing is lost when the page is left.
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.getByRole('button', { name: 'Copy the secret' }).click();
        await page.getByText('Copied.').waitFor();
      },
    ],
  ];

  it('fits into 360 pixels, and has no barrier that axe finds in either theme', async () => {
    await open('/', async ({ page }) => {
      for (const [path, show] of states()) {
        await page.goto(address(path));
        await show(page);
        expect([path, await axeViolationsInThemes(page)]).toEqual([path, []]);
        await page.setViewportSize({ width: 360, height: 800 });
        await expect.poll(() => overflow(page), { message: path }).toBe(0);
        await page.setViewportSize({ width: 1280, height: 800 });
      }
    });
  });
});
