import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  AppliesTo,
  ObservabilityService,
} from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { describeOnSqlite } from '../../support/databases.js';
import { adminTransport, startKeyedService } from '../dashboard-service.js';
import { useDashboardTabs } from '../dashboard-tabs.js';
import { countedPage } from './counted-page.js';

const MAILERS = ['mail-bot-01', 'mail-bot-02', 'mail-bot-03'] as const;
const DENIED_BY_ERROR = 'broken-bot-01';
const REFUNDING = 'refund-bot-01';

/** A service with a small fleet, of which one agent is denied every step by an error. */
async function startFleet(databaseUrl: string) {
  const { url, stop } = await startKeyedService(databaseUrl);
  const transport = adminTransport(url);
  const agents = createClient(AgentService, transport);
  const controls = createClient(ControlService, transport);
  const evaluations = createClient(EvaluationService, transport);
  const events = createClient(ObservabilityService, transport);
  const text = { type: 'object', properties: { text: { type: 'string' } } };
  for (const agentName of [...MAILERS, DENIED_BY_ERROR, REFUNDING]) {
    await agents.initAgent({
      agent: { agentName },
      steps: [{ type: 'tool', name: 'send_mail', inputSchema: text }],
    });
  }
  /** Creates a control for an agent; returns its id. */
  const give = async (agentName: string, name: string, decision: Decision, evaluator: object) => {
    const { controlId } = await controls.createControl({
      name,
      data: {
        execution: Execution.SERVER,
        condition: { selector: { path: 'input.text' }, evaluator: { name: 'regex', ...evaluator } },
        action: { decision },
      },
    });
    await agents.addAgentControl({ agentName, controlId });
    return controlId;
  };
  /** Evaluates a step; says whether it is allowed. */
  const isAllowed = async (agentName: string, content: string): Promise<boolean> => {
    const step = JSON.stringify({ type: 'tool', name: 'send_mail', input: { text: content } });
    const { isSafe } = await evaluations.evaluate({
      agentName,
      stage: Stage.PRE,
      stepForm: { case: 'stepJson', value: new TextEncoder().encode(step) },
    });
    return isSafe;
  };
  await give(DENIED_BY_ERROR, 'asks-model', Decision.DENY, { name: 'acme.model', config: {} });
  return { url, stop, controls, events, give, isAllowed };
}

