import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeOnSqlite } from '../../support/databases.js';
import { ADMIN_KEY } from '../dashboard-service.js';
import { useDashboardTabs } from '../dashboard-tabs.js';
import { queryField } from '../query-bar.js';
import { countedPage } from './counted-page.js';
import {
  FINANCE_AGENTS,
  LIMITED_AGENT,
  LIMITED_KEY,
  startLargeFleet,
  UNUSED_CONTROLS,
} from './large-fleet.js';

describeOnSqlite('Jobs of people who work with the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startLargeFleet(await freshDatabaseUrl()));
  const { open, address } = dashboard;
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
  const menu = (page: Page) => page.getByRole('navigation', { name: 'Pages' });
  const rows = (page: Page) => page.getByRole('main').locator('tbody tr');

  it('switches a control off and opens a trace with the keyboard alone, and always shows the focus', async () => {
    await open('/', async ({ page }) => {
      const counted = countedPage(page);
      const focused = page.locator(':focus');
      const tabTo = async (name: string) => {
        for (let count = 0; count < 20; count += 1) {
          await counted.press('Tab');
          await expect.poll(() => page.evaluate(FOCUS)).toBe('visible');
          const label = (await focused.getAttribute('aria-label')) ?? (await focused.innerText());
          if (label.trim() === name) return;
        }
        throw new Error(`Tab does not reach ${name}`);
      };
      await heading(page, 'Overview').waitFor();
      await dashboard.service.deny();
      await counted.press('Control+k');
      await counted.fill(focused, 'used-001');
      await page.getByRole('option', { name: 'used-001' }).waitFor();
      await counted.press('Enter');
      await heading(page, 'used-001').and(focused).waitFor();
      await page.getByRole('button', { name: 'Switch off used-001' }).waitFor();
      await tabTo('Switch off used-001');
      await counted.press('Enter');
      await page.getByRole('dialog').getByText('the steps of 3 agents').waitFor();
      await tabTo('Switch off used-001');
      await counted.press('Enter');
      await page.getByRole('button', { name: 'Switch on used-001' }).waitFor();
      expect(counted.actions).toBeLessThanOrEqual(8);

      const before = counted.actions;
      await counted.press('g');
      await counted.press('e');
      await heading(page, 'Events').and(focused).waitFor();
      await rows(page).filter({ hasText: 'no-card-numbers' }).first().waitFor();
      await counted.press('j');
      await page.locator('tbody tr:focus').waitFor();
      await expect.poll(() => page.evaluate(FOCUS)).toBe('visible');
      await counted.press('Enter');
      await page.getByText('1 recorded check of 1 step').waitFor();
      expect(counted.actions - before).toBeLessThanOrEqual(4);
    });
  });

  it('tells an auditor who changed what, by a part of a name and a time from another to another', async () => {
    await open('/', async ({ page }) => {
      const counted = countedPage(page);
      await counted.click(menu(page).getByRole('link', { name: 'Audit log' }));
      await counted.fill(queryField(page), 'actor:bob');
      await counted.press('Enter');
      await page.getByRole('button', { name: 'Remove actor: bob' }).waitFor();
      await counted.click(page.getByRole('button', { name: /^Range:/ }));
      const range = page.getByRole('dialog', { name: 'Time range' });
      await counted.fill(range.getByLabel('From', { exact: true }), typedTime(-1));
      await counted.fill(range.getByLabel('To', { exact: true }), typedTime(1));
      await counted.press('Enter');
      const [first, second, third] = ['057', '058', '059'].map((number) => `“fleet-bot-${number}”`);
      await expect
        .poll(() => rows(page).locator('.sentence').allInnerTexts())
        .toEqual([`bob (risk) added the agents ${first}, ${second} and ${third} to the policy “payments”`]);
      expect(counted.actions).toBeLessThanOrEqual(7);
      const [from, to] = [
        new URL(page.url()).searchParams.get('from'),
        new URL(page.url()).searchParams.get('to'),
      ];
      expect(Date.parse(to ?? '') - Date.parse(from ?? '')).toBe(2 * HOUR_MS);
      await page.goto(address(`/audit?actor=bob&to=${from}`));
      await page.getByText('No entry passes the filters').waitFor();
    });
  });

  it('switches off all controls that no agent has, and gives a policy to the agents of a team', async () => {
    await open('/', async ({ page }) => {
      const counted = countedPage(page);
      await counted.click(menu(page).getByRole('link', { name: 'Controls' }));
      await counted.click(page.getByRole('button', { name: 'Agents', exact: true }));
      await rows(page)
        .first()
        .getByText('no-card-numbers')
        .or(rows(page).first().getByText('used-'))
        .waitFor();
      await counted.fill(queryField(page), 'used:false');
      await counted.press('Enter');
      await page.getByText(`of ${UNUSED_CONTROLS}`, { exact: false }).first().waitFor();
      await counted.click(page.getByLabel(/^Select all \d+ shown controls/));
      await counted.click(page.getByRole('button', { name: `Select all ${UNUSED_CONTROLS} that match` }));
      await counted.click(page.getByRole('button', { name: 'Switch off…' }));
      const dialog = page.getByRole('dialog');
      await counted.click(dialog.getByRole('button', { name: `Switch off: ${UNUSED_CONTROLS} controls` }));
      await dialog.getByText(`${UNUSED_CONTROLS} controls of ${UNUSED_CONTROLS} switched off.`).waitFor();
      await counted.click(dialog.getByRole('button', { name: 'Close' }));
      expect(counted.actions).toBeLessThanOrEqual(9);

      const before = counted.actions;
      await counted.click(menu(page).getByRole('link', { name: 'Policies' }));
      await counted.click(page.getByRole('link', { name: 'finance-policy' }));
      await counted.click(page.getByRole('tab', { name: /^Agents/ }));
      await counted.click(page.getByRole('button', { name: 'Give by labels…' }));
      await counted.fill(page.getByLabel('Label, as name=value'), 'team=finance');
      await counted.press('Enter');
      await counted.click(
        page.getByRole('button', { name: `Save labels: give to ${FINANCE_AGENTS} agents` }),
      );
      await page.getByRole('tab', { name: `Agents (${FINANCE_AGENTS})` }).waitFor();
      expect(counted.actions - before).toBeLessThanOrEqual(7);
      await page.goto(address('/controls?used=false&enabled=false'));
      await page.getByText(`of ${UNUSED_CONTROLS}`).first().waitFor();
    });
  });

  it('shows a key for one agent its counts and events, and says why it refuses the rest', async () => {
    await dashboard.service.deny();
    await open(
      '/',
      async ({ page }) => {
        const counted = countedPage(page);
        const why = page.getByText(`it sees ${LIMITED_AGENT}, and nothing that concerns others`);
        await why.waitFor();
        const agents = page.getByRole('region', { name: 'Agents of this key' });
        await agents
          .getByRole('link', { name: new RegExp(`^[1-9]\\d* denied for ${LIMITED_AGENT}$`) })
          .waitFor();
        await counted.click(menu(page).getByRole('link', { name: 'Events' }));
        await rows(page).filter({ hasText: 'no-card-numbers' }).first().waitFor();
        await counted.click(rows(page).first().getByRole('cell').first());
        await page.getByText('1 recorded check of 1 step').waitFor();
        expect(counted.actions).toBeLessThanOrEqual(2);
        await page.goto(address('/controls'));
        await heading(page, 'Not for this key').waitFor();
        await why.waitFor();
      },
      { key: LIMITED_KEY },
    );
  });

  it('loses no edit in an outage, and does not call what it cannot know', async () => {
    await open('/live', async ({ page, problems }) => {
      await page.getByText('Live.', { exact: true }).waitFor();
      const editor = await page.context().newPage();
      const counted = countedPage(editor);
      const { denying } = dashboard.service;
      await editor.goto(address(`/controls/new?copy=${denying}`));
      await editor.getByLabel('Name', { exact: true }).fill('survivor');
      await editor.getByLabel('Description').fill('before the outage');
      await editor.getByText('Unsaved changes, kept as a draft').waitFor();
      await dashboard.service.fail();
      await page.getByText('Reconnecting, nothing is lost.').waitFor();
      await dashboard.service.startAgain();
      await editor.getByLabel('Description').fill('after the outage');
      const ended = editor.getByRole('dialog', { name: 'Your session has ended' });
      await counted.fill(ended.getByLabel('API key'), ADMIN_KEY);
      await counted.press('Enter');
      await ended.waitFor({ state: 'detached' });
      expect(await editor.getByLabel('Description').inputValue()).toBe('after the outage');
      await editor.getByText('Unsaved changes, kept as a draft').waitFor();
      await page.getByText('Live.', { exact: true }).waitFor();

      // The tab is gone without a question, as with a crash of the browser.
      await editor.close();
      const again = await page.context().newPage();
      const goesOn = countedPage(again);
      await again.goto(address(`/controls/new?copy=${denying}`));
      await goesOn.click(again.getByRole('dialog').getByRole('button', { name: 'Continue' }));
      await expect.poll(() => again.getByLabel('Description').inputValue()).toBe('after the outage');
      await goesOn.click(again.getByRole('button', { name: 'Create control' }));
      await heading(again, 'survivor').waitFor();
      expect(counted.actions + goesOn.actions).toBeLessThanOrEqual(4);
      await again.close();
      // Requests that broke with the service, and the session that ended with it, are told by the browser.
      problems.splice(0, problems.length, ...problems.filter((text) => !/net::ERR|401/.test(text)));
    });
  });
});

const HOUR_MS = 3_600_000;
const START_MS = Math.floor(Date.now() / 1000) * 1000;

/** A time some hours from the start, in UTC, as one types it. */
function typedTime(hours: number): string {
  return `${new Date(START_MS + hours * HOUR_MS).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** Says that the element with the focus shows it, or which one does not. */
const FOCUS = `(() => {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement);
  const isVisible = (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  return isVisible ? 'visible' : document.activeElement.outerHTML.slice(0, 300);
})()`;
