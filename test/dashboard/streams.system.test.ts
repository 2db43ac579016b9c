import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn, signOut, TAB_TIMEOUT_MS } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { sharedBrowser } from '../support/shared-browser.js';
import { executeSql } from '../support/sql.js';
import { CONTROL, STREAM_KEY, type StreamService, startStreamService } from './stream-service.js';

describeOnSqlite('the streams of a browser', (freshDatabaseUrl) => {
  let browser: Browser;
  let databaseUrl: string;
  let service: StreamService;
  beforeAll(async () => {
    databaseUrl = await freshDatabaseUrl();
    service = await startStreamService(databaseUrl);
    browser = await sharedBrowser();
  });
  afterAll(async () => {
    await service?.dispose();
  });

  /** Opens a browser of its own with one tab, which is signed in. */
  async function openContext(options: { readonly withoutLocks?: boolean } = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(TAB_TIMEOUT_MS);
    if (options.withoutLocks === true) {
      // As on a page over plain http from another host.
      await context.addInitScript(
        "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })",
      );
    }
    const problems: string[] = [];
    context.on('weberror', (error) => problems.push(error.error().message));
    context.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
    });
    const first = await context.newPage();
    await first.goto(`${service.url}/ui/policies`);
    await signIn(first, STREAM_KEY);
    return { context, first, problems };
  }

  async function openTab(context: BrowserContext, path: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${service.url}/ui${path}`);
    return page;
  }

  const live = (page: Page) => page.locator('[data-state=live]').waitFor();
  /** Shown beside a control that is switched off. */
  const isOff = (page: Page) =>
    page.getByRole('row').filter({ hasText: CONTROL }).getByText('off', { exact: true });
  /** Ids of the traces that rows lead to, latest first. */
  const traces = async (page: Page) => {
    const addresses = await page
      .locator('tbody [data-row-link]')
      .evaluateAll((links) => links.map((link) => String(link.getAttribute('href'))));
    return addresses.map((href) => new URL(href, service.url).searchParams.get('id'));
  };
  /** The latest traces of a page; those of earlier tests are below them. */
  const expectTraces = (page: Page, ...expected: string[]) =>
    expect.poll(async () => (await traces(page)).slice(0, expected.length)).toEqual(expected);

  it('are shared by ten tabs over HTTP/1.1, which can all load pages, and survive the tab that opened them', async () => {
    const { context, first, problems } = await openContext();
    const [leader = '', ...others] = service.agents;
    // The filters and agents of ten tabs need more streams than a browser has connections.
    const tabs = [
      await openTab(context, `/live?agent=${leader}`),
      await openTab(context, `/live?agent=${leader}&action=deny`),
      await openTab(context, `/live?agent=${leader}&stage=pre`),
    ];
    const watching: Page[] = [];
    for (const agent of others) {
      tabs.push(await openTab(context, `/live?agent=${agent}`));
      watching.push(await openTab(context, `/agents/${agent}`));
    }
    expect(tabs.length + watching.length + 1).toBeGreaterThan(10);
    for (const tab of tabs) await live(tab);
    await service.store('one');
    for (const tab of tabs) await expectTraces(tab, 'one');
    await service.enable(false);
    for (const tab of watching) await isOff(tab).waitFor();
    await service.enable(true);
    for (const tab of watching) await isOff(tab).waitFor({ state: 'detached' });

    for (const tab of [first, ...watching]) {
      await tab.getByRole('link', { name: 'Controls', exact: true }).click();
      await tab.getByRole('link', { name: CONTROL }).waitFor();
    }
    await tabs.shift()?.close();
    await service.store('two');
    for (const tab of tabs) await expectTraces(tab, 'two', 'one');
    await tabs.pop()?.close();
    await service.store('three');
    for (const tab of tabs) await expectTraces(tab, 'three', 'two', 'one');

    await signOut(first);
    for (const tab of [first, ...watching, ...tabs]) await tab.getByLabel('API key').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('continue without a gap when the service was killed and started again', async () => {
    const { context, problems } = await openContext();
    const [agent = ''] = service.agents;
    const tabs = [
      await openTab(context, `/live?agent=${agent}`),
      await openTab(context, `/live?agent=${agent}`),
    ];
    for (const tab of tabs) await live(tab);
    await service.store('before');
    for (const tab of tabs) await expectTraces(tab, 'before');
    await service.kill();
    for (const tab of tabs) await tab.getByText('Reconnecting, nothing is lost.').waitFor();
    await service.restart();
    await service.store('after');
    for (const tab of tabs) {
      await live(tab);
      await expectTraces(tab, 'after', 'before');
    }
    // The browser itself reports requests that fail.
    expect(problems.filter((text) => !text.includes('net::ERR_'))).toEqual([]);
    await context.close();
  });

  it('say that they fell behind, when the database was restored', async () => {
    const { context, problems } = await openContext();
    const [agent = ''] = service.agents;
    const page = await openTab(context, `/live?agent=${agent}`);
    await live(page);
    await service.store('lost');
    await expectTraces(page, 'lost');
    await page.getByRole('button', { name: 'Pause' }).click();
    await executeSql(
      databaseUrl,
      `BEGIN; UPDATE "event_log" SET "position" = 2, "events" = 2; DELETE FROM "events" WHERE "position" > 2; COMMIT;`,
    );
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('The database was restored').waitFor();
    await service.store('found');
    await expectTraces(page, 'found', 'lost');
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('The database was restored').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await context.close();
  });

  it('work in each tab by itself where tabs cannot find each other', async () => {
    const { context, problems } = await openContext({ withoutLocks: true });
    const [agent = ''] = service.agents;
    const tabs = [await openTab(context, `/live?agent=${agent}`), await openTab(context, `/agents/${agent}`)];
    const [events, controls] = tabs as [Page, Page];
    await live(events);
    await service.store('alone');
    await expectTraces(events, 'alone');
    await service.enable(false);
    await isOff(controls).waitFor();
    await service.enable(true);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('draw at most ten rows a second and count the others, and hold still under the pointer', async () => {
    const { context, problems } = await openContext();
    const [agent = ''] = service.agents;
    const page = await openTab(context, `/live?agent=${agent}`);
    await live(page);
    const ids = Array.from({ length: 200 }, (_, index) => `flood-${index}`);
    await service.store(...ids);
    await page.getByText('200 events received.').waitFor();
    await expect.poll(async () => (await traces(page))[0]).toBe('flood-199');
    const skipped = (await page.locator('.skipped').allInnerTexts()).map((text) =>
      Number(/^\+(\d+) more$/.exec(text)?.[1]),
    );
    const drawn = (await traces(page)).filter((id) => id?.startsWith('flood-')).length;
    expect(drawn).toBeLessThan(100);
    expect(skipped.reduce((sum, count) => sum + count, drawn)).toBe(200);

    await page.getByRole('row').nth(3).hover();
    await service.store('held');
    await page.getByText('Held while you read: 1 new.').waitFor();
    expect((await traces(page))[0]).toBe('flood-199');
    await page.mouse.move(0, 0);
    await expect.poll(async () => (await traces(page))[0]).toBe('held');
    expect(problems).toEqual([]);
    await context.close();
  });
});
