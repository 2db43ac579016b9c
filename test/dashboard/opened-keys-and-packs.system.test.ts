import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { KeyService } from '../../gen/proto/enforcement/v1/key_service_pb.js';
import { axeViolationsInThemes, inSignedInTab, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { AGENT, adminTransport } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';
import { PACK, startPackedService } from './pack-service.js';

/** What is opened on a page: its address, and what shows it. */
type Opened = readonly [address: string, show: (page: Page) => Promise<void>];

const STATES: readonly Opened[] = [
  [
    '/keys/new',
    async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('reports');
      await page.getByRole('button', { name: 'Create the key' }).click();
      await page.getByRole('region', { name: 'New secret' }).waitFor();
      // Otherwise the browser asks before the page is left.
      await page.getByRole('button', { name: 'Copy the secret' }).click();
      await page.locator('.new-secret [role=status]:not(:empty)').waitFor();
    },
  ],
  [
    `/packs/${PACK}`,
    async (page) => {
      await page.getByText('Definition', { exact: true }).first().click();
      await page.getByText('matches regex').waitFor();
      await page.getByText('1 case that it matches, 1 that it does not').first().click();
      await page.getByText('a harmless mail').waitFor();
    },
  ],
  [
    `/packs/${PACK}?tab=preview`,
    async (page) => {
      const step = { type: 'tool', name: 'send_mail', input: { text: 'a secret with 4111111111111111' } };
      await page.getByLabel('Steps to try, as JSON').fill(JSON.stringify(step));
      await page.getByRole('button', { name: 'Preview', exact: true }).click();
      await page.getByText('2 controls of the pack match.').waitFor();
    },
  ],
  [
    `/packs/${PACK}?tab=installations`,
    async (page) => {
      await page.getByText('Both as JSON').first().click();
      await page.locator('.cm-mergeView').waitFor();
    },
  ],
  [
    `/packs/${PACK}`,
    async (page) => {
      await page.getByRole('button', { name: 'Install…' }).click();
      await page.getByRole('dialog').getByText('All controls observe at first').waitFor();
    },
  ],
];

// Only a browser knows of colors and sizes. What these states say and do is tested with components, in
// packages/dashboard/test.
describeOnSqlite('what opens on pages of keys and packs', (freshDatabaseUrl) => {
  const folders: string[] = [];
  const dashboard = useDashboardTabs(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'packs-'));
    folders.push(folder);
    return startPackedService(await freshDatabaseUrl(), folder);
  });
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true });
  });
  const { open, address } = dashboard;

  it('fits into 360 pixels, and has no barrier that axe finds in either theme', async () => {
    await open('/', async ({ page }) => {
      for (const [opened, show] of STATES) {
        await page.goto(address(opened));
        await show(page);
        expect([opened, await axeViolationsInThemes(page)]).toEqual([opened, []]);
        await page.setViewportSize({ width: 360, height: 800 });
        await expect.poll(() => overflow(page), { message: opened }).toBe(0);
        await page.setViewportSize({ width: 1280, height: 800 });
      }
    });
  });

  it('is no wider than a telephone either for a key for one agent', async () => {
    const keys = createClient(KeyService, adminTransport(dashboard.service.url));
    const { secret: key = '' } = await keys.createKey({ name: 'one-bot', role: 'agent', agents: [AGENT] });
    await inSignedInTab(dashboard.browser, address('/'), { key, width: 360 }, async ({ page }) => {
      await page.getByRole('region', { name: 'Agents of this key' }).waitFor();
      await settled(page);
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
    });
  });
});
