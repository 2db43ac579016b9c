import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { ConfigurationService } from '../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { Decision, Execution } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { ShadowService } from '../../gen/proto/enforcement/v1/shadow_service_pb.js';
import { axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { adminTransport, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const OWNER = 'payments/policies';
const CONTROL = 'applied-control';
const POLICY = 'applied-policy';
const QUESTION = `applied as configuration by ${OWNER}. Its next apply will report a conflict`;

// What the pages ask does not depend on the database: what the service answers is tested with both.
describeOnSqlite('what is applied as configuration, in the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open } = dashboard;
  const client = <S extends Parameters<typeof createClient>[0]>(service: S) =>
    createClient(service, adminTransport(dashboard.service.url));
  const data = {
    execution: Execution.SERVER,
    condition: {
      selector: { path: 'input.text' },
      evaluator: { name: 'regex', config: { pattern: 'refund' } },
    },
    action: { decision: Decision.OBSERVE },
  };
  let controlId = 0;
  let policyId = 0;
  beforeAll(async () => {
    await client(ConfigurationService).applyConfiguration({
      owner: OWNER,
      documents: [
        { kind: 'Control', name: CONTROL, data },
        { kind: 'Policy', name: POLICY, controls: [CONTROL] },
      ],
    });
    const { controls } = await client(ControlService).listControls({ name: CONTROL });
    const { policies } = await client(PolicyService).listPolicies({ name: POLICY });
    controlId = controls[0]?.id ?? 0;
    policyId = policies[0]?.id ?? 0;
  });

  /** Presses a button, and cancels the question that must name the owner. */
  async function asks(page: Page, button: string | RegExp): Promise<void> {
    await page.getByRole('button', { name: button }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(QUESTION).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
  }

  it('asks before a control is saved, and shows what the service warns of', async () => {
    const version = async () => (await client(ControlService).getControl({ controlId })).version;
    const before = await version();
    await open(`/controls/${controlId}/edit`, async ({ page }) => {
      const dialog = page.getByRole('dialog');
      await page.getByLabel('Description').fill('Changed by a person');
      await page.keyboard.press('Control+s');
      await dialog.getByText(QUESTION).waitFor();
      await settled(page);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await overflow(page)).toBe(0);
      await page.setViewportSize({ width: 1280, height: 800 });
      await dialog.getByRole('button', { name: 'Keep editing' }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
      expect(await version()).toBe(before);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await dialog.getByRole('button', { name: 'Save nevertheless' }).click();
      const saved = page.getByRole('status', { name: 'Saved' });
      await saved.getByText(`is applied by the configuration "${OWNER}"`).waitFor();
    });
    expect(await version()).toBe(before + 1n);
  });

  it('asks before a control is switched off, deleted, or replaced by its shadow', async () => {
    await client(ShadowService).setShadow({ controlId, data });
    await open(`/controls/${controlId}`, async ({ page }) => {
      await page
        .getByText(/^Applied as configuration by/)
        .getByText(OWNER)
        .waitFor();
      await page.getByRole('button', { name: 'More' }).click();
      await asks(page, `Delete ${CONTROL}`);
      await page.getByRole('tab', { name: 'Shadow' }).click();
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: `Promote the shadow of ${CONTROL}` }).click();
      await dialog.getByText(QUESTION).waitFor();
      await dialog.getByRole('button', { name: /^Promote/ }).click();
      const told = page.getByRole('status').filter({ hasText: 'Dismiss' });
      await told.getByText(`is applied by the configuration "${OWNER}"`).waitFor();
      await page.getByRole('button', { name: `Switch off ${CONTROL}` }).click();
      await dialog.getByText(QUESTION).waitFor();
      await dialog.getByRole('button', { name: `Switch off ${CONTROL}` }).click();
      await page
        .getByText(new RegExp(`was switched off. .*applied by the configuration "${OWNER}"`))
        .waitFor();
    });
  });

  it('asks before several controls are changed of which some are applied', async () => {
    await open('/controls', async ({ page }) => {
      await page.getByRole('checkbox', { name: `Select ${CONTROL}` }).check();
      await page.getByRole('checkbox', { name: 'Select watch-refunds' }).check();
      await page.getByRole('button', { name: 'Delete…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(`Applied as configuration is 1 control of these, by ${OWNER}.`).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    });
  });

  it('asks before a policy is changed or deleted', async () => {
    await open(`/policies/${policyId}`, async ({ page }) => {
      await page
        .getByText(/^Applied as configuration by/)
        .getByText(OWNER)
        .waitFor();
      await asks(page, `Remove ${CONTROL}`);
      await asks(page, 'Add controls…');
      for (const button of ['Rename…', `Give to every agent ${POLICY}`, `Delete ${POLICY}`]) {
        await page.getByRole('button', { name: 'More' }).click();
        await asks(page, button);
      }
    });
    await open(`/controls/${controlId}?tab=usage`, ({ page }) => asks(page, `Remove from ${POLICY}`));
  });

  it('asks nothing of what was made by people', async () => {
    await open(`/controls/${dashboard.service.controlIds.get('watch-refunds')}/edit`, async ({ page }) => {
      await page.getByLabel('Description').fill('Changed by a person');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.waitForURL(/\/controls\/\d+$/);
      await settled(page);
      expect(await page.getByText('configuration by').count()).toBe(0);
    });
  });
});
