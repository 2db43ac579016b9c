import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { KeyService } from '../../gen/proto/enforcement/v1/key_service_pb.js';
import { sendJson } from '../support/browser.js';
import { axeViolations, inSignedInTab, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { adminTransport, REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const SECRET = /^cek_[0-9A-Za-z]{40,}$/;

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('keys in the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open, address } = dashboard;

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
  const keys = () => createClient(KeyService, adminTransport(dashboard.service.url));
  const statusWith = async (secret: string): Promise<number> => {
    const { url } = dashboard.service;
    return (await sendJson(url, 'GET', '/api/v1/controls', undefined, { 'x-api-key': secret })).status;
  };
  /** The secret that a page shows. */
  const shownSecret = async (page: Page): Promise<string> => {
    const secret = await page.getByRole('region', { name: 'New secret' }).locator('.secret').innerText();
    expect(secret).toMatch(SECRET);
    return secret;
  };

  it('creates a key whose secret is shown once, rotates it with an overlap, and revokes it', async () => {
    await open('/keys', async ({ page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByText('No keys are stored in this namespace').waitFor();
      await page.getByRole('link', { name: 'New key' }).click();
      await heading(page, 'New key').waitFor();
      // The role that may do least is the default.
      expect(await page.getByRole('radio', { name: 'agent' }).isChecked()).toBe(true);
      expect(await page.getByRole('radio', { name: 'operator' }).isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Create the key' }).click();
      await page.getByRole('alert').getByText('The key needs a name.').waitFor();
      await page.getByLabel('Name', { exact: true }).fill('reports');
      await page.getByLabel('Owner: who is responsible for it').fill('team finance');
      await page.getByRole('radio', { name: 'viewer' }).check();
      await page.getByRole('button', { name: 'Create the key' }).click();

      const first = await shownSecret(page);
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Agents' }).click();
      const question = page.getByRole('dialog', { name: 'Leave without a copy of the secret?' });
      await question.getByRole('button', { name: 'Stay' }).click();
      await page.getByRole('button', { name: 'Copy the secret' }).click();
      await page.getByText('Copied.').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(first);
      expect(await statusWith(first)).toBe(200);
      await page.getByRole('button', { name: 'Done' }).click();
      await heading(page, 'reports').waitFor();
      await page.getByText('never used').waitFor();
      const kept = 'JSON.stringify([localStorage, sessionStorage]) + document.documentElement.outerHTML';
      expect(await page.evaluate(kept)).not.toContain(first);
      await page.getByText('create, change and delete controls').waitFor({ state: 'detached' });

      await page.getByRole('button', { name: 'Rotate reports' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Make another secret' }).click();
      const second = await shownSecret(page);
      expect(second).not.toBe(first);
      await page.getByText('two secrets').waitFor();
      expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
      // Without the copy, it asks, and goes.
      await page.getByRole('button', { name: 'Done' }).click();
      await question.getByRole('button', { name: 'Leave' }).click();
      await page.getByRole('region', { name: 'New secret' }).waitFor({ state: 'detached' });

      await page.getByRole('button', { name: 'Revoke reports' }).click();
      await page.getByRole('dialog').getByText('This cannot be undone.').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke reports' }).click();
      await page
        .getByRole('region', { name: 'Key', exact: true })
        .getByText('revoked', { exact: true })
        .waitFor();
      await expect.poll(() => statusWith(first)).toBe(401);
      await expect.poll(() => statusWith(second)).toBe(401);
      expect(await page.getByRole('button', { name: /^(Rotate|Revoke)/ }).count()).toBe(0);

      await page.getByRole('link', { name: 'All keys' }).click();
      await page.getByText('No keys are stored in this namespace').waitFor();
      await page.getByLabel('State').selectOption('all');
      const rows = page.getByRole('region', { name: 'Keys', exact: true }).getByRole('row');
      await rows.filter({ hasText: 'reports' }).getByText('revoked').waitFor();
    });
  });

  it('lists keys by state, role and owner, in any order', async () => {
    const soon = new Date(Date.now() + 86_400_000).toISOString();
    await keys().createKey({ name: 'zeta', role: 'agent', owner: 'alpha team', agents: ['billing-bot-01'] });
    await keys().createKey({ name: 'eta', scopes: ['controls.read'], owner: 'beta team', expiresAt: soon });
    await open('/keys', async ({ page }) => {
      const rows = page.getByRole('region', { name: 'Keys', exact: true }).getByRole('row');
      const names = () =>
        rows.evaluateAll((all) => all.slice(1).map((row) => row.querySelector('a')?.textContent));
      await expect.poll(names).toEqual(['eta', 'zeta']);
      await page.getByRole('button', { name: 'Owner' }).click();
      await expect.poll(names).toEqual(['zeta', 'eta']);
      expect(new URL(page.url()).searchParams.get('sort')).toBe('owner');
      await rows.filter({ hasText: 'zeta' }).getByText('billing-bot-01').waitFor();
      await page.getByLabel('State').selectOption('expiring');
      await expect.poll(names).toEqual(['eta']);
      await page.getByLabel('State').selectOption('');
      await page.getByLabel('Role').selectOption('agent');
      await expect.poll(names).toEqual(['zeta']);
      await page.getByLabel('Role').selectOption('');
      await page.getByLabel('Name or owner contains').fill('BETA');
      await expect.poll(names).toEqual(['eta']);
    });
  });

  it('makes a key by keyboard alone, on pages without barriers, in 360 pixels', async () => {
    await open(
      '/keys/new',
      async ({ page }) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await settled(page);
        expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
        await page.getByLabel('Name', { exact: true }).focus();
        await page.keyboard.type('by keyboard');
        await page.keyboard.press('Tab');
        await page.keyboard.press('Tab');
        // Arrows choose among the roles.
        await page.keyboard.press('ArrowDown');
        expect(await page.getByRole('radio', { name: 'viewer' }).isChecked()).toBe(true);
        await page.getByRole('button', { name: 'Create the key' }).focus();
        await page.keyboard.press('Enter');
        await shownSecret(page);
        expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
        await page.getByRole('button', { name: 'Copy the secret' }).focus();
        await page.keyboard.press('Enter');
        await page.getByText('Copied.').waitFor();
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await heading(page, 'by keyboard').waitFor();
        expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
        await page.goto(address('/keys'));
        await page.getByRole('link', { name: 'by keyboard' }).waitFor();
        expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
      },
      { width: 360 },
    );
  });

  it('says to everyone what a key can do, and where people are managed', async () => {
    await inSignedInTab(dashboard.browser, address('/'), { key: REGULAR_KEY }, async ({ page }) => {
      const menu = page.getByRole('navigation', { name: 'Pages' });
      expect(await menu.getByRole('link', { name: 'Keys and people' }).count()).toBe(0);
      await page.getByRole('button', { name: /^Account/ }).click();
      await page.getByRole('link', { name: 'What you may do' }).click();
      await heading(page, 'Keys and people').waitFor();
      const you = page.getByRole('region', { name: 'You' });
      await you.getByText('regular key').waitFor();
      await you.getByText('create, change and delete controls').waitFor();
      await page.getByRole('region', { name: 'People' }).getByText('OpenID Connect').waitFor();
      expect(await page.getByRole('region', { name: 'Keys', exact: true }).count()).toBe(0);
      await page.goto(address('/keys/new'));
      await page.getByText('keys.write').first().waitFor();
      await heading(page, 'Not for this key').waitFor();
    });
  });
});
