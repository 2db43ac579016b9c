import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { axeViolations, axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { adminTransport, REGULAR_KEY } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';
import { PACK, startPackedService } from './pack-service.js';

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('packs in the dashboard', (freshDatabaseUrl) => {
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
  const controls = () => createClient(ControlService, adminTransport(dashboard.service.url));
  const card = (page: Page, title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) });

  it('are listed with where they are installed, and found by text and state', async () => {
    await open('/packs', async ({ page }) => {
      const guard = card(page, 'Mail guard');
      await guard.getByText('Version 1.1.0 · 3 controls · 6 cases · of this installation').waitFor();
      await guard.getByRole('link', { name: 'guarded' }).waitFor();
      expect(await page.getByRole('heading', { level: 2 }).count()).toBeGreaterThan(1);
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
      await page.getByLabel('Contains').fill('give away');
      await expect
        .poll(() => page.getByRole('heading', { level: 2 }).allInnerTexts())
        .toEqual(['Mail guard']);
      await page.getByLabel('State').selectOption('other');
      await page.getByText('No pack passes the filters').waitFor();
      await page.getByLabel('State').selectOption('outdated');
      await guard.getByRole('link', { name: 'Newer version: compare' }).click();
      await page.getByRole('tab', { name: 'Installations (1, 1 outdated)', selected: true }).waitFor();
    });
  });

  it('are found in the palette, and Overview tells of a newer version', async () => {
    await open('/', async ({ page }) => {
      await page.getByText('A newer version is there of the installed pack').waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('guard mail');
      await page.getByRole('option', { name: 'Mail guard' }).click();
      await page.getByRole('heading', { level: 1, name: 'Mail guard' }).waitFor();
    });
  });

  it('say of each control why it is there, what it checks and which steps it must match', async () => {
    await open(`/packs/${PACK}`, async ({ page }) => {
      const cards = card(page, 'Card numbers');
      await cards.getByText('Finds card numbers; other spellings are not found.').waitFor();
      await cards.getByText('OWASP LLM02:2025').waitFor();
      await cards.getByText('Definition', { exact: true }).click();
      await cards.getByText('matches regex').waitFor();
      await cards.getByText('1 case that it matches, 1 that it does not').click();
      await cards.getByText('a harmless mail').waitFor();
      await cards.getByText('card 4111111111111111', { exact: true }).waitFor();
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
    });
  });

  it('are tried on recorded evaluations and on steps that are given', async () => {
    await dashboard.service.evaluate('nothing special');
    await open(`/packs/${PACK}?tab=preview`, async ({ page }) => {
      const steps = page.getByLabel('Steps to try, as JSON');
      await steps.fill('{');
      await page.getByRole('button', { name: 'Preview', exact: true }).click();
      await page.getByRole('alert').getByText('This is not JSON').waitFor();
      const input = { text: 'a secret with 4111111111111111' };
      await steps.fill(
        JSON.stringify([
          { type: 'tool', name: 'send_mail', input },
          { type: 'llm', name: 'chat', input },
        ]),
      );
      await page.getByRole('button', { name: 'Preview', exact: true }).click();
      const result = page.getByRole('region', { name: 'Result of the preview' });
      await result.getByRole('row').filter({ hasText: 'Card numbers' }).getByText('1 step').waitFor();
      const [mail, chat] = [
        result.getByRole('listitem').filter({ hasText: 'tool send_mail' }),
        result.getByRole('listitem').filter({ hasText: 'llm chat' }),
      ];
      await mail.getByText('2 controls of the pack match.').waitFor();
      await mail.getByText('3 controls in scope').waitFor();
      await chat.getByText('No control matches.').waitFor();
      await chat.getByText('0 controls in scope').waitFor();
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
    });
  });

  it('show what an update changes and keeps, and keep local changes unless they are given up', async () => {
    const { cardsId, wordsId } = dashboard.service;
    await open(`/packs/${PACK}?tab=installations`, async ({ page }) => {
      const comparison = page.getByRole('region', { name: 'Comparison with the pack' });
      const of = (name: string) =>
        comparison.locator('li').filter({ has: page.locator('.trace-head', { hasText: name }) });
      await comparison.getByText('An update to version 1.1.0').waitFor();
      await of('mail-guard-cards').getByText('is updated').waitFor();
      await of('mail-guard-cards').getByText('Changed here: action').waitFor();
      await of('mail-guard-words').getByText('conflict: changed here and in the pack').waitFor();
      await of('mail-guard-old').getByText('leaves the policy').waitFor();
      await of('fresh').getByText('is added').waitFor();
      await of('mail-guard-cards').getByText('Both as JSON').first().click();
      await page.locator('.cm-mergeView').waitFor();
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
      await page.setViewportSize({ width: 360, height: 800 });
      await expect.poll(() => overflow(page)).toBe(0);
      await page.setViewportSize({ width: 1280, height: 800 });

      await of('mail-guard-words').getByRole('checkbox').check();
      await of('mail-guard-words').getByText('What an update changes:').waitFor();
      await page.getByRole('button', { name: 'Update to version 1.1.0' }).click();
      const dialog = page.getByRole('dialog', { name: 'Update to version 1.1.0?' });
      await dialog.getByText('but for words: changes made here are lost').waitFor();
      await dialog.getByRole('button', { name: 'Update to version 1.1.0' }).click();
      await page.getByText('Updated to version 1.1.0').waitFor();
      await page.getByRole('tab', { name: 'Installations (1)' }).waitFor();
    });
    const cards = (await controls().getControl({ controlId: cardsId })).data;
    expect([cards?.action?.decision, cards?.condition?.evaluator?.config]).toEqual([
      Decision.DENY,
      { pattern: '\\b\\d{15,16}\\b' },
    ]);
    const words = (await controls().getControl({ controlId: wordsId })).data;
    expect(words?.condition?.evaluator?.config).toEqual({ pattern: 'secret|confidential' });
  });

  it('are installed in a new policy, with the chosen controls under names of their own, and uninstalled', async () => {
    await open(`/packs/${PACK}`, async ({ page }) => {
      await page.getByRole('button', { name: 'Install…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('All controls observe at first').waitFor();
      expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
      // The names are taken by the other installation.
      await dialog.getByLabel('Name of the policy').fill('second');
      await dialog.getByRole('checkbox', { name: /^Words/ }).uncheck();
      await dialog.getByRole('button', { name: 'Install 2 controls' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByLabel('Names of the controls begin with').fill('second-');
      await dialog.getByRole('button', { name: 'Install 2 controls' }).click();
      await page.getByRole('status').getByText('Installed 2 controls').waitFor();
      await page.getByRole('link', { name: 'second', exact: true }).click();
      await page.getByRole('link', { name: 'second-cards' }).waitFor();
      expect(await page.getByRole('link', { name: 'second-words' }).count()).toBe(0);

      await page.goto(address(`/packs/${PACK}?tab=installations`));
      const installation = card(page, 'In second');
      await installation.getByText('2 controls of 3').waitFor();
      await installation.getByRole('button', { name: `Uninstall ${PACK} from second` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Uninstall' }).click();
      await page.getByText('2 controls deleted, 0 controls kept').waitFor();
      await installation.waitFor({ state: 'detached' });
    });
    const { controls: left } = await controls().listControls({ name: 'second-' });
    expect(left).toEqual([]);
  });

  it('offer a regular key no change', async () => {
    await open(
      `/packs/${PACK}?tab=installations`,
      async ({ page }) => {
        await settled(page);
        await page.getByRole('button', { name: 'Compare with the pack' }).first().click();
        await page.getByRole('region', { name: 'Comparison with the pack' }).getByRole('status').waitFor();
        expect(await page.getByRole('button', { name: /^(Install|Uninstall|Update)/ }).count()).toBe(0);
        await page.goto(address('/packs/no-such-pack'));
        await page.getByText('The service has no pack of this name.').waitFor();
        await page.getByText('It is not installed either.').waitFor();
      },
      { key: REGULAR_KEY },
    );
  });
});
