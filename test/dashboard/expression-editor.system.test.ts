import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { adminTransport, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const BOT = 'payments-bot-01';
const TRANSFER = {
  type: 'object',
  properties: { amount: { type: 'number', description: 'In euros' }, to: { type: 'string' } },
  required: ['amount', 'to'],
  additionalProperties: false,
};

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('expressions and findings in the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => {
    const service = await startDashboardService(await freshDatabaseUrl());
    await createClient(AgentService, adminTransport(service.url)).initAgent({
      agent: { agentName: BOT },
      steps: [{ type: 'tool', name: 'transfer', inputSchema: TRANSFER }],
    });
    return service;
  });
  const { open } = dashboard;
  const controls = () => createClient(ControlService, adminTransport(dashboard.service.url));

  /** A control with an expression about transfers. */
  async function createExpression(name: string, expression: string): Promise<number> {
    const { controlId } = await controls().createControl({
      name,
      data: {
        execution: Execution.SERVER,
        scope: { stepTypes: ['tool'], stepNames: ['transfer'], stages: [Stage.PRE] },
        condition: { selector: { path: '*' }, evaluator: { name: 'cel', config: { expression } } },
        action: { decision: Decision.OBSERVE },
      },
    });
    return controlId;
  }
  const field = (page: Page) => page.getByRole('textbox', { name: /^expression/ });
  /** What is written in the field. */
  const textIn = (page: Page) => page.locator('.expression-editor .cm-line').allInnerTexts();
  async function openEditor(page: Page, controlId: number): Promise<void> {
    await page.goto(dashboard.address(`/controls/${controlId}/edit`));
    await settled(page);
    await page.getByRole('treeitem').nth(1).click();
    await page.locator('.expression-editor .cm-content').waitFor();
  }
  async function write(page: Page, text: string): Promise<void> {
    await field(page).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text);
  }

  it('marks what is wrong as one types, and puts a suggestion in its place', async () => {
    const controlId = await createExpression('large-transfers', 'input.amount > 1000');
    await open('/', async ({ page }) => {
      await openEditor(page, controlId);
      const facts = page.locator('.expression-facts');
      await facts.getByText('The result is bool. It reads input.amount.').waitFor();
      await facts.getByText('All registered steps in scope have schemas').waitFor();
      expect(await field(page).getAttribute('aria-invalid')).toBe('false');

      await write(page, 'input.amoumt > 1000');
      await facts.getByText('Error at characters').waitFor();
      await page.locator('.cm-lintRange-error').waitFor();
      expect(await field(page).getAttribute('aria-invalid')).toBe('true');
      // Screen readers hear of the problem with the field.
      const described = ((await field(page).getAttribute('aria-describedby')) ?? '').split(' ');
      const texts = await Promise.all(described.map((id) => page.locator(`[id="${id}"]`).textContent()));
      expect(texts.join(' ')).toContain('Error at characters');
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);

      await facts.getByRole('button', { name: /^Write / }).click();
      await facts.getByText('The result is bool').waitFor();
      expect(await textIn(page)).toEqual(['input.amount > 1000']);
      expect(await page.locator('.cm-lintRange-error').count()).toBe(0);
    });
  });

  it('proposes members by the registered schemas, with the keyboard alone, and saves what is written', async () => {
    const controlId = await createExpression('completed', "input.to == 'a'");
    await open('/', async ({ page }) => {
      await openEditor(page, controlId);
      await write(page, 'input.');
      await page.keyboard.press('Control+Space');
      const proposals = page.locator('.cm-tooltip-autocomplete');
      await proposals.getByRole('option', { name: /^amount/ }).waitFor();
      await proposals.getByRole('option', { name: /^to/ }).waitFor();
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
      await page.keyboard.type('am');
      await expect.poll(() => proposals.getByRole('option').count()).toBe(1);
      await page.keyboard.press('Enter');
      await page.keyboard.insertText(' > 5000');
      expect(await textIn(page)).toEqual(['input.amount > 5000']);
      await page.getByText('The result is bool').waitFor();
      // Tab leaves the field.
      await page.keyboard.press('Tab');
      await expect.poll(() => page.locator('.expression-editor .cm-focused').count()).toBe(0);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'completed', exact: true }).waitFor();
      await page.getByText('input.amount > 5000', { exact: true }).waitFor();
    });
    const { data } = await controls().getControl({ controlId });
    expect(data?.condition?.evaluator?.config).toEqual({ expression: 'input.amount > 5000' });
  });

  it('shows what each part of an expression was for the tried step', async () => {
    const controlId = await createExpression(
      'outside',
      "input.amount > 1000 && !input.to.endsWith('@corp.example')",
    );
    await open('/', async ({ page }) => {
      await openEditor(page, controlId);
      const input = { amount: 2500, to: 'ann@rival.example' };
      const step = page.getByRole('region', { name: 'Try it' }).getByLabel('Step, as JSON');
      await step.fill(JSON.stringify({ type: 'tool', name: 'transfer', input }));
      const values = page.locator('.expression-values');
      const of = (text: string) =>
        values
          .locator('li')
          .filter({ has: page.locator('code', { hasText: text }) })
          .last();
      await expect.poll(() => of('input.amount').locator('strong').first().innerText()).toBe('2500');
      expect(await of('input.to').locator('strong').first().innerText()).toBe('"ann@rival.example"');
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
      await step.fill(JSON.stringify({ type: 'tool', name: 'transfer', input: { amount: 1, to: 'a' } }));
      await values.getByText('was not evaluated').first().waitFor();
    });
  });

  it('is a plain text area where the server does not inspect expressions', async () => {
    const controlId = await createExpression('plain', 'input.amount > 1');
    await open('/', async ({ page }) => {
      const headers = {
        'content-type': 'application/grpc-web+proto',
        'grpc-status': '12',
        'grpc-message': 'not offered',
      };
      let isRefused = true;
      await page.route('**/InspectExpression', (route) =>
        isRefused ? route.fulfill({ status: 200, headers, body: '' }) : route.continue(),
      );
      await page.goto(dashboard.address(`/controls/${controlId}/edit`));
      await page.getByRole('treeitem').nth(1).click();
      await page.getByText('The server does not check the expression as you type').waitFor();
      const area = page.locator('textarea.expression-text');
      await area.fill('input.amount > 2');
      expect(await field(page).inputValue()).toBe('input.amount > 2');
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
      isRefused = false;
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('The result is bool').waitFor();
      await expect.poll(() => textIn(page)).toEqual(['input.amount > 2']);
    });
  });

  it.each(['cel', 'secrets', 'pii', 'injection', 'url', 'shell'])(
    'tries the evaluator %s on a step that it matches',
    async (name) => {
      await open(`/evaluators/${name}`, async ({ page }) => {
        await page.getByText('The step matches').waitFor();
        await page.getByText('built in').waitFor();
        expect(await page.getByRole('region', { name: 'Result' }).locator('.notice').allInnerTexts()).toEqual(
          [],
        );
        if (name === 'cel') await page.locator('.expression-values').waitFor();
        else await expect.poll(() => page.locator('.found-text mark').count()).toBeGreaterThan(0);
        expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
      });
    },
  );

  it('marks what a detector found in the step of the playground, and nothing that was not sent', async () => {
    await open('/evaluators/pii', async ({ page }) => {
      const step = page.getByLabel('Step, as JSON');
      await step.fill(
        JSON.stringify({ type: 'tool', name: 'a', input: { list: ['x', 'mail ann@corp.example now'] } }),
      );
      const finding = page.locator('.findings li').filter({ hasText: 'email' });
      await finding.getByText('input /list/1').waitFor();
      expect(await finding.locator('mark').innerText()).toBe('ann@corp.example');
    });
  });

  it('says on the page of a control that a deny hides it', async () => {
    const shared = {
      execution: Execution.SERVER,
      scope: { stepTypes: ['tool'], stepNames: ['transfer'], stages: [Stage.PRE] },
      condition: {
        selector: { path: 'input.to' },
        evaluator: { name: 'regex', config: { pattern: 'rival' } },
      },
    };
    const make = async (name: string, decision: Decision): Promise<number> => {
      const { controlId } = await controls().createControl({
        name,
        data: { ...shared, action: { decision } },
      });
      await createClient(AgentService, adminTransport(dashboard.service.url)).addAgentControl({
        agentName: BOT,
        controlId,
      });
      return controlId;
    };
    await make('deny-rivals', Decision.DENY);
    const hidden = await make('steer-rivals', Decision.STEER);
    await open(`/controls/${hidden}`, async ({ page }) => {
      const warnings = page.getByRole('region', { name: 'Warnings' });
      await warnings.getByText('Hidden by another control.').waitFor();
      await warnings.getByText('deny-rivals').waitFor();
      await page.goto(dashboard.address(`/controls/${hidden}/edit`));
      await page.getByText('deny-rivals').first().waitFor();
      expect([await axeViolationsInThemes(page), await overflow(page)]).toEqual([[], 0]);
    });
  });
});
