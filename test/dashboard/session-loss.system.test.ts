import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Decision, Execution } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { KeyService } from '../../gen/proto/enforcement/v1/key_service_pb.js';
import { NamespaceService } from '../../gen/proto/enforcement/v1/namespace_service_pb.js';
import {
  axeViolationsInThemes,
  inSignedInTab,
  overflow,
  settled,
  signIn,
  signOut,
} from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { startService, type TestService } from '../support/service.js';
import { sharedBrowser } from '../support/shared-browser.js';
import { ADMIN_KEY, adminTransport, OPERATOR_KEY } from './dashboard-service.js';
import { filterBy } from './query-bar.js';

const OTHER_KEY = 'another-admin-key-of-the-dashboard-tests';

describeOnSqlite('work that is not saved', (freshDatabaseUrl) => {
  let service: TestService;
  /** Address of a new control that can be saved. */
  let copy: string;
  const environment = {
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_ADMIN_API_KEYS: `${ADMIN_KEY},${OTHER_KEY}`,
    SERVICE_OPERATOR_API_KEYS: OPERATOR_KEY,
  };
  beforeAll(async () => {
    service = await startService({ ...environment, DATABASE_URL: await freshDatabaseUrl() });
    const { controlId } = await createClient(ControlService, adminTransport(service.url)).createControl({
      name: 'base',
      data: {
        execution: Execution.SERVER,
        condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'a' } } },
        action: { decision: Decision.OBSERVE },
      },
    });
    copy = `/controls/new?copy=${controlId}`;
  });
  afterAll(() => service.stop());

  const open = async (
    path: string,
    test: (page: Page, problems: string[]) => Promise<void>,
    key = ADMIN_KEY,
  ) => {
    const browser = await sharedBrowser();
    await inSignedInTab(browser, `${service.url}/ui${path}`, { key }, ({ page, problems }) =>
      test(page, problems),
    );
  };
  const signInDialog = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' });
  const signInAgain = async (page: Page, key: string) => {
    await signInDialog(page).getByLabel('API key').fill(key);
    await signInDialog(page).getByRole('button', { name: 'Sign in' }).click();
    await signInDialog(page).waitFor({ state: 'detached' });
  };
  const name = (page: Page) => page.getByLabel('Name', { exact: true });
  const isKept = (page: Page) => page.getByText('Unsaved changes, kept as a draft').waitFor();
  const offer = (page: Page) =>
    page.getByRole('dialog', { name: /^You have an unsaved draft from \d\d:\d\d$/ });

  it('is still there after a restart of the service, and the page goes on after signing in over it', async () => {
    await open(copy, async (page, problems) => {
      await name(page).fill('survivor');
      await isKept(page);
      await service.stop();
      const { databaseUrl, port } = service;
      service = await startService({ ...environment, DATABASE_URL: databaseUrl, SERVICE_PORT: String(port) });
      await page.getByLabel('Description').fill('written by somebody whose session ends');
      const dialog = signInDialog(page);
      await dialog.getByText('the service was started again').waitFor();
      await page.locator('#api-key:focus').waitFor();
      expect(await axeViolationsInThemes(page)).toEqual([]);
      // Nothing else has the focus, and nothing but an answer closes it.
      for (let count = 0; count < 6; count += 1) await page.keyboard.press('Tab');
      expect(await page.evaluate('document.querySelector("main")?.contains(document.activeElement)')).toBe(
        false,
      );
      for (let count = 0; count < 3; count += 1) await page.keyboard.press('Escape');
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await overflow(page)).toBe(0);
      await page.setViewportSize({ width: 1280, height: 800 });
      await dialog.getByLabel('API key').fill('unknown');
      await page.keyboard.press('Enter');
      await dialog.getByRole('alert').getByText('does not know this key').waitFor();
      await signInAgain(page, ADMIN_KEY);
      expect(await page.getByLabel('Description').inputValue()).toContain('whose session ends');
      // What was refused in the meantime is asked again.
      await page.getByText('No problems found.').waitFor();
      await page.getByRole('heading', { name: 'The session had ended' }).waitFor({ state: 'detached' });
      await page.getByText('could not check the control').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Create control' }).click();
      await page.getByRole('heading', { level: 1, name: 'survivor' }).waitFor();
      // Requests that broke with the service, and keys that were refused, are told by the browser.
      problems.splice(0, problems.length, ...problems.filter((text) => !/net::ERR|401/.test(text)));
    });
  });

  it('is asked about before it is left, also with the buttons of the browser', async () => {
    await open('/controls', async (page, problems) => {
      const dialog = page.getByRole('dialog');
      await page.getByRole('link', { name: 'New control' }).click();
      await name(page).fill('left-twice');
      await isKept(page);
      await page.evaluate('history.back()');
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      expect(page.url()).toBe(`${service.url}/ui/controls/new`);
      await page.evaluate('location.reload()');
      await expect.poll(() => problems.splice(0)).toEqual(['a script opened a dialog: ']);
      expect(await name(page).inputValue()).toBe('left-twice');
      await page.evaluate('history.back()');
      await dialog.getByRole('button', { name: 'Discard the changes of left-twice' }).click();
      await page.getByRole('heading', { level: 1, name: 'Controls' }).waitFor();
      await page.goForward();
      await expect.poll(() => name(page).inputValue()).toBe('');
      expect(await dialog.count()).toBe(0);
    });
  });

  it('is offered to be saved again when the session had ended', async () => {
    await open(copy, async (page) => {
      await name(page).fill('saved-twice');
      await page.getByText('kept as a draft').waitFor();
      await page.context().clearCookies();
      await page.getByRole('button', { name: 'Create control' }).click();
      await signInAgain(page, ADMIN_KEY);
      const failure = page.getByRole('alert').filter({ hasText: 'The session had ended' });
      await failure.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { level: 1, name: 'saved-twice' }).waitFor();
      await page.goto(`${service.url}/ui/controls/new`);
      await name(page).waitFor();
      expect(await offer(page).count()).toBe(0);
    });
  });

  it('is offered after a reload to its owner alone, and encrypted', async () => {
    await open('/controls/new', async (page) => {
      await name(page).fill('secret-plan');
      await isKept(page);
      expect(await page.evaluate(STORED)).toEqual({ drafts: 1, isPlain: false, isExtractable: false });
      await page.context().clearCookies();
      await page.getByLabel('Description').fill('and more');
      await signInAgain(page, OTHER_KEY);
      await expect.poll(() => name(page).inputValue()).toBe('');
      expect(await offer(page).count()).toBe(0);
      // The other owner has no draft, so nothing is asked.
      await signOut(page);
      await page.getByRole('heading', { name: 'Control Enforcement Service' }).waitFor();
      await signIn(page, ADMIN_KEY);
      await offer(page).getByText('New control secret-plan').waitFor();
      await page.keyboard.press('Escape');
      await offer(page).getByText('a new one would take its place').waitFor();
      await offer(page).getByRole('button', { name: 'Continue' }).click();
      await expect.poll(() => name(page).inputValue()).toBe('secret-plan');
      // The tab is gone without a question, as with a crash of the browser.
      const again = await page.context().newPage();
      await page.close();
      await again.goto(`${service.url}/ui/controls/new`);
      await offer(again).getByRole('button', { name: 'Discard' }).click();
      await again.reload();
      await expect.poll(() => name(again).inputValue()).toBe('');
      expect(await offer(again).count()).toBe(0);

      // After a week, it is deleted without a question.
      await name(again).fill('old-plan');
      await isKept(again);
      await again.evaluate(A_WEEK_AGO);
      const late = await again.context().newPage();
      await late.goto(`${service.url}/ui/controls/new`);
      await expect.poll(() => name(late).inputValue()).toBe('');
      expect(await offer(late).count()).toBe(0);
      expect(await late.evaluate(STORED)).toMatchObject({ drafts: 0 });
    });
  });

  it('stays in its tab when another one signs out, which asks before it deletes drafts', async () => {
    await open('/controls/new', async (page) => {
      const other = await page.context().newPage();
      await other.goto(`${service.url}/ui/agents`);
      await name(page).fill('in-two-tabs');
      await isKept(page);
      await signOut(other);
      const question = other.getByRole('dialog', { name: 'Sign out and delete your drafts?' });
      await question.getByText('New control in-two-tabs').waitFor();
      await question.getByRole('button', { name: 'Delete and sign out' }).click();
      await other.getByLabel('API key').waitFor();
      await signInDialog(page).getByText('You signed out in another tab.').waitFor();
      expect(await page.evaluate(STORED)).toMatchObject({ drafts: 0 });
      await signIn(other, ADMIN_KEY);
      await signInDialog(page).waitFor({ state: 'detached' });
      expect(await name(page).inputValue()).toBe('in-two-tabs');
      await isKept(page);
      await page.getByRole('link', { name: 'All controls' }).click();
      await page.getByRole('button', { name: 'Discard the changes of in-two-tabs' }).click();
      await expect.poll(() => page.evaluate(STORED)).toMatchObject({ drafts: 0 });
    });
  });

  it('stays in its namespace, as do views, when the session is switched to another one in any tab', async () => {
    const transport = adminTransport(service.url, OPERATOR_KEY);
    await createClient(NamespaceService, transport).createNamespace({
      name: 'team',
      displayName: 'The team',
    });
    const { secret = '' } = await createClient(KeyService, transport).createKey({
      name: 'first',
      role: 'admin',
      namespace: 'team',
    });
    const looksWell = async (page: Page) => {
      await settled(page);
      await page.setViewportSize({ width: 360, height: 740 });
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
      await page.setViewportSize({ width: 1280, height: 800 });
    };
    const switchedTo = async (page: Page, from: string, to: string, shown: string) => {
      await page.getByRole('button', { name: `Namespace: ${from}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: to }).click();
      await page.getByRole('button', { name: `Namespace: ${shown}` }).waitFor();
    };
    const step = (page: Page) => page.getByLabel('Step, as JSON');
    const kept = (page: Page) => page.getByRole('region', { name: 'Draft' });
    const views = async (page: Page) => {
      await page.goto(`${service.url}/ui/controls`);
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByLabel('Save these filters as').waitFor();
      return page.getByText('my rules');
    };
    await open(
      '/namespaces',
      async (page) => {
        await page.getByRole('button', { name: 'Delete team' }).waitFor();
        await looksWell(page);
        await page.goto(`${service.url}/ui/controls`);
        await filterBy(page, 'name:base');
        await page.getByRole('button', { name: 'Views' }).click();
        await page.getByLabel('Save these filters as').fill('my rules');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.goto(`${service.url}/ui/playground`);
        await step(page).fill('{"type":"tool","name":"of default","input":{}}');
        await page.getByText('The step is kept as a draft in this browser.').waitFor();
        const other = await page.context().newPage();
        await other.goto(`${service.url}/ui/controls`);
        await other.getByRole('link', { name: 'base' }).waitFor();

        await switchedTo(page, 'default', 'team', 'The team');
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
        await looksWell(page);
        // The other tab has the same session: what it shows is of the same namespace.
        await other.getByRole('button', { name: 'Namespace: The team' }).waitFor();
        await other.getByText('Three steps to a checked agent').waitFor();
        expect(await other.getByRole('link', { name: 'base' }).count()).toBe(0);
        await other.close();
        await page.goto(`${service.url}/ui/playground`);
        await settled(page);
        expect(await step(page).inputValue()).not.toContain('of default');
        expect(await kept(page).count()).toBe(0);
        expect(await (await views(page)).count()).toBe(0);
        await page.keyboard.press('Escape');

        await switchedTo(page, 'The team', 'default', 'default');
        await (await views(page)).waitFor();
        await page.goto(`${service.url}/ui/playground`);
        await kept(page).getByRole('button', { name: 'Continue' }).click();
        expect(await step(page).inputValue()).toContain('of default');
      },
      OPERATOR_KEY,
    );
    await open(
      '/controls',
      async (page) => {
        await page.getByRole('banner').getByText('The team').waitFor();
        await page.getByText('No controls yet').waitFor();
        await looksWell(page);
      },
      secret,
    );
  });
});

/** What the browser stores of drafts. */
const STORED = `new Promise((resolve, reject) => {
  const request = indexedDB.open('control-drafts');
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const transaction = request.result.transaction(['keys', 'drafts']);
    const drafts = transaction.objectStore('drafts').getAll();
    const keys = transaction.objectStore('keys').getAll();
    transaction.oncomplete = () => {
      request.result.close();
      const texts = drafts.result.map(({ content, ...rest }) => new TextDecoder().decode(content) + JSON.stringify(rest));
      resolve({
        drafts: drafts.result.length,
        isPlain: texts.some((text) => text.includes('secret-plan')),
        isExtractable: keys.result.some((key) => key.extractable),
      });
    };
  };
})`;

/** Makes all drafts older than they are. */
const A_WEEK_AGO = `new Promise((resolve, reject) => {
  const request = indexedDB.open('control-drafts');
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const transaction = request.result.transaction('drafts', 'readwrite');
    const drafts = transaction.objectStore('drafts');
    const all = drafts.getAll();
    all.onsuccess = () => all.result.forEach((draft) => drafts.put({ ...draft, savedAt: draft.savedAt - 7 * 86_400_000 - 1 }));
    transaction.oncomplete = () => {
      request.result.close();
      resolve();
    };
  };
})`;