describeOnSqlite('the jobs of an operator, with few actions', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startFleet(await freshDatabaseUrl()));
  const { open } = dashboard;

  const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });
  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
  /** Evaluates a step until a match of a control is stored; returns the time of the match. */
  const timeOfMatch = async (controlId: number, agentName: string, content: string): Promise<string> => {
    const { events, isAllowed } = dashboard.service;
    let time: string | undefined;
    await expect
      .poll(async () => {
        await isAllowed(agentName, content);
        const found = await events.queryEvents({ controlIds: [controlId], includeBuffered: true });
        time = found.events[0]?.timestamp;
        return time;
      })
      .toBeDefined();
    return time ?? '';
  };
  const navigation = (page: Page, name: string) =>
    page.getByRole('navigation').getByRole('link', { name, exact: true });

  it('says on the first page what is wrong and where, and leads to the cause with one action', async () => {
    const { isAllowed } = dashboard.service;
    expect(await isAllowed(DENIED_BY_ERROR, 'good morning')).toBe(false);
    await open('/', async ({ page }) => {
      const user = countedPage(page);
      const verdict = page.getByRole('region', { name: 'Verdict' });
      await verdict.getByText('Needs attention').waitFor();
      await page.getByRole('banner').getByRole('link', { name: 'Needs attention' }).waitFor();
      await verdict.getByRole('link', { name: DENIED_BY_ERROR }).first().waitFor();
      await user.click(verdict.getByRole('link', { name: 'asks-model' }).first());
      await heading(page, 'asks-model').waitFor();
      await page.getByText('acme.model').first().waitFor();
      expect(user.actions).toBeLessThanOrEqual(1);
    });
  });

  it('writes a control, tries it, gives it to three agents by a policy, and sees a denial', async () => {
    const { isAllowed } = dashboard.service;
    await open('/controls', async ({ page }) => {
      const user = countedPage(page);
      await user.click(page.getByRole('link', { name: 'New control' }));
      await user.fill(page.getByLabel('Name', { exact: true }), 'no-cards');
      await user.click(page.getByRole('radio', { name: /deny/ }));
      await user.click(page.getByRole('treeitem', { name: 'choose an evaluator' }));
      await user.fill(page.getByLabel('Part of the step'), 'input.text');
      await user.select(page.getByLabel('Evaluator', { exact: true }), 'regex');
      await user.fill(page.getByLabel('pattern'), '\\d{16}');
      const step = { type: 'tool', name: 'send_mail', input: { text: 'card 4222222222222222' } };
      await user.fill(page.getByLabel('Step, as JSON'), JSON.stringify(step));
      await page.getByText('denied by this control').waitFor();
      await user.click(page.getByRole('button', { name: 'Create control' }));
      await heading(page, 'no-cards').waitFor();

      await user.click(navigation(page, 'Policies'));
      await user.fill(page.getByLabel('New policy'), 'mail-policy');
      await user.click(page.getByRole('button', { name: 'Create', exact: true }));
      const dialog = page.getByRole('dialog');
      await user.click(page.getByRole('button', { name: 'Add controls…' }));
      await user.click(dialog.getByLabel('Select no-cards'));
      await user.click(dialog.getByRole('button', { name: 'Add 1 control' }));
      await user.click(page.getByRole('tab', { name: 'Agents (0)' }));
      await user.click(page.getByRole('button', { name: 'Add agents…' }));
      await user.fill(dialog.getByLabel('Find agents by name'), 'mail-bot');
      await user.click(dialog.getByLabel('Select all 3 shown agents'));
      await user.click(dialog.getByRole('button', { name: 'Add 3 agents' }));
      await page.getByRole('tab', { name: 'Agents (3)' }).waitFor();

      await user.click(navigation(page, 'Live'));
      for (const agent of MAILERS) {
        await expect.poll(() => isAllowed(agent, 'card 4111111111111111')).toBe(false);
        await row(page, 'no-cards').filter({ hasText: agent }).first().getByText('denied').waitFor();
      }
      expect(user.actions).toBeLessThanOrEqual(21);
    });
  });

  it('finds out why a step was denied at a known time', async () => {
    const { give, events } = dashboard.service;
    const controlId = await give(REFUNDING, 'no-refunds', Decision.DENY, { config: { pattern: 'refund' } });
    const at = await timeOfMatch(controlId, REFUNDING, 'a refund');
    await events.createEvents({
      events: Array.from({ length: 30 }, (_, index) => ({
        traceId: `other-${index}`,
        spanId: 'span',
        agentName: REFUNDING,
        controlId,
        controlName: 'no-refunds',
        checkStage: Stage.PRE,
        appliesTo: AppliesTo.TOOL_CALL,
        action: Decision.DENY,
        matched: true,
        confidence: 1,
        timestamp: new Date(Date.parse(at) - (index + 1) * 61_000).toISOString(),
      })),
    });
    const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' }).format(new Date(at));
    await open('/', async ({ page }) => {
      const user = countedPage(page);
      await user.click(navigation(page, 'Events'));
      await user.click(row(page, clock).filter({ hasText: 'no-refunds' }).getByRole('time').first());
      const evaluation = page.getByRole('region', { name: 'Step tool send_mail' });
      await evaluation.getByText('denied', { exact: true }).first().waitFor();
      await evaluation.getByText('decided the check').waitFor();
      await evaluation.getByText('input.text matches regex refund').waitFor();
      expect(user.actions).toBeLessThanOrEqual(2);
    });
  });

  it('narrows a control that denies too much, compares the versions and restores the first', async () => {
    const { controls, give, isAllowed } = dashboard.service;
    const agent = MAILERS[0];
    const controlId = await give(agent, 'no-money', Decision.DENY, { config: { pattern: 'money' } });
    const patternOf = async () => {
      const { data } = await controls.getControl({ controlId });
      return data?.condition?.evaluator?.config?.pattern;
    };
    await expect.poll(() => isAllowed(agent, 'no money today')).toBe(false);
    await open(`/controls/${controlId}`, async ({ page }) => {
      const user = countedPage(page);
      await user.click(page.getByRole('link', { name: 'Change this check' }));
      await user.fill(page.getByLabel('pattern'), 'send money');
      await user.press('Control+s');
      await heading(page, /^no-money$/).waitFor();
      expect(await patternOf()).toBe('send money');
      await expect.poll(() => isAllowed(agent, 'no money today')).toBe(true);

      // The question before a restore compares the version with the current one.
      const dialog = page.getByRole('dialog');
      await user.click(page.getByRole('button', { name: 'Restore version 1' }));
      await dialog.getByText('condition.evaluator.config.pattern: "send money" → "money"').waitFor();
      await dialog.getByText('0 policies and 1 agent').waitFor();
      await user.click(dialog.getByRole('button', { name: 'Restore version 1' }));
      await page.getByRole('heading', { name: 'Version 2 compared with version 3' }).waitFor();
      expect(await patternOf()).toBe('money');
      expect(user.actions).toBeLessThanOrEqual(5);
    });
  });

  it('shows what a control that observes would deny, and lets it deny after a question', async () => {
    const { give, isAllowed } = dashboard.service;
    const agent = MAILERS[1];
    const controlId = await give(agent, 'watch-invoices', Decision.OBSERVE, {
      config: { pattern: 'invoice' },
    });
    await timeOfMatch(controlId, agent, 'an invoice');
    expect(await isAllowed(agent, 'an invoice')).toBe(true);
    await open('/controls', async ({ page }) => {
      const user = countedPage(page);
      await user.click(page.getByRole('link', { name: 'watch-invoices' }));
      await page
        .getByRole('region', { name: 'Matches', exact: true })
        .getByRole('link', { name: /^\d+ observed$/ })
        .waitFor();
      await page
        .getByRole('region', { name: 'Latest matches' })
        .getByRole('link', { name: agent })
        .first()
        .waitFor();
      await user.click(page.getByRole('link', { name: 'Edit', exact: true }));
      await user.click(page.getByRole('radio', { name: /deny/ }));
      await user.press('Control+s');
      const dialog = page.getByRole('dialog');
      await dialog.getByText(`1 agent: ${agent}`).waitFor();
      await dialog.getByText('Recorded matches in the last 24 hours').waitFor();
      await user.click(dialog.getByRole('button', { name: 'Save and deny' }));
      await heading(page, /^watch-invoices$/).waitFor();
      await expect.poll(() => isAllowed(agent, 'an invoice')).toBe(false);
      expect(user.actions).toBeLessThanOrEqual(5);
    });
  });
});
