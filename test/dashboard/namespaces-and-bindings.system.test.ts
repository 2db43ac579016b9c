import { readFile } from 'node:fs/promises';
import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ControlBindingService } from '../../gen/proto/enforcement/v1/control_binding_service_pb.js';
import { KeyService } from '../../gen/proto/enforcement/v1/key_service_pb.js';
import { NamespaceService } from '../../gen/proto/enforcement/v1/namespace_service_pb.js';
import { axeViolations, inSignedInTab, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { AGENT, adminTransport, OPERATOR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';
import { filterBy } from './query-bar.js';

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('namespaces and targets in the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () =>
    startDashboardService(await freshDatabaseUrl(), { SERVICE_OPERATOR_API_KEYS: OPERATOR_KEY }),
  );
  const { open, address } = dashboard;
  const operator = { key: OPERATOR_KEY };

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
  const rowOf = (page: Page, table: string, text: string) =>
    page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text });
  const transport = () => adminTransport(dashboard.service.url, OPERATOR_KEY);
  const createNamespace = (name: string) =>
    createClient(NamespaceService, transport()).createNamespace({ name, displayName: `Team ${name}` });
  /** A key of a namespace. */
  const keyOf = async (namespace: string): Promise<string> => {
    const { secret = '' } = await createClient(KeyService, transport()).createKey({
      name: `first of ${namespace}`,
      role: 'admin',
      namespace,
    });
    return secret;
  };

  it('are created, renamed, given a first key, exported and deleted by an operator', async () => {
    await open(
      '/namespaces',
      async ({ page }) => {
        await rowOf(page, 'Namespaces', 'default').getByText('always there').waitFor();
        await page.getByLabel('New namespace').fill('Not A Name');
        await page.getByRole('button', { name: 'Create', exact: true }).click();
        await page.getByRole('alert').waitFor();
        await page.getByLabel('New namespace').fill('team-life');
        await page.getByRole('button', { name: 'Create', exact: true }).click();
        const row = rowOf(page, 'Namespaces', 'team-life');
        await row.waitFor();
        expect(await page.getByRole('button', { name: 'Delete default' }).count()).toBe(0);

        await page.getByRole('button', { name: 'Rename team-life' }).click();
        await page.getByRole('dialog').getByLabel('Shown as').fill('The life team');
        await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
        await row.getByText('The life team').waitFor();
        expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);

        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.getByRole('link', { name: 'New key in team-life' }).click();
        await page.getByLabel('Name', { exact: true }).fill('life');
        expect(await page.getByLabel('Namespace of the key').inputValue()).toBe('team-life');
        await page.getByRole('radio', { name: 'admin' }).check();
        await page.getByRole('button', { name: 'Create the key' }).click();
        await page.getByRole('button', { name: 'Copy the secret' }).click();
        const secret = (await page.evaluate('navigator.clipboard.readText()')) as string;
        await page.getByRole('button', { name: 'Done' }).click();
        await heading(page, 'Keys and people').waitFor();
        await inSignedInTab(
          dashboard.browser,
          address('/controls'),
          { key: secret },
          async ({ page: other }) => {
            await other.getByRole('banner').getByText('The life team').waitFor();
            await settled(other);
            await other.getByText('No controls yet').waitFor();
            expect(await other.getByRole('link', { name: 'no-card-numbers' }).count()).toBe(0);
          },
        );

        await page.goto(address('/namespaces'));
        await page.evaluate('window.showSaveFilePicker = undefined');
        await row.waitFor();
        const download = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Export team-life' }).click();
        const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\n');
        const kinds = lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
        expect([kinds[0], kinds.includes('key')]).toEqual(['namespace', true]);
        expect(lines.join()).not.toContain(secret);

        await page.getByRole('button', { name: 'Delete team-life' }).click();
        const dialog = page.getByRole('dialog', { name: 'Delete the namespace team-life?' });
        const confirm = dialog.getByRole('button', { name: 'Delete team-life' });
        expect(await confirm.isDisabled()).toBe(true);
        await dialog.getByLabel('Type team-life to confirm').fill('team-lif');
        expect(await confirm.isDisabled()).toBe(true);
        await dialog.getByLabel('Type team-life to confirm').fill('team-life');
        await page.keyboard.press('Enter');
        await row.waitFor({ state: 'detached' });
      },
      operator,
    );
  });

  it('are switched in the header, and share no drafts, views or recent pages', async () => {
    await createNamespace('team-switch');
    await open(
      '/agents',
      async ({ page, problems }) => {
        await filterBy(page, 'name:billing');
        await page.getByRole('button', { name: 'Views' }).click();
        await page.getByLabel('Save these filters as').fill('my bots');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.goto(address(`/playground?agent=${AGENT}`));
        await page.getByLabel('Step, as JSON').fill('{"type":"tool","name":"of default","input":{}}');
        await page.getByText('The step is kept as a draft in this browser.').waitFor();

        const other = await page.context().newPage();
        await other.goto(address('/agents'));
        await other.getByRole('link', { name: AGENT }).waitFor();

        await page.getByRole('button', { name: 'Namespace: default' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'team-switch' }).click();
        await page.getByRole('button', { name: 'Namespace: Team team-switch' }).waitFor();
        await heading(page, 'Overview').waitFor();
        // The other tab has the same session: what it shows is of the same namespace.
        await other.getByRole('button', { name: 'Namespace: Team team-switch' }).waitFor();
        await settled(other);
        // Texts to copy have a name of an agent, too; a list would have a link.
        await other.getByText('Three steps to a checked agent').waitFor();
        expect(await other.getByRole('link', { name: AGENT }).count()).toBe(0);
        await other.close();

        await page.goto(address('/playground'));
        await settled(page);
        expect(await page.getByLabel('Step, as JSON').inputValue()).not.toContain('of default');
        expect(await page.getByRole('region', { name: 'Draft' }).count()).toBe(0);
        await page.goto(address('/agents'));
        await page.getByRole('button', { name: 'Views' }).click();
        await page.getByLabel('Save these filters as').waitFor();
        expect(await page.getByText('my bots').count()).toBe(0);
        await page.keyboard.press('Escape');

        await page.getByRole('button', { name: 'Namespace: Team team-switch' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'default' }).click();
        await page.getByRole('button', { name: 'Namespace: default' }).waitFor();
        await page.goto(address(`/playground?agent=${AGENT}`));
        await page.getByRole('region', { name: 'Draft' }).getByRole('button', { name: 'Continue' }).click();
        expect(await page.getByLabel('Step, as JSON').inputValue()).toContain('of default');
        expect(problems).toEqual([]);
      },
      operator,
    );
  });

  it('shows the namespace of a key in the header, without a switch', async () => {
    await createNamespace('team-alone');
    const key = await keyOf('team-alone');
    await inSignedInTab(dashboard.browser, address('/'), { key, width: 360 }, async ({ page }) => {
      await page.getByRole('banner').getByText('Team team-alone').waitFor();
      expect(await page.getByRole('button', { name: /^Namespace/ }).count()).toBe(0);
      await settled(page);
      expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
    });
    await open('/', async ({ page }) => {
      await settled(page);
      expect(await page.getByRole('banner').getByText('default').count()).toBe(0);
    });
  });

  it('binds a control to targets, switches and removes bindings, and clones it for one', async () => {
    const controlId = dashboard.service.controlIds.get('watch-refunds') ?? 0;
    const bindings = () => createClient(ControlBindingService, adminTransport(dashboard.service.url));
    await open(`/controls/${controlId}?tab=usage`, async ({ page }) => {
      const targets = 'Targets that this control is bound to';
      await page.getByText('This control is bound to no target').waitFor();
      const form = page.getByRole('form', { name: 'Bind to a target' });
      await form.getByLabel('Type of the target').fill('project');
      await form.getByLabel('Id of the target').fill('checkout');
      await form.getByRole('button', { name: 'Bind' }).click();
      const row = rowOf(page, targets, 'checkout');
      await row.getByText('on', { exact: true }).waitFor();
      // The same again is a conflict, which is said.
      await form.getByLabel('Type of the target').fill('project');
      await form.getByLabel('Id of the target').fill('checkout');
      await form.getByLabel('Id of the target').press('Enter');
      await form.getByRole('alert').waitFor();

      await page.getByRole('button', { name: 'Switch off project checkout' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Switch off project checkout' }).click();
      await row.getByText('off', { exact: true }).waitFor();
      const listed = await bindings().listControlBindings({ controlId });
      expect(listed.bindings).toMatchObject([
        { targetType: 'project', targetId: 'checkout', enabled: false },
      ]);

      await page.getByRole('button', { name: 'Remove project checkout' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove project checkout' }).click();
      await row.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Undo' }).click();
      await row.getByText('off', { exact: true }).waitFor();
      expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);

      await page.getByRole('button', { name: 'Clone for a target…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Type of the target').fill('project');
      await dialog.getByLabel('Id of the target').fill('shop');
      await dialog.getByLabel('Name of the clone').fill('watch-refunds-shop');
      await dialog.getByRole('button', { name: 'Clone and bind' }).click();
      await heading(page, 'watch-refunds-shop').waitFor();
      await rowOf(page, targets, 'shop').waitFor();

      // Its deletion says which bindings go with it.
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('button', { name: /^Delete / }).click();
      await page.getByRole('list', { name: 'Bindings' }).getByText('project shop').waitFor();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Delete / })
        .click();
      await heading(page, 'Controls').waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('watch-refunds-shop is there again').waitFor();
      const again = await bindings().listControlBindings({ targetType: 'project', targetId: 'shop' });
      expect(again.bindings).toMatchObject([{ enabled: true }]);
    });
  });

  it('shows what a target adds to the controls of an agent', async () => {
    const other = adminTransport(dashboard.service.url);
    const agentName = 'target-bot-01';
    await createClient(AgentService, other).initAgent({ agent: { agentName }, steps: [] });
    const controlId = dashboard.service.controlIds.get('no-card-numbers') ?? 0;
    await createClient(ControlBindingService, other).createControlBinding({
      controlId,
      targetType: 'stream',
      targetId: 'payments',
    });
    await open(`/agents/${agentName}?tab=targets`, async ({ page }) => {
      await page.getByText('A target is what an agent works on.').waitFor();
      await page.getByLabel('Type of the target').fill('stream');
      await page.getByLabel('Id of the target').fill('payments');
      await page.getByText('The target adds 1 control to the 0 controls of the agent.').waitFor();
      await rowOf(page, 'Controls with the target', 'no-card-numbers').getByText('the target').waitFor();
      expect(new URL(page.url()).searchParams.get('target_id')).toBe('payments');
      expect([await axeViolations(page), await overflow(page)]).toEqual([[], 0]);
      await page.getByLabel('Id of the target').fill('others');
      await page.getByText('The target adds no control to the 0 controls of the agent.').waitFor();
    });
  });
});
