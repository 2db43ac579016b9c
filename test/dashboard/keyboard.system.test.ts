import { createClient } from '@connectrpc/connect';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { definitionValue } from '../../packages/dashboard/src/control-parts/definition-json.js';
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

  it('signs in, finds a control, and watches and opens events with the keyboard alone', async () => {
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
    await keyboard.press('g');
    await keyboard.press('l');
    await heading(page, 'Live').and(page.locator(':focus')).waitFor();
    await page.locator('[data-state=live]').waitFor();
    await dashboard.service.evaluate('a refund');
    await page.getByRole('row').filter({ hasText: 'watch-refunds' }).waitFor();
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

  it('writes a control with and, or, not by keyboard alone, and shows a problem of the server at its node', async () => {
    const controls = createClient(ControlService, adminTransport(dashboard.service.url));
    await open(`/controls/new?agent=${AGENT}`, async ({ page }) => {
      const tree = page.getByRole('tree', { name: 'Condition tree' });
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      const fillCheck = async (path: string, pattern: string) => {
        await press('Enter', 'Control+a');
        await page.keyboard.type(path);
        await tabTo(page, page.getByLabel('Evaluator', { exact: true }));
        await page.keyboard.type('regex');
        await tabTo(page, page.getByLabel('pattern'));
        await page.keyboard.type(pattern);
        await press('Escape');
        await expectFocus(tree);
      };
      await tabTo(page, tree);
      await press('ArrowDown');
      await fillCheck('input.text', 'card');
      // OR beside the first check, which brings AND around both.
      await press('a', 'ArrowDown', 'ArrowDown', 'Enter', 'ArrowDown');
      await fillCheck('input.to', 'bank');
      // NOT below OR.
      await press('ArrowUp', 'a', 'End', 'Enter', 'ArrowDown');
      await fillCheck('input.amount', '(');
      await page.getByRole('treeitem', { name: /regex on input\.amount.*has a problem/ }).waitFor();
      const summary = page.getByRole('region', { name: 'Problems' });
      await summary.getByText('missing closing )').waitFor();
      await press('Home');
      await tabTo(
        page,
        summary.getByRole('button', { name: 'condition.and[1].or[1].not.evaluator.pattern' }),
      );
      await press('Enter');
      await expectFocus(page.getByLabel('pattern'));
      await press('End', 'Backspace');
      await page.keyboard.type('0');
      await summary.getByText('No problems found.').waitFor();
      await press('Escape', 'Home', 'Enter');
      await page.keyboard.type('by-keyboard');
      await press('Control+s');
      await page.getByRole('heading', { level: 1, name: 'by-keyboard', exact: true }).waitFor();
      const check = (path: string, pattern: string) => ({
        selector: { path },
        evaluator: { name: 'regex', config: { pattern } },
      });
      const id = Number(/controls\/(\d+)$/.exec(page.url())?.[1]);
      const { data } = await controls.getControl({ controlId: id });
      expect(data && definitionValue(data)).toEqual({
        execution: 'server',
        enabled: true,
        condition: {
          and: [
            check('input.text', 'card'),
            { or: [check('input.to', 'bank'), { not: check('input.amount', '0') }] },
          ],
        },
        action: { decision: 'observe' },
        scope: {},
      });
      const { agents } = await controls.listControlAgents({ controlId: id });
      expect(agents.map(({ agentName, direct }) => [agentName, direct])).toEqual([[AGENT, true]]);
    });
  });

  it('moves a check in the tree by pointer, and lets no pane cut its menu off', async () => {
    const controlId = dashboard.service.controlIds.get('watch-refunds') ?? 0;
    await open(`/controls/${controlId}/edit?view=json`, async ({ page }) => {
      const item = (name: RegExp) => page.getByRole('treeitem', { name });
      await item(/regex on input\.text/).click();
      await page.getByRole('tree', { name: 'Condition tree' }).press('a');
      await page.getByRole('menu', { name: 'Add' }).waitFor();
      expect(await page.evaluate(AT_EDGES_OF_MENU)).toEqual([true, true]);
      await page.keyboard.press('Escape');
      const json = page.getByRole('textbox', { name: 'Definition as JSON' });
      const read = async () => (await json.innerText()).replaceAll(/\s/g, '');
      await json.focus();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(`{"condition": {"or": [{"selector": {"path": "input.text"}, "evaluator": {"name": "list", "config": {"values": ["money"]}}}, {"selector": {"path": "name"}, "evaluator": {"name": "regex", "config": {"pattern": "mail"}}}
        ]}, "execution": "server", "action": {"decision": "observe"}}`);
      await item(/regex on name/).dragTo(item(/list on input\.text/), { targetPosition: { x: 80, y: 3 } });
      await expect.poll(read).toMatch(/"regex".*"list"/);
      await page.getByRole('link', { name: 'The control', exact: true }).click();
      await page.getByRole('button', { name: 'Discard the changes of watch-refunds' }).click();
      await heading(page, 'watch-refunds').waitFor();
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

/** Whether the edges of the open menu are what one sees at their places. */
const AT_EDGES_OF_MENU = `(() => {
  const menu = document.querySelector('[role=menu]');
  const { left, right, top, bottom } = menu.getBoundingClientRect();
  const isSeen = (x, y) => menu.contains(document.elementFromPoint(x, y));
  return [isSeen(left + 3, top + 3), isSeen(right - 3, bottom - 3)];
})()`;

const MAX_TABS = 40;

/** Moves the focus with the Tab key only. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let count = 0; count < MAX_TABS; count += 1) {
    if (await hasFocus(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${target}`);
}

function hasFocus(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === element.ownerDocument.activeElement);
}

async function expectFocus(target: Locator): Promise<void> {
  await expect.poll(() => hasFocus(target)).toBe(true);
}
