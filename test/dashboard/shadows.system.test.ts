import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { SampleService } from '../../gen/proto/enforcement/v1/sample_service_pb.js';
import { ShadowService } from '../../gen/proto/enforcement/v1/shadow_service_pb.js';
import { axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { until } from '../support/until.js';
import { AGENT, adminTransport, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const CONTROL = 'watch-refunds';

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('changes of controls in the dashboard', (freshDatabaseUrl) => {
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open } = dashboard;
  const client = <S extends Parameters<typeof createClient>[0]>(service: S) =>
    createClient(service, adminTransport(dashboard.service.url));
  const idOf = (name: string) => dashboard.service.controlIds.get(name) ?? 0;
  const evaluate = (text: string) => {
    const step = JSON.stringify({ type: 'tool', name: 'send', input: { text, number: 1.5 } });
    const value = new TextEncoder().encode(step);
    const trace = { traceparent: `00-${'a'.repeat(31)}${text.length % 10}-00f067aa0ba902b7-01` };
    return client(EvaluationService).evaluate({
      agentName: AGENT,
      stage: Stage.PRE,
      stepForm: { case: 'stepJson', value },
      ...trace,
    });
  };

  it('says that nothing is kept yet, and how that is switched on', async () => {
    await open(`/controls/${idOf(CONTROL)}/edit`, async ({ page }) => {
      await page.getByLabel('Description').fill('Watches refunds');
      const figure = page.getByRole('status', { name: 'On recorded samples' });
      await figure.getByText('No samples of the last 7 days').waitFor();
      await figure.getByRole('link', { name: 'Switch them on' }).click();
      await page.getByRole('button', { name: /^Discard/ }).click();
      await page.getByText('No step is kept').waitFor();
    });
  });

  it('keeps samples by rules, which are created and deleted', async () => {
    const rules = async () => (await client(SampleService).listSamplingRules({})).rules;
    await open(`/samples?agent=${AGENT}`, async ({ page }) => {
      const dialog = page.getByRole('dialog', { name: 'Keep steps?' });
      const patterns = dialog.getByLabel(/^RE2 patterns/);
      await page.getByRole('button', { name: 'New rule' }).press('Enter');
      expect(await dialog.getByLabel('Keep the steps of').inputValue()).toBe('agent');
      expect(await dialog.getByLabel('Agent', { exact: true }).inputValue()).toBe(AGENT);
      await dialog.getByLabel(/^Selectors/).fill('input.password\n context.token\n');
      await patterns.fill('ACC-[0-9]{6}\n(');
      await dialog.getByLabel('Kept for').selectOption({ label: '3 days' });
      await dialog.getByLabel('Largest step').selectOption({ label: '64 KiB' });
      await dialog.getByText('The service has no key for samples').waitFor();
      await settled(page);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await dialog.getByLabel(/^Share/).fill('100');
      await page.keyboard.press('Enter');
      await dialog.getByRole('alert').getByText('masked_patterns[1]').waitFor();
      await patterns.fill('ACC-[0-9]{6}');
      await dialog.getByRole('button', { name: 'Keep', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('cell', { name: `of ${AGENT}`, exact: true }).waitFor();
      expect(await axeViolationsInThemes(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);

      await page.getByRole('button', { name: 'New rule' }).click();
      await dialog.getByLabel('Keep the steps of').selectOption('control');
      await dialog.getByLabel('Agent (empty: all agents)').fill('');
      expect(await dialog.getByRole('button', { name: 'Keep', exact: true }).isDisabled()).toBe(true);
      await dialog.getByLabel('Find a control').fill('watch-ref');
      await dialog.getByLabel('Control', { exact: true }).selectOption({ label: CONTROL });
      await dialog.getByLabel('The rule ends').selectOption({ label: 'in 7 days' });
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await overflow(page)).toBe(0);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Keep', exact: true }).click();
      await page.getByRole('link', { name: `control ${idOf(CONTROL)}` }).waitFor();
      expect(await overflow(page)).toBe(0);
    });
    expect(await rules()).toMatchObject([
      {
        agentName: AGENT,
        share: 1,
        retentionHours: 72,
        maxBytes: 65_536,
        maskedPaths: ['input.password', 'context.token'],
        maskedPatterns: ['ACC-[0-9]{6}'],
      },
      { controlId: idOf(CONTROL), share: 0.01, endsAt: expect.anything() },
    ]);
    await open('/samples', async ({ page }) => {
      await page.getByRole('button', { name: 'Delete sampling rule 2' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete sampling rule 2' }).click();
      await page.getByRole('link', { name: `control ${idOf(CONTROL)}` }).waitFor({ state: 'detached' });
    });
    expect(await rules()).toHaveLength(1);
  });

  it('tries a recorded step, and makes it a test case', async () => {
    const { decisionId } = await evaluate('card 4111111111111111 refund');
    await until(
      () => client(SampleService).listSamples({}),
      ({ samples }) => samples.length > 0,
    );
    const { events } = await client(ObservabilityService).queryEvents({ decisionId, includeBuffered: true });
    await open(`/traces?id=${events[0]?.traceId}`, async ({ page }) => {
      await page.getByRole('button', { name: 'Make it a test case' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Make it a test case' });
      const text = dialog.getByLabel('Test case', { exact: true });
      const written = await text.inputValue();
      expect(written).toContain('kind: Suite\n');
      expect(written).toContain('outcome: deny');
      expect(written).toContain('"no-card-numbers"');
      expect(written).toContain('"number":1.5');
      expect(written).not.toContain('4111111111111111');
      await dialog.getByText(/masked, so that it may get another verdict/).waitFor();
      await settled(page);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await dialog.getByLabel('The match is').selectOption('allow');
      expect(await text.inputValue()).toMatch(
        /false positive: tool send[\s\S]*outcome: allow\n\s+controls: \[\]/,
      );
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'Try this step' }).first().click();
      await page.waitForURL(/\/playground/);
      await page.getByText('"number": 1.5').first().waitFor();
    });
  });

  it('says if there is no sample of a step', async () => {
    await client(SampleService).deleteSamplingRule({ ruleId: 1, deleteSamples: true });
    const { events } = await client(ObservabilityService).queryEvents({ agentName: AGENT, matched: true });
    const trace = events.find(({ decisionId }) => decisionId !== undefined)?.traceId;
    await open(`/traces?id=${trace}`, async ({ page }) => {
      await page.getByRole('button', { name: 'Try this step' }).first().click();
      await page.getByText('No sample of this step was kept').waitFor();
      await page.getByRole('link', { name: 'Keep samples' }).click();
      await page.waitForURL(/\/samples\?agent=/);
    });
  });

  it('says beside Save what the samples say, also when it asks before it denies', async () => {
    await client(SampleService).createSamplingRule({ agentName: AGENT, share: 1 });
    for (const text of ['refund', 'refund please', 'nothing']) await evaluate(text);
    await until(
      () => client(SampleService).listSamples({}),
      ({ samples }) => samples.length === 3,
    );
    await open(`/controls/${idOf(CONTROL)}/edit`, async ({ page }) => {
      const figure = page.getByRole('status', { name: 'On recorded samples' });
      await settled(page);
      const before = await page.getByRole('button', { name: 'Save', exact: true }).boundingBox();
      await page.getByRole('radio', { name: /deny/ }).check();
      await figure.getByText('+2 denied').waitFor();
      expect(await figure.textContent()).toBe('On the last 7 days: +2 denied, −0');
      const after = await page.getByRole('button', { name: 'Save', exact: true }).boundingBox();
      expect([after?.y, after?.x]).toEqual([before?.y, before?.x]);
      await settled(page);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(`1 agent: ${AGENT}`).waitFor();
      await dialog.getByText('+2 denied').waitFor();
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
    });
  });

  it('saves also if samples cannot be replayed, and says so', async () => {
    await open(`/controls/${idOf(CONTROL)}/edit`, async ({ page, problems }) => {
      await page.route('**/*SampleService/ReplaySamples', (route) => route.abort());
      const dialog = page.getByRole('dialog');
      await page.getByRole('radio', { name: /deny/ }).check();
      await page
        .getByRole('status', { name: 'On recorded samples' })
        .getByText('Samples cannot be replayed')
        .waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await dialog.getByText('Samples cannot be replayed').waitFor();
      expect(await dialog.getByRole('button', { name: 'Save and deny' }).isEnabled()).toBe(true);
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      await page.getByRole('radio', { name: /observe/ }).check();
      await page.getByLabel('Description').fill('Watches refunds of all kinds');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.waitForURL(/\/controls\/\d+$/);
      const others = problems.splice(0).filter((text) => !text.includes('net::ERR_FAILED'));
      expect(others).toEqual([]);
    });
  });

  it('sets a change as shadow, compares it, and promotes it', async () => {
    const id = idOf(CONTROL);
    await open(`/controls/${id}/edit`, async ({ page }) => {
      const restore = page.getByRole('button', { name: /Discard|Start over/ });
      if ((await restore.count()) > 0) await restore.first().click();
      await page.getByRole('radio', { name: /deny/ }).check();
      await page.getByRole('button', { name: 'Set as shadow…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('For').selectOption({ label: 'all' });
      await settled(page);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Set as shadow' }).click();
      await page.waitForURL(/tab=shadow/);
      await page.getByText('No step was compared yet.').waitFor();
    });
    await evaluate('refund');
    const shadows = async () => (await client(ShadowService).listShadows({})).shadows;
    await until(shadows, ([shadow]) => shadow?.bothMatched === 1n);
    await client(ShadowService).setShadow({
      controlId: id,
      data: {
        execution: Execution.SERVER,
        condition: {
          selector: { path: 'input.text' },
          evaluator: { name: 'regex', config: { pattern: 'ref' } },
        },
        action: { decision: Decision.DENY },
      },
    });
    await evaluate('refer');
    await until(shadows, ([shadow]) => shadow?.onlyShadowMatched === 1n);
    await open('/shadows', async ({ page }) => {
      await page.getByRole('link', { name: CONTROL }).waitFor();
      await settled(page);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      await page.getByRole('link', { name: CONTROL }).click();
      const card = page.getByRole('region', { name: `Shadow of ${CONTROL}` });
      await card.getByRole('link', { name: 'tool send' }).waitFor();
      await card.getByRole('cell', { name: 'the shadow' }).waitFor();
      await settled(page);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      await card.getByRole('button', { name: `Promote the shadow of ${CONTROL}` }).click();
      const dialog = page.getByRole('dialog', { name: /Promote/ });
      await dialog.getByText(/it matched 1 that the control did not match/).waitFor();
      await dialog.getByRole('button', { name: /Promote/ }).click();
      await page.getByText('This control has no shadow').waitFor();
    });
    const { data } = await client(ControlService).getControlData({ controlId: id });
    expect(data?.action?.decision).toBe(Decision.DENY);
    expect(await shadows()).toEqual([]);
  });
});
