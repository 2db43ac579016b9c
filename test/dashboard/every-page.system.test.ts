import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCaller, loadDefinitions, loadHistory } from '../../scripts/demo-data/load.mjs';
import { PAGES } from '../../scripts/demo-data/pages.mjs';
import { axeViolations, inSignedInTab, overflow, settled } from '../support/dashboard-browser.js';
import { createTestDatabase, type TestDatabase } from '../support/databases.js';
import { startService, type TestService } from '../support/service.js';
import { sharedBrowser } from '../support/shared-browser.js';
import { shownRange } from './query-bar.js';

const ADMIN_KEY = 'admin-key-of-every-page';
const REGULAR_KEY = 'regular-key-of-every-page';
const WIDTHS = [360, 1280, 1920, 2560];
/**
 * What axe looks at in the dark theme at the widths of a telephone and of a laptop. Colors do not depend on the width, and
 * are more than half of its work; the files about single pages look at those of what only a telephone shows.
 */
const LOOKED_AT = new Map<number, 'all' | 'structure'>([
  [360, 'structure'],
  [1280, 'all'],
]);
/**
 * Pages of which axe looks at the colors of the light theme, too: between them they have every kind of element. The
 * files about single pages look at both themes of what opens there.
 */
const IN_BOTH_THEMES = new Set([
  'overview',
  'live',
  'trace',
  'agent-activity',
  'agent-steps',
  'controls',
  'control-comparison',
  'editor',
  'template',
  'audit-entry',
  'playground',
]);
/** Names of actions that only an admin may take. */
const ADMIN_ACTIONS = /^(New|Create|Save|Delete|Remove|Add|Link|Unlink|Switch|Rename|Restore)\b/;

