import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import {
  axeViolations,
  axeViolationsInThemes,
  openWatchedPage,
  overflow,
  signIn,
  signOut,
} from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { ADMIN_KEY, AGENT, adminTransport, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

describeOnSqlite('the frame of the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open, address } = dashboard;

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
  const palette = (page: Page) => page.getByRole('dialog', { name: 'Search' });
  const option = (page: Page, name: string) => palette(page).getByRole('option', { name });

  /** Presses Tab until an element has the focus. */
  async function tabTo(page: Page, name: string): Promise<void> {
    const focused = page.locator(':focus');
    for (let count = 0; count < 60; count += 1) {
      await page.keyboard.press('Tab');
      const label =
        (await focused.getAttribute('aria-label').catch(() => null)) ?? (await focused.innerText());
      if (label.trim() === name) return;
    }
    throw new Error(`Tab never reaches ${name}`);
  }

  it('lets the whole job be done with the keyboard alone', async () => {
    const { page, problems } = await openWatchedPage(dashboard.browser);
    const { keyboard } = page;
    await page.goto(address('/'));
    await page.getByLabel('API key').waitFor();
    await keyboard.press('Tab');
    await keyboard.type(ADMIN_KEY);
    await keyboard.press('Enter');
    await heading(page, 'Overview').waitFor();

    await keyboard.press('Control+k');
    await palette(page).waitFor();
    await keyboard.type('card-num');
    await option(page, 'no-card-numbers').waitFor();
    await keyboard.press('Enter');
    await heading(page, 'no-card-numbers').and(page.locator(':focus')).waitFor();
    await tabTo(page, 'Switch off no-card-numbers');
    await keyboard.press('Enter');
    await page.getByRole('dialog').getByText('the steps of 1 agent').waitFor();
    await tabTo(page, 'Switch off no-card-numbers');
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Switch on no-card-numbers' }).waitFor();

    await keyboard.press('g');
    await keyboard.press('l');
    await heading(page, 'Live').and(page.locator(':focus')).waitFor();
    await page.locator('[data-state=live]').waitFor();
    await dashboard.service.evaluate('card 4111111111111111, a refund');
    await page.getByRole('row').filter({ hasText: 'watch-refunds' }).waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'no-card-numbers' }).count()).toBe(0);
    await keyboard.press('Space');
    await page.locator('[data-state=paused]').waitFor();
    await keyboard.press('Space');
    await page.locator('[data-state=live]').waitFor();
    await keyboard.press('j');
    await page.locator('tbody tr:focus').waitFor();
    await keyboard.press('Enter');
    await page.getByText('1 recorded check of 1 step').waitFor();
    await page.locator('h1:focus').waitFor();
    expect(problems).toEqual([]);
    await dashboard.service.enable(dashboard.service.controlIds.get('no-card-numbers') ?? 0, true);
    await page.context().close();
  });

  it('takes what is typed at once after the first Ctrl+K, and nothing that is typed without a field', async () => {
    await open('/', async ({ page }) => {
      const { keyboard } = page;
      await heading(page, 'Overview').waitFor();
      await keyboard.type('angle g events');
      expect(page.url()).toBe(address('/'));
      // The program of the palette is on its way for as long as one types.
      let load = (): void => {};
      const typed = new Promise<void>((resolve) => {
        load = resolve;
      });
      await page.route('**/ui/assets/palette-results-*.js', async (route) => {
        await typed;
        await route.continue();
      });
      await keyboard.press('Control+k');
      await keyboard.type('get evaluators');
      expect(await palette(page).getByRole('combobox').inputValue()).toBe('get evaluators');
      await keyboard.press('Control+a');
      await keyboard.type('no-card');
      await keyboard.press('Enter');
      expect(page.url()).toBe(address('/'));
      load();
      await heading(page, 'no-card-numbers').waitFor();
      await keyboard.press('g');
      await keyboard.press('u');
      await heading(page, 'Audit log').waitFor();
      await keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Audit log').waitFor();
    });
  });

  it('finds pages, things and actions in the palette, and remembers what was open', async () => {
    await open('/controls', async ({ page }) => {
      const { keyboard } = page;
      const controlId = dashboard.service.controlIds.get('watch-refunds');
      await page.getByRole('button', { name: 'Search' }).click();
      await option(page, 'Overview').waitFor();
      await keyboard.type('billing');
      await option(page, AGENT).click();
      await heading(page, AGENT).waitFor();

      await keyboard.press('Control+k');
      await palette(page).getByRole('group', { name: 'Recent' }).getByText(`Agent ${AGENT}`).waitFor();
      await keyboard.type(`${controlId}`);
      await option(page, 'watch-refunds').click();
      await heading(page, 'watch-refunds').waitFor();

      await keyboard.press('Control+k');
      await keyboard.type('mail-pol');
      await option(page, 'mail-policy').waitFor();
      await page.getByRole('combobox').fill('no such thing');
      await palette(page).getByText('Nothing is called').waitFor();
      await page.getByRole('combobox').fill('dark theme');
      await option(page, 'Use the dark theme').waitFor();
      await keyboard.press('Enter');
      expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');

      await keyboard.press('Control+k');
      await keyboard.press('ArrowDown');
      await keyboard.press('ArrowUp');
      await keyboard.press('ArrowUp');
      // The last action, above the first choice.
      await page.locator('[role=option][aria-selected=true]').getByText('Sign out').waitFor();
      await keyboard.press('Escape');
      await palette(page).waitFor({ state: 'detached' });
    });
  });

  it('has keys for pages and filters, which can be turned off and do nothing while one types', async () => {
    await open('/', async ({ page }) => {
      const { keyboard } = page;
      await heading(page, 'Overview').waitFor();
      await keyboard.press('g');
      await keyboard.press('c');
      await heading(page, 'Controls').waitFor();
      await keyboard.press('/');
      const filter = page.getByRole('combobox', { name: 'Filter controls' });
      await filter.and(page.locator(':focus')).waitFor();
      await keyboard.type('g a j ? /');
      expect(await filter.inputValue()).toBe('g a j ? /');
      await filter.fill('');
      await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
      const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await dialog.getByText('Go to Playground').waitFor();
      await dialog.getByLabel('Single keys are shortcuts').uncheck();
      await keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Keyboard shortcuts' }).and(page.locator(':focus')).waitFor();
      await keyboard.press('g');
      await keyboard.press('a');
      await keyboard.press('?');
      await keyboard.press('Control+k');
      // The palette opens with keys that are not single; nothing else has happened before.
      await palette(page).waitFor();
      await keyboard.press('Escape');
      expect(await dialog.count()).toBe(0);
      await heading(page, 'Controls').waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
      await dialog.getByLabel('Single keys are shortcuts').check();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await dialog.waitFor({ state: 'detached' });
      await keyboard.press('?');
      await dialog.waitFor();
    });
  });

  it('draws the rows in view of a long table only, and loads more at its end', async () => {
    await dashboard.service.storeEvents(450);
    await open('/events?agent=flood-bot-01', async ({ page }) => {
      const { keyboard } = page;
      const table = page.getByRole('table');
      const shown = page.getByText(/^\d+ of 450$/);
      for (const count of [200, 300]) {
        await page.getByRole('button', { name: 'Load more' }).click();
        await expect.poll(() => shown.innerText()).toBe(`${count} of 450`);
      }
      expect(await table.getAttribute('aria-rowcount')).toBe('301');
      expect(await page.locator('tbody tr').count()).toBeLessThan(100);
      await keyboard.press('j');
      await page.locator('tr:focus').waitFor();
      await keyboard.press('End');
      // The end of the table loads the next page by itself.
      await expect.poll(() => shown.innerText()).toBe('400 of 450');
      await expect.poll(() => page.locator('tr:focus').getAttribute('aria-rowindex')).toBe('301');
      await keyboard.press('j');
      await expect.poll(() => page.locator('tr:focus').getAttribute('aria-rowindex')).toBe('302');
      await keyboard.press('Home');
      await expect.poll(() => page.locator('tr:focus').getAttribute('aria-rowindex')).toBe('2');
      expect(await page.locator('tr:focus [data-row-link]').getAttribute('href')).toContain('flood-449');
      expect(await axeViolations(page)).toEqual([]);
    });
  });

  it('completes an expression by the registered schemas, leaves its field with Tab, and saves it', async () => {
    const transport = adminTransport(dashboard.service.url);
    const controls = createClient(ControlService, transport);
    const properties = { amount: { type: 'number' }, to: { type: 'string' } };
    const inputSchema = { type: 'object', properties, additionalProperties: false };
    await createClient(AgentService, transport).initAgent({
      agent: { agentName: 'payments-bot-01' },
      steps: [{ type: 'tool', name: 'transfer', inputSchema }],
    });
    const evaluator = { name: 'cel', config: { expression: "input.to == 'a'" } };
    const { controlId } = await controls.createControl({
      name: 'completed',
      data: {
        execution: Execution.SERVER,
        scope: { stepNames: ['transfer'] },
        condition: { selector: { path: '*' }, evaluator },
        action: { decision: Decision.OBSERVE },
      },
    });
    await open(`/controls/${controlId}/edit?node=`, async ({ page }) => {
      const { keyboard } = page;
      const written = page.locator('.expression-editor .cm-line');
      await page.locator('.expression-editor .cm-content').click();
      await keyboard.press('Control+A');
      await keyboard.insertText('input.');
      await keyboard.press('Control+Space');
      const proposals = page.locator('.cm-tooltip-autocomplete').getByRole('option');
      await proposals.filter({ hasText: /^amount/ }).waitFor();
      await proposals.filter({ hasText: /^to/ }).waitFor();
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
      await keyboard.type('am');
      await expect.poll(() => proposals.count()).toBe(1);
      await keyboard.press('Enter');
      await keyboard.insertText(' > 5000');
      expect(await written.allInnerTexts()).toEqual(['input.amount > 5000']);
      await page.getByText('The result is bool').waitFor();
      await keyboard.press('Tab');
      await expect.poll(() => page.locator('.expression-editor .cm-focused').count()).toBe(0);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'completed', exact: true }).waitFor();
      await page.getByText('input.amount > 5000', { exact: true }).waitFor();
    });
    const { data } = await controls.getControl({ controlId });
    expect(data?.condition?.evaluator?.config).toEqual({ expression: 'input.amount > 5000' });
  });

  it('asks for a key again when the session has ended, and returns to the same address', async () => {
    await open('/policies?name=mail', async ({ page }) => {
      const other = await page.context().newPage();
      await other.goto(address('/agents'));
      await heading(other, 'Agents').waitFor();
      await page.context().clearCookies();
      await page.getByRole('link', { name: 'mail-policy' }).click();
      await page.getByLabel('API key').waitFor();
      expect(await page.evaluate('localStorage.getItem("recent-pages")')).toBeNull();
      await signIn(page, ADMIN_KEY);
      await heading(page, 'mail-policy').waitFor();
      await signOut(page);
      await other.getByLabel('API key').waitFor();
      await signIn(other, ADMIN_KEY);
      await heading(other, 'Agents').waitFor();
      await heading(page, 'mail-policy').waitFor();
    });
  });

  it('offers to reload when the server has a new version of the dashboard', async () => {
    await open('/', async ({ page, problems }) => {
      await heading(page, 'Overview').waitFor();
      await page.route('**/ui/assets/agents-page-*.js', (route) => route.fulfill({ status: 404 }));
      await page.getByRole('link', { name: 'Agents', exact: true }).click();
      await page.getByText('A part of the dashboard could not be loaded').waitFor();
      await page.route('**/ui/', async (route) => {
        const reply = await route.fetch();
        const body = (await reply.text()).replace(/assets\/index-[^"]+\.js/, 'assets/index-new.js');
        await route.fulfill({ response: reply, body });
      });
      await page.getByRole('link', { name: 'Policies', exact: true }).click();
      await heading(page, 'Policies').waitFor();
      await page.getByRole('link', { name: 'Agents', exact: true }).click();
      await page.getByText('A new version of the dashboard is available').waitFor();
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Reload' }).click();
      await heading(page, 'Agents').waitFor();
      // The failed file is reported by the browser and by React.
      expect(problems.length).toBeGreaterThan(0);
      problems.length = 0;
    });
  });

  it('takes a key that is pressed before the focus has left a dialog that was just closed', async () => {
    await open('/', async ({ page }) => {
      await heading(page, 'Overview').waitFor();
      await page.keyboard.press('Control+k');
      await option(page, 'Overview').waitFor();
      await page.evaluate(`
        document.querySelector('dialog[open]').close();
        const key = new KeyboardEvent('keydown', { key: '?', bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(key);
      `);
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    });
  });

  it('explains why a sign-in failed', async () => {
    const { page } = await openWatchedPage(dashboard.browser);
    await page.goto(address('/controls'));
    const fill = async (key: string) => {
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await page.route('**/api/login', (route) => route.abort());
    await fill(ADMIN_KEY);
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    await page.unrouteAll();
    await page.route('**/api/login', async (route) => route.fulfill({ status: 204 }));
    await fill(ADMIN_KEY);
    await page.getByRole('alert').getByText('did not keep the cookie').waitFor();
    await page.unrouteAll();
    await fill('unknown');
    await page.getByRole('alert').getByText('does not know this key').waitFor();
    await fill(ADMIN_KEY);
    await heading(page, 'Controls').waitFor();
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)(
    'passes axe in the %s theme: sign-in, palette and shortcuts',
    async (colorScheme) => {
      // But for the colors, a page is the same in both.
      const rules = colorScheme === 'light' ? 'colors' : 'all';
      const { page, problems } = await openWatchedPage(dashboard.browser, {
        colorScheme,
        viewport: { width: 360, height: 740 },
      });
      await page.goto(address('/'));
      await page.getByLabel('API key').waitFor();
      expect(await axeViolations(page, rules)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      await signIn(page, ADMIN_KEY);
      await page.keyboard.press('Control+k');
      await option(page, 'Overview').waitFor();
      expect(await axeViolations(page, rules)).toEqual([]);
      await page.keyboard.press('Escape');
      await palette(page).waitFor({ state: 'detached' });
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      expect(await axeViolations(page, rules)).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await page.getByRole('link', { name: 'Agents', exact: true }).isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Menu' }).click();
      expect(await axeViolations(page, rules)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      await page.getByRole('link', { name: 'Agents', exact: true }).click();
      await heading(page, 'Agents').waitFor();
      expect(await page.getByRole('link', { name: 'Policies', exact: true }).isVisible()).toBe(false);
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );
});
