import { afterAll, expect, it } from 'vitest';
import {
  axeViolations,
  inSignedInTab,
  overflow,
  settled,
  type WatchedPage,
} from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { createKeysFile } from '../support/keys-file.js';
import { AGENT, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const KEYS = {
  viewer: 'viewer-key-of-the-dashboard-tests',
  editor: 'editor-key-of-the-dashboard-tests',
  agent: 'agent-key-of-the-dashboard-tests',
  limitedAgent: 'limited-agent-key-of-the-dashboard-tests',
  events: 'events-key-of-the-dashboard-tests',
};
/** Names of actions that change something. */
const CHANGES = /^(New|Create|Save|Delete|Remove|Add|Link|Unlink|Switch|Rename|Restore|Edit|Bind|Clone)\b/;

describeOnSqlite('a caller that may not do everything', (freshDatabaseUrl) => {
  const keysFile = createKeysFile([
    { name: 'viewer', key: KEYS.viewer, role: 'viewer' },
    { name: 'editor', key: KEYS.editor, role: 'editor' },
    { name: 'runtime', key: KEYS.agent, role: 'agent' },
    { name: 'one-bot', key: KEYS.limitedAgent, role: 'agent', agents: [AGENT] },
    { name: 'dashboards', key: KEYS.events, scopes: ['events.read', 'server.read'] },
  ]);
  afterAll(() => keysFile.remove());
  const dashboard = useDashboardTabs(async () =>
    startDashboardService(await freshDatabaseUrl(), keysFile.environment),
  );
  const { address } = dashboard;

  /** Opens a page with a key; refusals, which the browser reports, are none. */
  const as = (
    key: string,
    path: string,
    test: (watched: WatchedPage) => Promise<void>,
    width = 1280,
  ): Promise<void> => inSignedInTab(dashboard.browser, address(path), { key, width }, test);
  const menuOf = ({ page }: WatchedPage) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();
  const noRefusals = async ({ page }: WatchedPage): Promise<void> => {
    await settled(page);
    expect(await page.getByText('Not allowed').count()).toBe(0);
  };

  it('is offered no change as a viewer, on any page', async () => {
    const controlId = dashboard.service.controlIds.get('no-card-numbers');
    await as(KEYS.viewer, '/', async (watched) => {
      const { page } = watched;
      expect(await menuOf(watched)).toEqual([
        ...['Overview', 'Live', 'Events', 'Approvals', 'Agents', 'Coverage', 'Controls'],
        ...['Policies', 'Packs', 'Templates', 'Evaluators', 'Shadows'],
        ...['Limits', 'Halts', 'Playground'],
      ]);
      const paths = ['/agents', `/agents/${AGENT}`, '/controls', `/controls/${controlId}`];
      for (const path of [
        ...paths,
        `/controls/${controlId}?tab=usage`,
        '/coverage',
        '/policies',
        '/policies/1',
        '/packs',
        '/packs/secrets',
        '/packs/secrets?tab=preview',
        '/keys',
      ]) {
        await page.goto(address(path));
        await noRefusals(watched);
        const main = page.getByRole('main');
        const offered = main
          .getByRole('button', { name: CHANGES })
          .or(main.getByRole('link', { name: CHANGES }));
        expect([path, await offered.allInnerTexts()]).toEqual([path, []]);
      }
      await page.goto(address('/audit'));
      await page.getByText('audit.read').first().waitFor();
      expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
    });
  });

  it('changes controls as an editor, and sees neither keys nor the audit log', async () => {
    await as(KEYS.editor, '/controls', async (watched) => {
      await watched.page.getByRole('link', { name: 'New control' }).first().waitFor();
      const menu = await menuOf(watched);
      expect(menu).not.toContain('Audit log');
      expect(menu).not.toContain('Keys and people');
    });
  });

  it('has a home as an agent: what it can do, what it cannot, and a way to an agent', async () => {
    await as(KEYS.agent, '/', async (watched) => {
      const { page } = watched;
      expect(await menuOf(watched)).toEqual(['Overview', 'Evaluators']);
      await noRefusals(watched);
      const you = page.getByRole('region', { name: 'You' });
      await you.getByText('evaluate steps').waitFor();
      await you.getByText('try steps in the playground').waitFor();
      await you.getByText('made by an admin of this namespace').waitFor();
      expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
      await page.getByLabel('Name of an agent').fill(AGENT);
      await page.keyboard.press('Enter');
      await page.getByText('2 on, 0 off').waitFor();
      await noRefusals(watched);
      expect(await page.getByRole('link', { name: 'Try a step' }).count()).toBe(0);
      expect(await page.getByRole('tab').allInnerTexts()).toEqual([
        'Controls',
        'Steps (1)',
        'Targets',
        'Evaluators (0)',
      ]);
      await page.goto(address('/playground'));
      await page.getByText('explain').first().waitFor();
    });
  });

  it('sees its agents and nothing broken with a key for one agent', async () => {
    await as(
      KEYS.limitedAgent,
      '/',
      async (watched) => {
        const { page } = watched;
        await noRefusals(watched);
        await page
          .getByRole('region', { name: 'Agents of this key' })
          .getByRole('link', { name: AGENT })
          .waitFor();
        expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
        await page.getByRole('link', { name: AGENT }).click();
        await page.getByText('2 on, 0 off').waitFor();
        await noRefusals(watched);
        // Controls have names here, and no pages.
        expect(await page.getByRole('link', { name: 'no-card-numbers' }).count()).toBe(0);
      },
      360,
    );
  });

  it('sees the pages of its own scopes', async () => {
    await as(KEYS.events, '/', async (watched) => {
      const { page } = watched;
      expect(await menuOf(watched)).toEqual(['Overview', 'Live', 'Events']);
      await page.getByRole('region', { name: 'You' }).getByText('its own scopes').waitFor();
      await page.goto(address('/events'));
      await noRefusals(watched);
    });
  });
});