// What a page looks like does not depend on the database; what it does is tested with both, in the other files.
describe('every page of the dashboard, with the demonstration data', () => {
  let browser: Browser;
  let database: TestDatabase;
  let service: TestService;
  let url: string;
  let paths: (readonly [string, string])[];
  beforeAll(async () => {
    database = await createTestDatabase('sqlite');
    service = await startService(
      {
        DATABASE_URL: database.url,
        SERVICE_API_KEY_ENABLED: 'true',
        SERVICE_API_KEYS: REGULAR_KEY,
        SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
      },
      { keepsLines: false },
    );
    url = service.url;
    const call = createCaller(url, ADMIN_KEY);
    await loadDefinitions(call);
    await loadHistory(call, { days: 7, count: 2_000, now: Date.now() });
    const { events } = await call('POST', '/observability/events/query', { limit: 1, matched: true });
    paths = Object.entries(PAGES).map(([name, address]) => [
      name,
      address.replace(':trace', events[0].trace_id),
    ]);
    browser = await sharedBrowser();
  });
  afterAll(async () => {
    await service?.stop();
    await database?.drop();
  });

  /** Visits every page in one tab and returns what is wrong with them. */
  async function onEveryPage(
    key: string,
    check: (page: Page, name: string) => Promise<unknown[]>,
  ): Promise<unknown[]> {
    const wrong: unknown[] = [];
    await inSignedInTab(browser, `${url}/ui/`, { key, colorScheme: 'dark' }, async ({ page, problems }) => {
      for (const [name, address] of paths) {
        await page.goto(`${url}/ui${address}`);
        await settled(page);
        wrong.push(...(await check(page, name)).map((found) => [name, found]));
        wrong.push(...problems.splice(0).map((problem) => [name, problem]));
      }
    });
    return wrong;
  }

  it('has no barrier that axe finds, and fits every width', async () => {
    const wrong = await onEveryPage(ADMIN_KEY, async (page, name) => {
      const found: unknown[] = [];
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        // Charts adapt after the layout.
        const fits = expect.poll(() => overflow(page)).toBe(0);
        await fits.catch(() => found.push(`is wider than ${width} pixels`));
        const rules = LOOKED_AT.get(width);
        if (rules === undefined) continue;
        found.push(...(await axeViolations(page, rules)).map((violation) => [width, violation]));
      }
      await page.setViewportSize({ width: 1280, height: 800 });
      if (IN_BOTH_THEMES.has(name)) {
        await page.emulateMedia({ colorScheme: 'light' });
        found.push(...(await axeViolations(page, 'colors')).map((violation) => ['light', violation]));
        await page.emulateMedia({ colorScheme: 'dark' });
      }
      return found;
    });
    expect(wrong).toEqual([]);
  });

  it('offers a regular key no action of an admin', async () => {
    const wrong = await onEveryPage(REGULAR_KEY, async (page) => {
      const main = page.getByRole('main');
      const actions = main
        .getByRole('button', { name: ADMIN_ACTIONS })
        .or(main.getByRole('link', { name: ADMIN_ACTIONS }));
      // Every caller may fill in a form to try it, and filter a list.
      return actions.evaluateAll((elements) =>
        elements
          .filter((element) => element.closest('.schema-form, search') === null)
          .map(({ outerHTML }) => outerHTML),
      );
    });
    expect(wrong).toEqual([]);
  });

  it('saves what is downloaded, or written to a file that is chosen, and copies texts', async () => {
    await inSignedInTab(
      browser,
      `${url}/ui/events?outcome=denied&range=24h`,
      { key: REGULAR_KEY },
      async ({ page }) => {
        const save = page.getByRole('button', { name: 'Export as NDJSON' });
        await page.evaluate('window.showSaveFilePicker = undefined');
        const download = page.waitForEvent('download');
        await save.click();
        const downloaded = await readFile(await (await download).path(), 'utf8');
        expect(downloaded).toMatch(/^\{.*\}\n$/s);
        // A file of the browser's own, which has the same interface as one that is chosen.
        await page.evaluate(`window.showSaveFilePicker = async () =>
        (await navigator.storage.getDirectory()).getFileHandle('chosen', { create: true })`);
        await save.click();
        const readChosen = () =>
          page.evaluate<string>(`navigator.storage.getDirectory()
          .then((folder) => folder.getFileHandle('chosen'))
          .then((handle) => handle.getFile())
          .then((file) => file.text())`);
        await expect.poll(readChosen).toBe(downloaded);

        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.goto(`${url}/ui/playground?agent=support-assistant`);
        await page.getByRole('button', { name: 'Copy link' }).click();
        await page.getByText('Copied.').waitFor();
        expect(await page.evaluate('navigator.clipboard.readText()')).toBe(page.url());
      },
    );
  });

  it('selects a range in a chart, by pointer and by keyboard', async () => {
    await inSignedInTab(
      browser,
      `${url}/ui/controls/3?tab=activity&range=24h`,
      { key: ADMIN_KEY },
      async ({ page }) => {
        const chart = page.locator('.activity-chart').filter({ hasText: 'Decisions over time' });
        const times = () => {
          const { searchParams } = new URL(page.url());
          return ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''));
        };
        const hours = () => ((times()[1] ?? 0) - (times()[0] ?? 0)) / 3_600_000;
        await chart.getByText('Changes (dashed lines)').waitFor();
        const box = await chart.locator('section > svg').boundingBox();
        const { x, y, width } = box ?? { x: 0, y: 0, width: 0 };
        await page.mouse.move(x + width - 2, y + 40);
        await page.mouse.down();
        await page.mouse.move(x + width / 2, y + 60, { steps: 3 });
        await chart.getByText('selected. Enter zooms in').waitFor();
        await page.mouse.up();
        await expect.poll(hours).toBeGreaterThan(6);
        expect(await shownRange(page)).toMatch(/^\d+ \w+ \d\d:\d\d(:\d\d)? – /);
        const selected = hours();
        await page.getByRole('button', { name: 'Zoom out' }).click();
        await expect.poll(hours).toBe(2 * selected);
        await page.goBack();
        await expect.poll(hours).toBe(selected);
        await page.goBack();
        await expect.poll(() => shownRange(page)).toBe('Last 24 hours');

        await chart.locator('.bar').last().focus();
        await page.keyboard.press('Shift+ArrowLeft');
        await chart.getByText('selected. Enter zooms in').waitFor();
        await page.keyboard.press('Escape');
        await chart.getByText('selected. Enter zooms in').waitFor({ state: 'detached' });
        await page.keyboard.press('Shift+Home');
        await page.keyboard.press('Enter');
        await expect.poll(hours).toBeGreaterThan(12);
        // Other pages that are opened without a range have it, too.
        await page.getByRole('link', { name: 'Audit log', exact: true }).click();
        await expect.poll(hours).toBeGreaterThan(12);
        await settled(page);
        expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
      },
    );
  });

  it('tells the numbers of a chart by keyboard and as a table, and leads to their events', async () => {
    const address = `${url}/ui/controls/3?tab=activity&range=7d`;
    await inSignedInTab(browser, address, { key: ADMIN_KEY }, async ({ page }) => {
      const { keyboard } = page;
      const activity = page.getByRole('tabpanel');
      const bar = activity.locator('.bar[tabindex="0"]');
      const focused = () => page.evaluate<string>('document.activeElement.getAttribute("aria-label")');
      await bar.focus();
      const last = await focused();
      await keyboard.press('ArrowLeft');
      expect(await focused()).not.toBe(last);
      await keyboard.press('End');
      expect(await focused()).toBe(last);
      await keyboard.press('Home');
      const names = await activity.locator('.bar').evaluateAll((bars) => bars.map((one) => one.ariaLabel));
      expect([await focused(), await bar.count()]).toEqual([names[0], 1]);
      // A bar with something to tell.
      const told = names.findIndex((name) => !name?.endsWith(': nothing'));
      for (let count = 0; count < told; count += 1) await keyboard.press('ArrowRight');
      const [words = ''] = / \d+ \w+/.exec(names[told]?.split(': ').at(-1) ?? '') ?? [];
      await activity
        .locator('.chart-values')
        .getByText(words.trim().split(' ')[1] ?? 'denied')
        .first()
        .waitFor();
      await activity.getByText('As a table').click();
      const table = activity.getByRole('region', { name: 'Decisions over time', exact: true });
      expect(await table.getByRole('row').count()).toBe(
        1 + names.filter((name) => !name?.endsWith(': nothing')).length,
      );
      await bar.focus();
      await keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
      const { searchParams } = new URL(page.url());
      expect([searchParams.get('control'), searchParams.has('from'), searchParams.has('to')]).toEqual([
        '3',
        true,
        true,
      ]);
      await page.getByRole('row').nth(1).waitFor();
    });
  });

  it('is in the list of pages', () => {
    expect([...IN_BOTH_THEMES].filter((name) => !Object.hasOwn(PAGES, name))).toEqual([]);
    const source = path.resolve(import.meta.dirname, '../../packages/dashboard/src/app.tsx');
    const routes = [...readFileSync(source, 'utf8').matchAll(/<Route path="([^"]+)"/g)].map(
      ([, route = '']) => route,
    );
    expect(routes.length).toBeGreaterThan(5);
    const listed = Object.values(PAGES).map((address) => address.split('?')[0] ?? '');
    const isListed = (route: string) => {
      const pattern = new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}$`);
      return listed.some((address) => pattern.test(address));
    };
    expect(routes.filter((route) => !isListed(route))).toEqual([]);
  });
});
