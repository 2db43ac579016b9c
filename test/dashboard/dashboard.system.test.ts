import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService, Outcome } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { KeyService } from '../../gen/proto/enforcement/v1/key_service_pb.js';
import { axeViolationsInThemes, signOut } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { ADMIN_KEY, AGENT, adminTransport, HOSTILE, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

describeOnSqlite('the dashboard in a browser', (freshDatabaseUrl) => {
  let controlId: number;
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open, address } = dashboard;
  beforeAll(async () => {
    controlId = dashboard.service.controlIds.get('no-card-numbers') ?? 0;
  });

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

  /** Deletes what the page shows, after the confirmation. */
  const removeBy = async (page: Page, name: string) => {
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Delete ${name}` })
      .click();
  };

  it('signs in with a key, tells the role, and signs out', async () => {
    await open('/', async ({ page }) => {
      await heading(page, 'Overview').waitFor();
      await page.getByText('admin', { exact: true }).waitFor();
      await page.reload();
      await heading(page, 'Overview').waitFor();
      const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
      expect(stored).not.toContain(ADMIN_KEY);
      expect(page.url()).not.toContain(ADMIN_KEY);
      await signOut(page);
      await page.getByLabel('API key').waitFor();
      await page.reload();
      await page.getByLabel('API key').waitFor();
    });
  });

  it('shows an event of a step that is evaluated over gRPC, and its trace', async () => {
    await open('/live', async ({ page }) => {
      await page.locator('[data-state=live]').waitFor();
      await dashboard.service.evaluate('card 4111111111111111');
      const row = page.getByRole('row').filter({ hasText: 'no-card-numbers' });
      await row.getByText('denied').waitFor();

      await page.getByRole('button', { name: 'Pause' }).click();
      await dashboard.service.evaluate('a refund');
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('row').filter({ hasText: 'watch-refunds' }).waitFor();

      await row.getByRole('link').first().click();
      await page.getByText('1 recorded check of 1 step').waitFor();
      await page.getByText('input.text').first().waitFor();
      await page.goBack();
      // The events are still there, and were before this page was opened.
      await row.getByText('denied').waitFor();
      await page.reload();
      await row.getByText('denied').waitFor();
    });
  });

  it('opens every address directly, after signing in there', async () => {
    await open(`/controls/${controlId}?tab=versions`, async ({ page }) => {
      await heading(page, 'no-card-numbers').waitFor();
      await page.getByText('Version 1', { exact: true }).first().waitFor();
      await page.goto(address('/nothing/here'));
      await page.getByText('Page not found').waitFor();
    });
  });

  it('explains a step node by node', async () => {
    await open(`/playground?agent=${AGENT}`, async ({ page }) => {
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('denied', { exact: true }).waitFor();
      await page.getByText('✓ true').first().waitFor();
      await page.getByText('✗ false').first().waitFor();
      await page.getByText(/^2 controls selected: [12] evaluated, [01] skipped/).waitFor();
      await page.getByLabel('Step, as JSON').fill('{');
      await page.keyboard.press('Control+Enter');
      await page.getByText('This is not JSON').waitFor();
    });
  });

  it('shows hostile texts as text', async () => {
    await open(`/agents/${AGENT}?tab=steps`, async ({ page }) => {
      await page.getByText(`Sends mail ${HOSTILE.markup}`).waitFor();
      await page.getByRole('cell', { name: HOSTILE.markup }).waitFor();
      await page.getByRole('cell', { name: HOSTILE.quotes }).waitFor();
      await page.goto(address(`/traces?id=${encodeURIComponent(HOSTILE.quotes)}`));
      await page.getByRole('link', { name: HOSTILE.markup }).waitFor();
      await page.getByRole('heading', { level: 2 }).getByText(HOSTILE.rightToLeft).waitFor();
      expect(await page.locator('img').count()).toBe(0);
    });
  });

  it('takes a switch back on another page and by key, unless somebody else was faster', async () => {
    await open(`/controls/${controlId}`, async ({ page }) => {
      const toasts = page.getByRole('region', { name: 'Undo' });
      const switchOff = async () => {
        await page.getByRole('button', { name: 'Switch off no-card-numbers' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: 'Switch off no-card-numbers' }).click();
        await toasts.getByText('no-card-numbers was switched off.').last().waitFor();
      };
      await switchOff();
      await page.getByRole('link', { name: 'Agents', exact: true }).click();
      await heading(page, 'Agents').waitFor();
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await page.keyboard.press('z');
      await toasts.getByText('no-card-numbers is on again.').waitFor();
      await page.goBack();
      await switchOff();
      await dashboard.service.enable(controlId, true);
      await dashboard.service.enable(controlId, false);
      await toasts.getByRole('button', { name: 'Undo' }).click();
      await toasts.getByText('Not undone').waitFor();
      await dashboard.service.enable(controlId, true);
    });
  });

  it('creates what was deleted again, with its links, and says what is not as before', async () => {
    await open('/policies/1', async ({ page }) => {
      const toasts = page.getByRole('region', { name: 'Undo' });
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Remove watch-refunds' }).click();
      await dialog.getByRole('button', { name: 'Remove watch-refunds' }).click();
      await page.getByText('The policy has no controls').waitFor();
      await toasts.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('link', { name: 'watch-refunds' }).click();
      await heading(page, 'watch-refunds').waitFor();
      await removeBy(page, 'watch-refunds');
      await heading(page, 'Controls').waitFor();
      await toasts.getByText('under a new number and without its versions').waitFor();
      await toasts.getByRole('button', { name: 'Undo' }).click();
      await toasts.getByText(/watch-refunds is there again, as control \d+\./).waitFor();
      await toasts.getByRole('link', { name: 'Open it' }).click();
      await heading(page, 'watch-refunds').waitFor();
      await page.getByRole('link', { name: 'Policies', exact: true }).click();
      await page.getByRole('link', { name: 'mail-policy' }).click();
      await page.getByRole('link', { name: 'watch-refunds' }).waitFor();
      await removeBy(page, 'mail-policy');
      await toasts.getByText('mail-policy was deleted.').waitFor();
      await page.keyboard.press('z');
      await toasts.getByText(/mail-policy is there again, as policy \d+\./).waitFor();
      await toasts.getByRole('link', { name: 'Open it' }).click();
      await page.getByRole('tab', { name: 'Agents (1)' }).waitFor();
      await page.getByRole('link', { name: 'watch-refunds' }).waitFor();
    });
  });

  it('says of a server that does not answer any more when it was last seen', async () => {
    await open('/', async ({ page, problems }) => {
      await page.getByText('answers and stores').waitFor();
      await page.route('**/enforcement.v1.ServerService/**', (route) => route.abort());
      await page.getByRole('banner').getByRole('link', { name: 'Unreachable' }).waitFor();
      await page
        .getByRole('region', { name: 'Verdict' })
        .getByText(/^last seen /)
        .waitFor();
      await page.getByText('What follows was true then').waitFor();
      expect(await page.getByText(/^less than a second ago$/).count()).toBe(0);
      await page.unroute('**/enforcement.v1.ServerService/**');
      await page.getByText('What follows was true then').waitFor({ state: 'detached' });
      // The browser itself reports the replies that are missing.
      problems.splice(0, problems.length, ...problems.filter((text) => !text.includes('ERR_FAILED')));
    });
  });

  it('tells of a step that waits, also in the browser, and lets the agent go on once it is approved', async () => {
    const transport = adminTransport(dashboard.service.url);
    const keys = createClient(KeyService, transport);
    const { secret: key = '' } = await keys.createKey({ name: 'alice', role: 'approver' });
    const { controlId: asking } = await createClient(ControlService, transport).createControl({
      name: 'wire-money',
      data: {
        execution: Execution.SERVER,
        condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: '.' } } },
        scope: { stepNames: ['wire-money'], stages: [Stage.PRE] },
        action: {
          decision: Decision.DENY,
          approval: { approvers: ['role:approver'], question: 'Pay {input.amount}?' },
        },
      },
    });
    await createClient(AgentService, transport).addAgentControl({ agentName: AGENT, controlId: asking });
    const step = JSON.stringify({ type: 'tool', name: 'wire-money', input: { amount: 3 } });
    const evaluate = async () => {
      const { outcome } = await createClient(EvaluationService, transport).evaluate({
        agentName: AGENT,
        stage: Stage.PRE,
        accepts: [Outcome.ASK],
        stepForm: { case: 'stepJson', value: new TextEncoder().encode(step) },
      });
      return outcome;
    };
    const test = async ({ page }: { readonly page: Page }) => {
      await page.evaluate(RECORD_NOTICES);
      await page.getByRole('button', { name: 'Notify me in this browser' }).click();
      await page.getByRole('button', { name: 'Notify me in this browser', pressed: true }).waitFor();
      expect(await evaluate()).toBe(Outcome.ASK);
      await page.getByRole('link', { name: 'Pay 3?' }).waitFor();
      await expect.poll(() => page.evaluate('told')).toEqual(['Pay 3?']);
      await page.keyboard.press('a');
      await page.getByRole('dialog').getByText('"amount": 3').waitFor();
      await page.keyboard.type('fine');
      await page.keyboard.press('Enter');
      await page.getByText('Nothing waits for you').waitFor();
      expect(await evaluate()).toBe(Outcome.ALLOW);
    };
    await open('/approvals', test, { key });
    await createClient(ControlService, transport).deleteControl({ controlId: asking, force: true });
  });

  it('works on by itself when the network is back', async () => {
    await open('/live', async ({ page, problems }) => {
      await page.locator('[data-state=live]').waitFor();
      await page.context().setOffline(true);
      await page.getByText('The browser is offline').waitFor();
      await page.context().setOffline(false);
      await page.getByText('The browser is offline').waitFor({ state: 'detached' });
      await page.locator('[data-state=live]').waitFor();
      await dashboard.service.evaluate('card 4111111111111111');
      await page.getByRole('row').filter({ hasText: 'no-card-numbers' }).first().waitFor();
      // The browser itself reports requests that fail without a network.
      problems.splice(0, problems.length, ...problems.filter((text) => !text.includes('net::ERR_')));
    });
  });
});

/** Has the notices of the browser noted instead of shown. */
const RECORD_NOTICES = `(() => {
  globalThis.told = [];
  globalThis.Notification = class {
    static permission = 'granted';
    static requestPermission = async () => 'granted';
    constructor(title) { told.push(title); }
    close() {}
  };
})()`;
