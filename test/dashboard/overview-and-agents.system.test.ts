import { rename } from 'node:fs/promises';
import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnPostgresql, describeOnSqlite } from '../support/databases.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { adminTransport, REGULAR_KEY } from './dashboard-service.js';
import { type DashboardTabs, useDashboardTabs } from './dashboard-tabs.js';
import { COVERED, type FleetService, startFleetService, UNCOVERED } from './fleet-service.js';

const GONE_AND_BACK = 'say in words what does not work while the database is gone, and that it is back';

describeOnSqlite('Overview and the pages of agents', (freshDatabaseUrl) => {
  let databaseUrl: string;
  let controlId: number;
  const dashboard = useDashboardTabs(async () => {
    databaseUrl = await freshDatabaseUrl();
    return startFleetService(databaseUrl);
  });
  const { open, address } = dashboard;
  beforeAll(async () => {
    controlId = dashboard.service.controlIds.get('no-cards') ?? 0;
  });

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
  const query = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

  // Dialogs are confirmed by the keyboard: a second click at the place of the first counts as a double click.
  /** Chooses one of the ranges that end now. */
  const choose = async (page: Page, text: string) => {
    await page.getByRole('button', { name: /^Range: / }).click();
    await page.getByRole('button', { name: text, exact: true }).click();
  };

  it('lead from the verdict to each agent without any control in one click, and keep the range', async () => {
    await open('/?range=30d', async ({ page }) => {
      const verdict = page.getByRole('region', { name: 'Verdict' });
      await verdict.getByText('Needs attention').waitFor();
      await page.getByRole('banner').getByRole('link', { name: 'Needs attention' }).waitFor();
      await verdict.getByRole('link', { name: /^3 agents/ }).click();
      await heading(page, 'Agents').waitFor();
      for (const name of UNCOVERED) await row(page, name).getByText('none').waitFor();
      expect(await row(page, COVERED).count()).toBe(0);
      await page.getByText('3 of 3').waitFor();
      await page.getByRole('link', { name: UNCOVERED[2] }).click();
      await page.getByText('0 on, 1 off').waitFor();
      await page.goBack();
      expect(query(page)).toMatchObject({ controls: 'none' });
      await page.goBack();
      expect(query(page)).toEqual({ range: '30d' });
    });
  });

  it('count every evaluation by its outcome, also those that are not recorded', async () => {
    await open('/', async ({ page }) => {
      const figure = (name: string) => page.getByRole('link', { name: new RegExp(`^${name}: `) });
      const numberIn = async (name: string) =>
        Number(
          (
            await figure(name)
              .innerText()
              .catch(() => '0')
          ).replaceAll(',', ''),
        );
      const before = { evaluated: await numberIn('Evaluated steps'), denied: await numberIn('Denied') };
      for (let count = 0; count < 3; count += 1) await dashboard.service.isAllowed('hello');
      expect(await dashboard.service.isAllowed('4111111111111111')).toBe(false);
      await expect.poll(() => numberIn('Evaluated steps')).toBe(before.evaluated + 4);
      expect(await numberIn('Denied')).toBe(before.denied + 1);
      const share = ((before.denied + 1) / (before.evaluated + 4)) * 100;
      await page
        .getByText(`${share.toFixed(1)} % of them`)
        .first()
        .waitFor();
      const agents = page.getByRole('region', { name: 'Agents with the most denials' });
      await agents
        .getByRole('row')
        .filter({ hasText: COVERED })
        .getByText(`${share.toFixed(1)} %`)
        .waitFor();
      // No numbers of events are said to be a share of all steps.
      await page.getByText('these are no shares of all checks').waitFor();

      await figure('Denied').click();
      await heading(page, 'Events').waitFor();
      expect(query(page)).toMatchObject({ outcome: 'denied' });
    });
  });

  it('tell the numbers of a chart by keyboard and as a table, without color', async () => {
    await open(`/agents/${COVERED}?tab=activity`, async ({ page }) => {
      const activity = page.getByRole('tabpanel');
      const bar = activity.locator('.bar[tabindex="0"]');
      await bar.focus();
      const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');
      expect(await focused()).toMatch(/: \d denied, 1 error$/);
      await activity.locator('.chart-values').getByText('error').waitFor();
      for (let hours = 0; hours < 3; hours += 1) await page.keyboard.press('ArrowLeft');
      expect(await focused()).toMatch(/: 1 denied, 1 steered$/);
      await page.keyboard.press('Home');
      expect(await focused()).toMatch(/: nothing$/);
      await page.keyboard.press('End');
      expect(await focused()).toMatch(/: \d denied, 1 error$/);
      expect(await bar.count()).toBe(1);
      for (let hours = 0; hours < 3; hours += 1) await page.keyboard.press('ArrowLeft');

      await activity.getByText('As a table').click();
      const table = activity.getByRole('region', { name: 'Decisions over time', exact: true });
      expect(await table.getByRole('row').count()).toBe(3);
      expect(await table.getByRole('row').nth(1).getByRole('cell').allInnerTexts()).toEqual(
        expect.arrayContaining(['1', '1', '0', '0', '2', 'show']),
      );

      await bar.focus();
      await page.keyboard.press('Enter');
      await heading(page, 'Events').waitFor();
      expect(query(page)).toMatchObject({ agent: COVERED, from: expect.any(String), to: expect.any(String) });
      await expect.poll(() => page.getByRole('row').count()).toBe(3);
    });
  });

  it('link and unlink controls and policies of an agent, which decide the next step', async () => {
    await open(`/agents/${COVERED}`, async ({ page }) => {
      const dialog = page.getByRole('dialog');
      await row(page, 'no-cards').getByText('direct link').waitFor();
      await row(page, 'no-cards').getByText('policy mail-policy').waitFor();
      expect(await dashboard.service.isAllowed('a refund')).toBe(true);
      await page.getByLabel('Find a control').fill('refund');
      await page.getByLabel('Control to add').selectOption('no-refunds');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await row(page, 'no-refunds').getByText('direct link').waitFor();
      expect(await dashboard.service.isAllowed('a refund')).toBe(false);

      await page.getByRole('button', { name: 'Unlink no-refunds' }).press('Enter');
      await dialog.getByText(`It no longer checks the steps of ${COVERED}`).waitFor();
      await dialog.getByRole('button', { name: 'Unlink no-refunds' }).press('Enter');
      await row(page, 'no-refunds').waitFor({ state: 'detached' });
      expect(await dashboard.service.isAllowed('a refund')).toBe(true);

      await page.getByRole('button', { name: 'Unlink no-cards' }).press('Enter');
      await dialog.getByText('because mail-policy still contains it').waitFor();
      await dialog.getByRole('button', { name: 'Unlink no-cards' }).press('Enter');
      await row(page, 'no-cards').getByText('direct link').waitFor({ state: 'detached' });
      expect(await dashboard.service.isAllowed('4111111111111111')).toBe(false);

      await row(page, 'no-cards').getByRole('link', { name: 'in the policies' }).click();
      expect(query(page)).toEqual({ tab: 'policies' });
      await page.getByRole('button', { name: 'Remove mail-policy' }).press('Enter');
      await dialog.getByText(`${COVERED} loses 1 control.`).waitFor();
      await dialog.getByRole('button', { name: 'Remove mail-policy' }).press('Enter');
      await page.getByText('The agent has no policy').waitFor();
      expect(await dashboard.service.isAllowed('4111111111111111')).toBe(true);
      await page.getByLabel('Policy to add').selectOption('mail-policy');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await row(page, 'mail-policy').waitFor();
      expect(await dashboard.service.isAllowed('4111111111111111')).toBe(false);

      // A policy for every agent stays with each of them until that ends.
      await row(page, 'mail-policy').getByRole('link', { name: 'mail-policy' }).click();
      await heading(page, 'mail-policy').waitFor();
      for (const [verb, told] of [
        ['Give to every agent', 'All agents will have it at once'],
        ['End for every agent', 'registered from now on will not have it'],
      ]) {
        await page.getByRole('button', { name: 'More' }).click();
        await page.getByRole('button', { name: `${verb} mail-policy` }).press('Enter');
        await dialog.getByText(told ?? '').waitFor();
        await dialog.getByRole('button', { name: `${verb} mail-policy` }).press('Enter');
        await dialog.waitFor({ state: 'hidden' });
        const mark = page.getByText('Every agent has this policy');
        await mark.waitFor({ state: verb === 'Give to every agent' ? 'visible' : 'detached' });
      }
      // The other agents keep it until it is taken from them.
      const policies = createClient(PolicyService, adminTransport(dashboard.service.url));
      const { policies: found } = await policies.listPolicies({ name: 'mail-policy' });
      const policyId = found[0]?.id ?? 0;
      const { agents } = await policies.listPolicyAgents({ policyId, limit: 100 });
      const agentNames = agents.map(({ agentName }) => agentName).filter((name) => name !== COVERED);
      expect(await policies.removePolicyAgents({ policyId, agentNames })).toMatchObject({
        removed: agentNames.length,
      });
    });
  });

  it('show the activity of an agent and of a control, as it happens', async () => {
    await open(`/agents/${COVERED}?tab=activity`, async ({ page }) => {
      const activity = page.getByRole('tabpanel');
      await activity.getByRole('link', { name: /^Steered: 1/ }).waitFor();
      const events = page.getByRole('region', { name: 'Latest events' });
      await events.getByRole('row').nth(1).waitFor();
      const total = async () => Number((await page.getByText(/^All \d+ events$/).innerText()).split(' ')[1]);
      const before = await total();
      expect(await dashboard.service.isAllowed('4111111111111111')).toBe(false);
      await expect.poll(total).toBe(before + 1);
      await page
        .getByRole('region', { name: 'Controls with the most matches' })
        .getByRole('link', { name: 'no-cards' })
        .first()
        .click();
      await heading(page, 'no-cards').waitFor();
      const agents = page.getByRole('region', { name: 'Top agents' });
      await agents.getByRole('link', { name: COVERED, exact: true }).waitFor();
      await choose(page, '7 days');
      await page.getByRole('link', { name: /^Steered: 1/ }).waitFor();
      expect(query(page)).toEqual({ tab: 'activity', range: '7d' });
    });
  });

  it('say on the page of an agent what it is, what checks it, and what became of its steps', async () => {
    await open(`/agents/${COVERED}`, async ({ page }) => {
      await page.getByText('for 1 of 1 registered step').waitFor();
      await page
        .getByText('in this minute')
        .or(page.getByText(/minutes? ago/))
        .first()
        .waitFor();
      const matches = page.getByRole('region', { name: 'Latest matches' });
      await matches
        .getByRole('link', { name: /no-cards/ })
        .first()
        .waitFor();
      await page
        .getByRole('region', { name: 'Evaluations' })
        .getByRole('link', { name: /^Denied: / })
        .waitFor();
    });
  });

  it('name the control by whose error an agent is denied, one click away from the verdict', async () => {
    const agentName = 'unchecked-bot-1';
    const transport = adminTransport(dashboard.service.url);
    const agents = createClient(AgentService, transport);
    await agents.initAgent({
      agent: { agentName, agentMetadata: { team: 'finance', tier: 2 } },
      steps: [{ type: 'tool', name: 'send_mail' }],
    });
    const { controlId: failing } = await createClient(ControlService, transport).createControl({
      name: 'by-a-model',
      data: {
        execution: Execution.SERVER,
        condition: {
          selector: { path: 'input.text' },
          evaluator: {
            name: 'vendor.model',
            config: { metric: 'input_toxicity', operator: 'gt', target_value: 0.5, on_error: 'deny' },
          },
        },
        action: { decision: Decision.DENY },
      },
    });
    await agents.addAgentControl({ agentName, controlId: failing });
    const step = { type: 'tool', name: 'send_mail', input: { text: 'hello' } };
    const { isSafe } = await createClient(EvaluationService, transport).evaluate({
      agentName,
      stage: Stage.PRE,
      stepForm: { case: 'stepJson', value: new TextEncoder().encode(JSON.stringify(step)) },
    });
    expect(isSafe).toBe(false);
    await open('/', async ({ page }) => {
      const verdict = page.getByRole('region', { name: 'Verdict' });
      await verdict.getByRole('link', { name: /control "by-a-model" is not configured/ }).waitFor();
      await verdict.getByRole('link', { name: new RegExp(`agent "${agentName}"`) }).click();
      await heading(page, agentName).waitFor();
      const trouble = page.getByRole('alert').filter({ hasText: 'denied by error' });
      await trouble.getByText('All 1 of 1 evaluated steps').waitFor();
      await trouble.getByText('VENDOR_API_KEY is not set').waitFor();
      await trouble.getByRole('link', { name: 'by-a-model' }).click();
      await heading(page, 'by-a-model').waitFor();
    });
    await open('/agents', async ({ page }) => {
      await row(page, agentName).getByText('1 by error').waitFor();
      await row(page, agentName).getByRole('link', { name: 'team=finance' }).click();
      await page.getByRole('status').getByText('1 of 1').waitFor();
      expect(query(page)).toEqual({ label: 'team=finance' });
    });
    await agents.deleteAgent({ agentName });
    await createClient(ControlService, transport).deleteControl({ controlId: failing });
  });

  it('sort agents by the heads of the list, and give a policy to all that match', async () => {
    await open('/agents', async ({ page }) => {
      const names = async () =>
        (await page.getByRole('row').getByRole('link', { name: /-bot-/ }).allInnerTexts()).slice(0, 4);
      await page.getByRole('button', { name: 'Agent', exact: true }).click();
      const ascending = [COVERED, ...UNCOVERED].toSorted();
      await expect.poll(names).toEqual(ascending);
      await page.getByRole('button', { name: 'Agent', exact: true }).click();
      await expect.poll(names).toEqual(ascending.toReversed());
      await page.getByRole('button', { name: 'Last evaluated', exact: true }).click();
      await expect.poll(async () => (await names())[0]).toBe(COVERED);

      await page.goto(address('/agents?controls=none'));
      await page.getByLabel('Select all 3 shown agents').check();
      await page.getByRole('button', { name: 'Add to a policy…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Policy', { exact: true }).selectOption('mail-policy');
      await dialog.getByRole('button', { name: 'Add 3 agents' }).click();
      await dialog.getByText('3 agents of 3 added').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByText('Every agent is covered').waitFor();

      await page.goto(address('/agents'));
      for (const name of UNCOVERED) await page.getByLabel(`Select ${name}`).check();
      await page.getByRole('button', { name: 'Remove from a policy…' }).click();
      await dialog.getByLabel('Policy', { exact: true }).selectOption('mail-policy');
      await dialog.getByRole('button', { name: 'Remove 3 agents' }).press('Enter');
      await dialog.getByText('3 agents of 3 removed').waitFor();
    });
  });

  it('show the schemas of steps, and delete an agent after saying what goes with it', async () => {
    const name = UNCOVERED[2];
    await open(`/agents/${name}?tab=steps`, async ({ page }) => {
      await page.getByText('input: 2 members').click();
      await page.getByText('Body of the mail', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('button', { name: `Delete ${name}` }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('with 1 direct link to controls and 0 policies').waitFor();
      await dialog.getByRole('button', { name: `Delete ${name}` }).press('Enter');
      await heading(page, 'Agents').waitFor();
      await row(page, COVERED).waitFor();
      expect(await row(page, name).count()).toBe(0);
    });
    await open(
      `/agents/${COVERED}`,
      async ({ page }) => {
        for (const tab of ['', '?tab=policies', '?tab=activity']) {
          await page.goto(address(`/agents/${COVERED}${tab}`));
          await settled(page);
          expect(await page.getByRole('button', { name: /^(Add|Unlink|Remove|Delete)/ }).count()).toBe(0);
        }
      },
      { key: REGULAR_KEY },
    );
  });

  it('set how the steps of an agent are compared with their schemas, and show those that differed', async () => {
    await open(`/agents/${UNCOVERED[0]}?tab=steps`, async ({ page }) => {
      const evaluations = createClient(EvaluationService, adminTransport(dashboard.service.url));
      const wrong = { type: 'tool', name: 'send_mail', input: { txt: 'secret' } };
      const evaluate = () =>
        evaluations.evaluate({
          agentName: UNCOVERED[0],
          stage: Stage.PRE,
          stepForm: { case: 'stepJson', value: new TextEncoder().encode(JSON.stringify(wrong)) },
        });
      await page.getByText('are reported, and decided by the controls alone').waitFor();
      expect((await evaluate()).isSafe).toBe(true);
      await page.getByLabel('Comparison with schemas').selectOption('enforce');
      await page.getByText('Steps that differ from these schemas are denied').waitFor();
      await row(page, 'input.text is required').waitFor();
      expect((await evaluate()).isSafe).toBe(false);
      await page.getByLabel('Comparison with schemas').selectOption('off');
      await page.getByText('which is weaker than the setting of the service').waitFor();
      expect((await evaluate()).isSafe).toBe(true);
      await page.getByLabel('Comparison with schemas').selectOption('as the service is set');
      await page.getByText('are reported, and decided by the controls alone').waitFor();
    });
  });

  it('say of a server that does not answer any more when it was last seen', async () => {
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

  it('have no barrier that axe finds and fit into 360 pixels with everything opened, in both themes', async () => {
    const paths = [
      '/?range=365d',
      `/agents/${COVERED}?tab=steps`,
      `/agents/${COVERED}?tab=policies`,
      `/controls/${controlId}?tab=activity`,
    ];
    await open(
      '/',
      async ({ page }) => {
        for (const path of paths) {
          await page.goto(address(path));
          await settled(page);
          for (const summary of await page.locator('main summary').all()) await summary.click();
          const found = [path, await axeViolationsInThemes(page), await overflow(page)];
          expect(found).toEqual([path, [], 0]);
        }
      },
      { width: 360 },
    );
  });

  // Last, because it takes the database away.
  it(GONE_AND_BACK, async () => {
    const file = databaseUrl.replace(/^file:/, '');
    const away = `${file}.away`;
    await tellsOutage(dashboard, 'Changes and events cannot be stored', {
      begin: () => rename(file, away),
      end: () => rename(away, file),
    });
  });
});

describeOnPostgresql('Overview', (freshDatabaseUrl) => {
  let proxy: TcpProxy;
  afterAll(() => proxy?.close());
  const dashboard = useDashboardTabs(async () => {
    proxy = await startTcpProxy(await freshDatabaseUrl());
    return startFleetService(proxy.url);
  });

  it(GONE_AND_BACK, async () => {
    await tellsOutage(dashboard, 'The database does not answer', {
      async begin() {
        await proxy.set('refuse');
        proxy.cut();
      },
      end: () => proxy.set('clear'),
    });
  });
});

interface Outage {
  begin(): Promise<void>;
  end(): Promise<void>;
}

/** What the pages say when the database is taken away, and when it is given back. */
async function tellsOutage(
  { open }: DashboardTabs<FleetService>,
  words: string,
  outage: Outage,
): Promise<void> {
  await open('/', async ({ page, problems }) => {
    const health = page.getByRole('banner').locator('.health');
    await page.getByText('answers and stores').waitFor();
    await outage.begin();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    // A problem of the service, and the list of what is not loaded, may both say so.
    await verdict.getByText(words).first().waitFor();
    await health.getByText('Needs attention').waitFor();
    await expect.poll(() => health.getAttribute('title')).toContain(words);
    await outage.end();
    await verdict.getByText(words).first().waitFor({ state: 'detached' });
    await page.getByText('answers and stores').waitFor();
    // The browser itself reports replies of statistics that fail meanwhile.
    problems.splice(
      0,
      problems.length,
      ...problems.filter((text) => !text.includes('Failed to load resource')),
    );
  });
}
