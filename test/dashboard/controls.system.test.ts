import { createClient, type Transport } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnPostgresql } from '../support/databases.js';
import { AGENT, adminTransport, HOSTILE, REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

/** A definition whose condition has every kind of node. */
function definition(pattern: string, description = HOSTILE.markup) {
  const leaf = (path: string, name: string, config: Record<string, string | string[]>) => ({
    selector: { path },
    evaluator: { name, config },
  });
  return {
    description,
    execution: Execution.SERVER,
    condition: {
      and: {
        conditions: [
          leaf('input.text', 'regex', { pattern }),
          {
            not: {
              or: {
                conditions: [
                  leaf('input.to', 'list', { values: [HOSTILE.markup, HOSTILE.rightToLeft] }),
                  leaf('name', 'list', { values: ['read_mail'], match_mode: 'starts_with' }),
                ],
              },
            },
          },
        ],
      },
    },
    action: { decision: Decision.DENY },
    tags: [HOSTILE.quotes],
  };
}

describeOnPostgresql('controls in the dashboard', (freshDatabaseUrl) => {
  let transport: Transport;
  const controls = () => createClient(ControlService, transport);
  const policies = () => createClient(PolicyService, transport);
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open, address } = dashboard;
  beforeAll(async () => {
    transport = adminTransport(dashboard.service.url);
  });

  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
  const dialogOf = (page: Page) => page.getByRole('dialog');
  async function create(name: string, pattern = 'version-one'): Promise<number> {
    const { controlId } = await controls().createControl({ name, data: definition(pattern) });
    return controlId;
  }
  const patternOf = async (controlId: number) => {
    const { data } = await controls().getControl({ controlId });
    return data?.condition?.and?.conditions[0]?.evaluator?.config?.pattern;
  };

  it('compares two versions, restores one, and does not overwrite a change that it has not shown', async () => {
    const controlId = await create('versioned');
    await controls().setControlData({ controlId, data: definition('version-two') });
    await controls().setControlData({ controlId, data: definition('version-three', HOSTILE.quotes) });
    await createClient(AgentService, transport).addAgentControl({ agentName: AGENT, controlId });
    await open(`/controls/${controlId}?tab=versions`, async ({ page }) => {
      await page.getByText('by admin').first().waitFor();
      await page.getByRole('link', { name: 'Compare version 1 with the current one' }).click();
      await expect.poll(() => focusedText(page)).toBe('Version 1 compared with version 3');
      expect(page.url()).toContain('?tab=versions&from=1&to=3');
      const change = row(page, 'condition.and[0].evaluator.config.pattern');
      await change.getByText('"version-one"').waitFor();
      await change.getByText('"version-three"').waitFor();
      const [before, after] = [
        page.getByLabel('Version 1', { exact: true }),
        page.getByLabel('Version 3', { exact: true }),
      ];
      await before.getByText('version-one').waitFor();
      await after.getByText('version-three').waitFor();
      expect(await page.locator('img').count()).toBe(0);

      await page.getByRole('button', { name: 'Restore version 1' }).first().click();
      await dialogOf(page).getByText('used by 0 policies and 1 agent').waitFor();
      await dialogOf(page).getByText('2 members change').waitFor();
      await controls().setControlData({ controlId, data: definition('of-another-writer') });
      await dialogOf(page).getByRole('button', { name: 'Restore version 1' }).click();
      await dialogOf(page).getByRole('alert').waitFor();
      expect(await patternOf(controlId)).toBe('of-another-writer');

      await page.goto(address(`/controls/${controlId}?tab=versions&from=1&to=4`));
      await page.getByRole('button', { name: 'Restore version 1' }).first().click();
      await dialogOf(page).getByRole('button', { name: 'Restore version 1' }).click();
      await page.getByText('Version 5 is now current and has the content of version 1.').waitFor();
      await page.getByRole('heading', { name: 'Version 4 compared with version 5' }).waitFor();
      expect(await patternOf(controlId)).toBe('version-one');
    });
  });

  it('switches several controls off, says which of them failed and why, adds them to a policy and deletes them', async () => {
    const ids = [await create('bulk-one'), await create('bulk-two'), await create('bulk-three')];
    await open('/controls?name=bulk-', async ({ page }) => {
      await row(page, 'bulk-three').waitFor();
      await page.getByLabel('Select all 3 shown controls').focus();
      await page.keyboard.press('Space');
      await page.getByText('3 selected').waitFor();
      await controls().deleteControl({ controlId: ids[1] ?? 0 });
      await page.getByRole('button', { name: 'Switch off…' }).click();
      await dialogOf(page).getByRole('button', { name: 'Switch off: 3 controls' }).click();
      await dialogOf(page).getByText('2 controls of 3 switched off').waitFor();
      const failure = dialogOf(page).getByRole('alert').getByRole('listitem');
      await failure.getByText('bulk-two').waitFor();
      await failure.getByText('Not found').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Retry failed' }).click();
      await failure.getByText('Not found').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Close' }).click();
      await row(page, 'bulk-three').getByText('off', { exact: true }).waitFor();
      expect(await row(page, 'bulk-two').count()).toBe(0);
      const { data } = await controls().getControl({ controlId: ids[0] ?? 0 });
      expect(data?.enabled).toBe(false);

      await page.getByLabel('Select bulk-one').check();
      await page.getByLabel('Select bulk-three').check();
      await page.getByRole('button', { name: 'Add to a policy…' }).click();
      await dialogOf(page).getByLabel('Policy', { exact: true }).selectOption('mail-policy');
      await dialogOf(page).getByText('the steps of the 1 agent with this policy').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Add to mail-policy: 2 controls' }).click();
      await dialogOf(page).getByText('2 controls of 2 added to mail-policy').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Close' }).click();
      const { policy } = await policies().getPolicy({ policyId: 1 });
      expect(policy?.controlIds).toEqual(expect.arrayContaining([ids[0], ids[2]]));

      await page.getByLabel('Select all 2 shown controls').check();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialogOf(page).getByText('used by 1 policy and 1 agent.').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Delete: 2 controls' }).click();
      await dialogOf(page).getByText('2 controls of 2 deleted').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Close' }).click();
      await page.getByText('No control matches the filters').waitFor();
    });
  });

  it('sorts by its heads, opens rows on click, and acts on all that match, also on those that are not shown', async () => {
    const names = Array.from({ length: 53 }, (_, index) => `many-${String(index).padStart(2, '0')}`);
    const ids: number[] = [];
    for (const name of names) ids.push(await create(name));
    await open('/controls?name=many-', async ({ page }) => {
      const first = page.getByRole('row').nth(1);
      await first.getByText('many-52').waitFor();
      const head = page.getByRole('columnheader', { name: 'Control', exact: true });
      await head.getByRole('button').click();
      await first.getByText('many-00').waitFor();
      expect(await head.getAttribute('aria-sort')).toBe('ascending');
      await head.getByRole('button').press('Enter');
      await first.getByText('many-52').waitFor();
      expect(page.url()).toContain('sort=-name');
      await page.reload();
      await first.getByText('many-52').waitFor();
      expect(await head.getAttribute('aria-sort')).toBe('descending');

      // Anywhere in the row, but not in its checkbox or beside it.
      await first.locator('.check-cell').click({ position: { x: 2, y: 2 } });
      await page.getByText('1 selected').waitFor();
      const other = page.context().waitForEvent('page');
      await first.getByText('every step').click({ modifiers: ['Control'] });
      await (await other).getByRole('heading', { level: 1, name: 'many-52' }).waitFor();
      await (await other).close();
      await first.getByText('every step').click();
      await page.getByRole('heading', { level: 1, name: 'many-52' }).waitFor();
      await page.goBack();

      await page.getByLabel('Select all 50 shown controls').check();
      await page.getByRole('button', { name: 'Select all 53 that match' }).click();
      await page.getByLabel('Select many-52').uncheck();
      await page.getByText('52 selected').waitFor();
      await page.getByRole('button', { name: 'Switch off…' }).click();
      await dialogOf(page).getByText('and 42 more').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Switch off: 52 controls' }).click();
      await dialogOf(page).getByText('52 controls of 52 switched off').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Close' }).click();
      const { pagination } = await controls().listControls({ name: 'many-', enabled: false, limit: 1 });
      expect(pagination?.total).toBe(52);

      await page.goto(address('/controls?name=many-&enabled=true&used=false&decision=deny'));
      await page.getByText('1 of 1').waitFor();
      await first.getByText('many-52').waitFor();
    });
    for (const id of ids) await controls().deleteControl({ controlId: id });
  });

  it('reads like sentences, is linked and unlinked, and deleted with its effect named', async () => {
    const controlId = await create('readable', '\\b\\d{16}\\b');
    await open('/controls', async ({ page }) => {
      await page.getByRole('combobox', { name: 'Filter controls' }).fill('readable');
      await page.keyboard.press('Enter');
      await row(page, 'readable').getByRole('link', { name: '0 agents' }).click();
      await page.getByText('No agent uses this control').waitFor();
      const usage = page.getByRole('tabpanel');

      await usage.getByLabel('Agent to add').selectOption(AGENT);
      await usage.getByRole('form', { name: 'Add an agent' }).getByRole('button').click();
      await row(page, AGENT).getByText('direct link').waitFor();
      await usage.getByLabel('Policy to add').selectOption({ label: 'mail-policy (1 agent)' });
      await usage.getByRole('form', { name: 'Add a policy' }).getByRole('button').click();
      await row(page, AGENT).getByRole('link', { name: 'policy mail-policy' }).waitFor();

      await page.getByRole('button', { name: `Unlink ${AGENT}` }).click();
      await dialogOf(page).getByText('still has this control through a policy').waitFor();
      await dialogOf(page)
        .getByRole('button', { name: `Unlink ${AGENT}` })
        .click();
      await page.getByText('direct link').waitFor({ state: 'detached' });

      await page.getByRole('tab', { name: 'Definition' }).click();
      const definitionCard = page.getByRole('region', { name: 'Definition', exact: true });
      await definitionCard.waitFor();
      const text = await definitionCard.innerText();
      expect(text).toContain('input.text matches regex \\b\\d{16}\\b');
      expect(text).toContain('NOT this does not hold');
      expect(text).toContain('OR at least one of these holds');
      expect(text).toContain(`input.to is any of ${HOSTILE.markup} ${HOSTILE.rightToLeft}`);
      expect(text).toContain('name starts with read_mail');
      // The view of JSON draws what is in the window.
      await page.setViewportSize({ width: 1280, height: 3_000 });
      await page.getByText('As JSON').click();
      await page.getByLabel('Definition as JSON').getByText('"starts_with"').waitFor();
      expect(await page.locator('img').count()).toBe(0);

      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('button', { name: 'Delete readable' }).click();
      await dialogOf(page).getByText('used by 1 policy and 1 agent').waitFor();
      await dialogOf(page).getByRole('button', { name: 'Delete readable' }).click();
      await page.getByRole('heading', { level: 1, name: 'Controls' }).waitFor();
      await expect(controls().getControl({ controlId })).rejects.toThrow('not');
    });
  });

  it('shows what became of it, and that it fails, why, and what to do', async () => {
    const { controlId } = await controls().createControl({
      name: 'judged',
      data: {
        execution: Execution.SERVER,
        condition: { selector: { path: 'input' }, evaluator: { name: 'acme.model', config: {} } },
        action: { decision: Decision.DENY },
      },
    });
    const agent = createClient(AgentService, transport);
    await agent.initAgent({ agent: { agentName: 'judged-agent-01' } });
    await agent.addAgentControl({ agentName: 'judged-agent-01', controlId });
    await createClient(EvaluationService, transport).evaluate({
      agentName: 'judged-agent-01',
      stage: Stage.PRE,
      stepForm: {
        case: 'stepJson',
        value: new TextEncoder().encode(
          JSON.stringify({ type: 'tool', name: 'send_mail', input: { text: 'hello' } }),
        ),
      },
    });
    await open(`/controls/${controlId}`, async ({ page }) => {
      const problem = page.getByRole('region', { name: 'Problem of this control' });
      await problem.getByText('An evaluator of this control is not configured').waitFor();
      await problem.getByText('1 agent denied by it').waitFor();
      const matches = page.getByRole('region', { name: 'Matches', exact: true });
      await matches.getByRole('link', { name: '1 error' }).waitFor();
      await matches.getByText('the control fails closed').waitFor();
      await matches.getByRole('link', { name: 'What the evaluator acme.model needs' }).waitFor();
      await page
        .getByRole('region', { name: 'Coverage' })
        .getByRole('link', { name: 'judged-agent-01' })
        .waitFor();
      await page
        .getByRole('region', { name: 'Version' })
        .getByText(/created/)
        .waitFor();
      expect(await page.getByText('%').count()).toBe(0);
    });
    await controls().deleteControl({ controlId, force: true });
    // A row of the latest matches opens the trace.
    await open(`/controls/${dashboard.service.controlIds.get('no-card-numbers')}`, async ({ page }) => {
      const latest = page.getByRole('region', { name: 'Latest matches', exact: true });
      await latest.getByText(HOSTILE.rightToLeft).waitFor();
      await latest.getByRole('row').nth(1).locator('time').click();
      await expect.poll(() => page.url()).toContain('/traces?id=');
    });
  });

  it('offers a regular key nothing that changes a control, and keeps the versions of a deleted one', async () => {
    const deleted = await create('deleted');
    await controls().deleteControl({ controlId: deleted });
    await open(
      '/controls',
      async ({ page, problems }) => {
        await row(page, 'no-card-numbers').waitFor();
        expect(await page.getByRole('checkbox').count()).toBe(0);
        await page.goto(address('/controls/1'));
        await settled(page);
        await page.getByRole('button', { name: 'More' }).click();
        await page.getByRole('link', { name: 'Versions', exact: true }).waitFor();
        expect(await page.getByRole('link', { name: /Edit|Duplicate/ }).count()).toBe(0);
        for (const tab of ['usage', 'versions&from=1&to=1']) {
          await page.goto(address(`/controls/1?tab=${tab}`));
          await settled(page);
          const offered = page.getByRole('button', { name: /Add|Delete|Unlink|Remove|Restore|Switch/ });
          expect([tab, await offered.count()]).toEqual([tab, 0]);
          expect(await page.getByRole('link', { name: 'Duplicate' }).count()).toBe(0);
        }
        await page.goto(address(`/controls/${deleted}`));
        await page.getByText('This control does not exist').waitFor();
        await page.getByText('Version 2', { exact: true }).waitFor();
        expect(problems).toEqual([]);
      },
      { key: REGULAR_KEY },
    );
  });

  it('has no barrier that axe finds in comparisons and dialogs, which fit into 360 pixels', async () => {
    const controlId = await create('looked-at');
    await controls().setControlData({ controlId, data: definition('version-two') });
    const states: readonly (readonly [path: string, show: (page: Page) => Promise<void>])[] = [
      [`/controls/${controlId}?tab=json`, (page) => page.locator('.cm-content').waitFor()],
      [
        `/controls/${controlId}?tab=versions&from=1&to=2`,
        (page) => page.locator('.cm-changedText').first().waitFor(),
      ],
      [
        '/controls',
        async (page) => {
          await page.getByLabel(/^Select all/).check();
          await page.getByRole('button', { name: 'Delete…' }).click();
          await dialogOf(page).getByText('Together they are used by 1 policy').waitFor();
        },
      ],
    ];
    await open('/controls', async ({ page }) => {
      for (const [path, show] of states) {
        await page.goto(address(path));
        await show(page);
        expect([path, await axeViolationsInThemes(page)]).toEqual([path, []]);
        await page.setViewportSize({ width: 360, height: 800 });
        await expect.poll(() => overflow(page)).toBe(0);
        await page.setViewportSize({ width: 1280, height: 800 });
      }
    });
  });
});

/** Text of the element that has the focus. */
function focusedText(page: Page): Promise<string> {
  return page.evaluate('document.activeElement?.textContent');
}
