import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { AuditService } from '../../gen/proto/enforcement/v1/audit_service_pb.js';
import { Decision, Execution } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { HaltScope, HaltService } from '../../gen/proto/enforcement/v1/halt_service_pb.js';
import { MemoryService } from '../../gen/proto/enforcement/v1/memory_service_pb.js';
import { axeViolations, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { AGENT, adminTransport, REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const CONTROL = 'four-mails-a-day';
const WIDTHS = [1280, 360];

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('limits in the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open } = dashboard;
  const transport = () => adminTransport(dashboard.service.url);
  const used = async () =>
    (await createClient(MemoryService, transport()).listLimits({ minUsed: 0.01 })).limits;

  it('say that no control counts anything yet', async () => {
    await open('/limits', async ({ page }) => {
      await page.getByText('No limit is that far used').waitFor();
      await page.getByText('sqlite, which no control needs').waitFor();
      expect(await axeViolations(page)).toEqual([]);
    });
  });

  it('are listed with what is left of them, at every width', async () => {
    const { controlId } = await createClient(ControlService, transport()).createControl({
      name: CONTROL,
      data: {
        execution: Execution.SERVER,
        condition: {
          selector: { path: '*' },
          evaluator: { name: 'rate', config: { limit: 4, period: '24h', key: ['agent'] } },
        },
        action: { decision: Decision.DENY },
      },
    });
    await createClient(AgentService, transport()).addAgentControl({ agentName: AGENT, controlId });
    for (const text of ['one', 'two', 'three']) await dashboard.service.evaluate(text);
    await open('/limits', async ({ page }) => {
      const row = page.getByRole('row').filter({ hasText: CONTROL });
      await row.getByRole('cell', { name: '75 %' }).waitFor();
      await row.getByRole('cell', { name: '1 of 4' }).waitFor();
      expect(await row.getByRole('link', { name: CONTROL }).getAttribute('href')).toBe(
        `/ui/controls/${controlId}`,
      );
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        await settled(page);
        await expect.poll(() => overflow(page)).toBe(0);
        expect(await axeViolations(page)).toEqual([]);
      }
      await page.getByLabel('Used', { exact: true }).selectOption('0.8');
      await page.getByText('No limit is that far used').waitFor();
    });
  });

  it('are shown in the playground, which counts nothing', async () => {
    const before = await used();
    await open(`/playground?agent=${AGENT}`, async ({ page }) => {
      // The step that is there at first is denied by a control without memory, so that no limit applies to it.
      await page
        .getByLabel('Step, as JSON')
        .fill('{"type": "tool", "name": "send_mail", "input": {"text": "four"}}');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText(`Left of ${CONTROL}`).waitFor();
      expect(await axeViolations(page)).toEqual([]);
    });
    expect((await used())[0]?.status?.remaining).toBe(before[0]?.status?.remaining);
  });

  it('are not reset by viewers', async () => {
    await open(
      '/limits',
      async ({ page }) => {
        await page.getByRole('button', { name: /^Details of/ }).click();
        await page.getByRole('dialog').getByText('1 of 4').waitFor();
        expect(await page.getByRole('button', { name: /Reset/ }).count()).toBe(0);
      },
      { key: REGULAR_KEY },
    );
  });

  it('show what is kept, and are reset with a reason', async () => {
    await open('/limits', async ({ page }) => {
      await page.getByRole('button', { name: /^Details of/ }).click();
      const details = page.getByRole('dialog').first();
      await details.getByText('1 of 4').waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        await settled(page);
        expect(await axeViolations(page)).toEqual([]);
      }
      await page.setViewportSize({ width: 1280, height: 800 });
      await details.getByRole('button', { name: /^Reset/ }).click();
      const question = page.getByRole('dialog', { name: /^Reset .*\?$/ });
      await question.getByLabel('Why (for the audit log)').fill('a mistake of ours');
      expect(await axeViolations(page)).toEqual([]);
      await question.getByRole('button', { name: /^Reset/ }).click();
      // Its row is gone from the list, and the dialogs with it.
      await page.getByText('No limit is that far used').waitFor();
    });
    expect(await used()).toEqual([]);
    const { entries } = await createClient(AuditService, transport()).listAuditEntries({ limit: 1 });
    expect(JSON.stringify(entries, (_, value) => (typeof value === 'bigint' ? `${value}` : value))).toContain(
      'a mistake of ours',
    );
  });

  it('do not hide a halt: its verdict and its events lead to the halts, and to no control', async () => {
    const reason = '<b>stop</b> it';
    const halt = { scope: HaltScope.AGENT, agentName: AGENT, reason };
    await createClient(HaltService, transport()).createHalt(halt);
    await dashboard.service.evaluate('four');
    await open('/events?action=deny', async ({ page }) => {
      const link = page.getByRole('link', { name: 'halt 1', exact: true });
      expect(await link.getAttribute('href')).toBe('/ui/halts?state=all');
      await page.getByRole('link', { name: /denied by halt 1: show its trace$/ }).click();
      await page.getByText(`no control was evaluated: ${reason}`).waitFor();
      expect(await page.getByText('Definition at the time').count()).toBe(0);
      expect(await page.locator('a[href*="/controls/0"]').count()).toBe(0);
      expect(await axeViolations(page)).toEqual([]);
    });
    await open('/?range=1h', async ({ page }) => {
      await page.getByText('Controls with the most matches').first().waitFor();
      await settled(page);
      expect(await page.locator('a[href*="/controls/0"]').count()).toBe(0);
    });
    await open(`/playground?agent=${AGENT}`, async ({ page }) => {
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText(`halt 1 of agent "${AGENT}": ${reason}`).waitFor();
      await page.getByRole('link', { name: 'Halts in force' }).waitFor();
      expect(await page.getByText('denied', { exact: true }).count()).toBe(1);
    });
  });
});
