import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createClient, type Transport } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { runExample } from '../support/client-example.js';
import { axeViolationsInThemes, overflow } from '../support/dashboard-browser.js';
import { describeOnPostgresql } from '../support/databases.js';
import { compileService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { adminTransport, HOSTILE, REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';
import { filterBy, queryField, shownRange } from './query-bar.js';

const AGENT = 'mail-agent-of-tests';
const STEP_NAME = `it's "${HOSTILE.markup}"`;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
/** Events that the agent has after the preparation. */
const EVENTS = 5;

describeOnPostgresql('events and the playground in the dashboard', (freshDatabaseUrl) => {
  let transport: Transport;
  let controlId: number;
  const definition = (pattern: string) => ({
    execution: Execution.SERVER,
    condition: { selector: { path: 'input.text' }, evaluator: { name: 'regex', config: { pattern } } },
    action: { decision: Decision.DENY },
  });
  const stepText = (text: string) =>
    JSON.stringify({ type: 'tool', name: STEP_NAME, input: { text, 'a\'"$`\\': HOSTILE.rightToLeft } });
  async function evaluate(text: string): Promise<void> {
    await createClient(EvaluationService, transport).evaluate({
      agentName: AGENT,
      stage: Stage.PRE,
      sessionId: HOSTILE.quotes,
      traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
      stepForm: { case: 'stepJson', value: new TextEncoder().encode(stepText(text)) },
    });
  }
  async function change(pattern: string): Promise<void> {
    // Times of events and versions have milliseconds.
    const now = Date.now();
    await until(Date.now, (time) => time > now + 1);
    await createClient(ControlService, transport).setControlData({ controlId, data: definition(pattern) });
  }
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open, address } = dashboard;
  beforeAll(async () => {
    transport = adminTransport(dashboard.service.url);
    const agents = createClient(AgentService, transport);
    await agents.initAgent({ agent: { agentName: AGENT } });
    const controls = createClient(ControlService, transport);
    ({ controlId } = await controls.createControl({ name: 'changing', data: definition('first-secret') }));
    await agents.addAgentControl({ agentName: AGENT, controlId });
    for (let index = 0; index < EVENTS; index += 1) await evaluate(`first-secret ${index}`);
    await change('second-secret');
  });

  /** The lines of the JSON route of ExportEvents. */
  async function exportedLines(filter: object): Promise<unknown[]> {
    const reply = await fetch(`${dashboard.service.url}/api/v1/observability/events/export`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': REGULAR_KEY },
      body: JSON.stringify({ ...filter, include_step: true }),
    });
    return linesOf(await reply.text());
  }

  it('finds events by all filters and exports exactly what they show', async () => {
    const session = encodeURIComponent(HOSTILE.quotes);
    const filters = `agent=${AGENT}&action=deny&range=1h&type=tool&session=${session}&kind=tool_call`;
    await open(
      `/events?${filters}`,
      async ({ page, problems }) => {
        await page.getByText(`${EVENTS} of ${EVENTS}`).waitFor();
        await page.getByRole('button', { name: `Remove session: ${HOSTILE.quotes}` }).waitFor();
        await filterBy(page, 'step:"another step"');
        await page.getByText('No event matches the filters').waitFor();
        await filterBy(page, `step:"${STEP_NAME.replaceAll('"', '\\"')}"`);
        await page.getByText(`${EVENTS} of ${EVENTS}`).waitFor();
        const expected = await exportedLines({ agent_name: AGENT, actions: ['deny'] });
        expect(expected).toHaveLength(EVENTS);

        await page.evaluate('window.showSaveFilePicker = undefined');
        const download = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Export as NDJSON' }).click();
        expect(linesOf(await readFile(await (await download).path(), 'utf8'))).toEqual(expected);
        await page.getByText(`${EVENTS} events saved`).waitFor();

        // A file of the browser's own, which has the same interface as one that is chosen.
        await page.evaluate(`window.showSaveFilePicker = async () =>
          (await navigator.storage.getDirectory()).getFileHandle('chosen', { create: true })`);
        await page.getByRole('button', { name: 'Export as NDJSON' }).click();
        const readChosen = () =>
          page.evaluate<string>(`navigator.storage.getDirectory()
            .then((folder) => folder.getFileHandle('chosen'))
            .then((handle) => handle.getFile())
            .then((file) => file.text())`);
        await expect.poll(readChosen).not.toBe('');
        expect(linesOf(await readChosen())).toEqual(expected);

        await page.route('**/ExportEvents', (route) => route.abort());
        await page.getByRole('button', { name: 'Export as NDJSON' }).click();
        await page.getByText('The export broke off after 0 events, so no file was saved').waitFor();
        // The browser itself reports the request that fails.
        expect(problems.splice(0)).toEqual([expect.stringContaining('net::ERR_FAILED')]);
        await page.unroute('**/ExportEvents');
        await page.route('**/ExportEvents', () => {});
        await page.getByRole('button', { name: 'Export as NDJSON' }).click();
        await page.getByRole('button', { name: 'Cancel the export' }).click();
        await page.getByText('Cancelled after 0 events').waitFor();

        await page.getByRole('button', { name: /^Range:/ }).click();
        const range = page.getByRole('dialog', { name: 'Time range' });
        await expectNoBarriers(page);
        await range.getByRole('textbox', { name: 'From' }).fill('2026-01-05 24:00');
        await range.getByRole('button', { name: 'Apply' }).click();
        await range.getByRole('alert').getByText('“2026-01-05 24:00” is not a time').waitFor();
        await range.getByRole('textbox', { name: 'From' }).fill('2026-01-05 12:00:07Z');
        await range.getByRole('textbox', { name: 'To' }).fill('2026-01-06 23:30Z');
        await range.getByRole('button', { name: 'Apply' }).click();
        await page.getByText('No event matches the filters').waitFor();
        const { searchParams } = new URL(page.url());
        expect([searchParams.get('from'), searchParams.get('to'), searchParams.get('range')]).toEqual([
          '2026-01-05T12:00:07.000Z',
          '2026-01-06T23:30:00.000Z',
          null,
        ]);
        await expectNoBarriers(page);
      },
      { key: REGULAR_KEY },
    );
  });

  it('filters by what is typed, or says what is possible', async () => {
    await open(
      '/events?control=changing&outcome=no-match',
      async ({ page }) => {
        const alert = page.getByRole('alert');
        // The name of a control in an address is looked up.
        await expect.poll(() => new URL(page.url()).searchParams.get('control')).toBe(String(controlId));
        await page.getByText('No event matches the filters').waitFor();
        await filterBy(page, 'outcome:refused');
        await alert.getByText('Possible are: denied, steered, observed, error, no match.').waitFor();
        expect(await queryField(page).inputValue()).toBe('outcome:refused');
        await filterBy(page, 'outcome:denied');
        await alert.getByText('The outcome no match cannot be combined').waitFor();
        expect(await page.getByRole('row').count()).toBe(0);
        await page.getByRole('button', { name: 'Remove outcome: no match' }).click();
        await page.getByText(`${EVENTS} of ${EVENTS}`).waitFor();

        // What is suggested, by keyboard.
        await page.getByRole('button', { name: 'Clear' }).click();
        await queryField(page).pressSequentially('mail-ag');
        const option = page.getByRole('option', { name: `agent: ${AGENT}` });
        await option.waitFor();
        await expectNoBarriers(page);
        await page.keyboard.press('ArrowDown');
        expect(await option.getAttribute('aria-selected')).toBe('true');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: `Remove agent: ${AGENT}` }).waitFor();
        await page.keyboard.type('outc');
        await page.keyboard.press('Tab');
        expect(await queryField(page).inputValue()).toBe('outcome:');
        await page.keyboard.type('ste');
        await page.keyboard.press('Tab');
        await page.getByRole('button', { name: 'Remove outcome: steered' }).waitFor();
        await page.getByText('No event matches the filters').waitFor();
        await page.keyboard.press('Backspace');
        await page.getByText(`${EVENTS} of ${EVENTS}`).waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('option').first().waitFor({ state: 'detached' });

        // A query from elsewhere.
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.evaluate(`navigator.clipboard.writeText('outcome:denied control:chang color:red')`);
        await page.keyboard.press('Control+v');
        await alert.getByText('Nothing can be filtered by “color”.').waitFor();
        await page.getByRole('button', { name: 'Remove control: changing' }).waitFor();
        await filterBy(page, 'control:nothing-of-this-name');
        await alert.getByText('No control has “nothing-of-this-name” in its name.').waitFor();
        expect(await page.getByRole('row').count()).toBe(0);
      },
      { key: REGULAR_KEY },
    );
  });

  it('selects a range in a chart, by pointer and by keyboard', async () => {
    await open(`/controls/${controlId}?tab=activity&range=1h`, async ({ page }) => {
      const chart = page.locator('.activity-chart').filter({ hasText: 'Decisions over time' });
      const bars = chart.locator('.bar');
      const times = () => {
        const { searchParams } = new URL(page.url());
        return ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''));
      };
      const length = () => (times()[1] ?? 0) - (times()[0] ?? 0);
      await chart.getByText('Changes (dashed lines)').waitFor();
      const box = await chart.locator('section > svg').boundingBox();
      const { x, y, width } = box ?? { x: 0, y: 0, width: 0 };
      await page.mouse.move(x + width - 2, y + 40);
      await page.mouse.down();
      await page.mouse.move(x + width / 2, y + 60, { steps: 3 });
      await chart.getByText('selected. Enter zooms in').waitFor();
      await page.mouse.up();
      await expect.poll(length).toBeGreaterThan(15 * 60_000);
      expect(await shownRange(page)).toMatch(/^\d+ \w+ \d\d:\d\d(:\d\d)? – /);
      const selected = length();
      await page.getByRole('button', { name: 'Zoom out' }).click();
      await expect.poll(length).toBe(2 * selected);
      await page.goBack();
      await expect.poll(length).toBe(selected);
      await page.goBack();
      await expect.poll(() => shownRange(page)).toBe('Last 1 hour');

      await bars.last().focus();
      await page.keyboard.press('Shift+ArrowLeft');
      await chart.getByText('selected. Enter zooms in').waitFor();
      await page.keyboard.press('Escape');
      await chart.getByText('selected. Enter zooms in').waitFor({ state: 'detached' });
      await page.keyboard.press('Shift+Home');
      await page.keyboard.press('Enter');
      await expect.poll(length).toBeGreaterThan(30 * 60_000);
      // Other pages that are opened without a range have it, too.
      await page.getByRole('link', { name: 'Audit log', exact: true }).click();
      await expect.poll(length).toBeGreaterThan(30 * 60_000);
      await expectNoBarriers(page);
    });
  });

  it('saves views of a page in the browser, of which one can be the default', async () => {
    await open('/events?outcome=denied&range=7d', async ({ page }) => {
      const views = page.getByRole('dialog', { name: 'Saved views' });
      await page.getByRole('button', { name: 'Views' }).click();
      await views.getByLabel('Save these filters as').fill(HOSTILE.markup);
      await page.keyboard.press('Enter');
      await views.getByRole('button', { name: `Open ${HOSTILE.markup} by default` }).click();
      await expectNoBarriers(page);
      await page.goto(address('/events'));
      await page.getByRole('button', { name: 'Remove outcome: denied' }).waitFor();
      expect(await shownRange(page)).toBe('Last 7 days');
      await page.getByRole('button', { name: `Views: ${HOSTILE.markup}` }).click();
      await views.getByRole('button', { name: `Rename ${HOSTILE.markup}` }).click();
      await views.getByLabel('New name').fill('denials');
      await page.keyboard.press('Enter');
      await views.getByRole('button', { name: 'Delete denials' }).click();
      await page.goto(address('/events'));
      await page.getByRole('row').nth(1).waitFor();
      expect(new URL(page.url()).search).toBe('');
      expect(await page.locator('img').count()).toBe(0);
    });
  });

  it('shows why a step was denied by the definition as it was, and tries it again', async () => {
    await open('/events', async ({ page }) => {
      await filterBy(page, `agent:${AGENT}`);
      await page.getByText(`${EVENTS} of ${EVENTS}`).waitFor();
      // Anywhere in the row.
      await page.getByRole('row').nth(1).getByRole('cell').first().click();
      await page
        .getByRole('heading', { level: 1, name: `${AGENT} · ${STEP_NAME} denied by changing` })
        .waitFor();
      await page.getByText(`Trace ${TRACE}`).waitFor();
      await page.getByText(`${EVENTS} recorded checks of ${EVENTS} steps`).waitFor();
      const step = page.getByRole('region', { name: `Step tool ${STEP_NAME}` }).first();
      await step.getByText('denied', { exact: true }).waitFor();
      await step.getByText('matches regex first-secret').waitFor();
      await step.getByText('decided the check').waitFor();
      expect(await step.getByText('second-secret').count()).toBe(0);
      expect(await page.locator('img').count()).toBe(0);
      await step.getByRole('link', { name: 'compare with version 2' }).click();
      await page.getByRole('cell', { name: '"second-secret"' }).waitFor();
      await page.goBack();

      await step.getByRole('link', { name: 'Try again now' }).click();
      expect(await page.getByLabel('Agent', { exact: true }).inputValue()).toBe(AGENT);
      expect(JSON.parse(await page.getByLabel('Step, as JSON').inputValue())).toEqual({
        type: 'tool',
        name: STEP_NAME,
        input: {},
      });
      await page.getByText('Events hold no content of steps').waitFor();
      await page.getByLabel('Step, as JSON').fill(stepText('first-secret 0'));
      await page.keyboard.press('Control+Enter');
      await page.getByText('allowed', { exact: true }).waitFor();
    });
  });

  it('writes the evaluation as calls that can be run', async () => {
    await open(
      `/playground?agent=${AGENT}`,
      async ({ page }) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.getByLabel('Step, as JSON').fill(stepText('second-secret'));
        const copied = async (form: string): Promise<string> => {
          await page.getByRole('tab', { name: form, exact: true }).click();
          await page.getByRole('button', { name: `Copy as ${form}` }).click();
          await page.getByText('Copied.').waitFor();
          return page.evaluate<string>('navigator.clipboard.readText()');
        };
        const curl = await copied('curl');
        expect(curl).not.toContain(REGULAR_KEY);
        const environment = { ...process.env, SERVICE_API_KEY: REGULAR_KEY };
        const { stdout } = await promisify(execFile)('sh', ['-c', curl], { env: environment });
        expect(JSON.parse(stdout)).toMatchObject({ is_safe: false, matches: [{ control_name: 'changing' }] });

        const program = (await copied('TypeScript'))
          .replace('@control-enforcement/client', '../packages/client/src/node.js')
          .replace('process.env.SERVICE_API_KEY', JSON.stringify(REGULAR_KEY));
        const { main } = await compileService();
        const folder = path.resolve(path.dirname(main), '..');
        const name = `playground-${new URL(dashboard.service.url).port}`;
        expect(await runExample(folder, name, program, { skipLibCheck: true })).toMatch(
          /^deny deny control "changing"/,
        );
      },
      { key: REGULAR_KEY },
    );
  });

  it('has the content of a step in a link only on request', async () => {
    await open(`/playground?agent=${AGENT}&stage=post`, async ({ page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByLabel('Step, as JSON').fill(stepText('private'));
      const copied = async (): Promise<string> => {
        await page.getByRole('button', { name: 'Copy link' }).click();
        await page.getByText('Copied.').waitFor();
        return page.evaluate<string>('navigator.clipboard.readText()');
      };
      expect(await copied()).toBe(address(`/playground?agent=${AGENT}&stage=post`));
      await page.getByLabel('with the content of the step').check();
      const link = await copied();
      await page.goto('about:blank');
      await page.goto(link);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.getByLabel('Step, as JSON').inputValue()).toBe(stepText('private'));
      expect(await page.getByLabel('Stage').inputValue()).toBe('post');
      expect(new URL(link).search).not.toContain('private');
    });
  });

  it('saves test cases to a file, opens it, and says which of them fail after a change', async () => {
    await open(`/playground?agent=${AGENT}`, async ({ page }) => {
      await page.getByLabel('Step, as JSON').fill(stepText('second-secret'));
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('denied', { exact: true }).waitFor();
      await page.getByLabel('Name of the test case').fill(HOSTILE.markup);
      await page.getByRole('button', { name: 'Save as test case' }).click();
      await page.getByLabel('Step, as JSON').fill(stepText('harmless'));
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('allowed', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Save as test case' }).click();
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download 2 test cases' }).click();
      const file = await readFile(await (await download).path());
      expect(JSON.parse(String(file)).cases[0]).toMatchObject({
        agent: AGENT,
        stage: 'pre',
        step: JSON.parse(stepText('second-secret')),
        expected: { outcome: 'deny', matches: ['changing'] },
      });

      await page.reload();
      const chosen = (buffer: Buffer) => ({ name: 'cases.json', mimeType: 'application/json', buffer });
      const picker = page.locator('input[type=file]');
      await picker.setInputFiles(chosen(Buffer.from('[]')));
      await page.getByRole('alert').getByText('The file has no test cases').waitFor();
      await picker.setInputFiles(chosen(file));
      await page.getByRole('button', { name: 'Run all' }).click();
      await page.getByText('2 of 2 cases passed, 0 did not.').waitFor();
      await change('third-secret');
      await page.getByRole('button', { name: 'Run all' }).click();
      await page.getByText('1 of 2 cases passed, 1 did not.').waitFor();
      const failed = page.getByRole('row').filter({ hasText: HOSTILE.markup });
      await failed.getByText('the outcome is allow, not deny; no match of changing').waitFor();
      await failed.getByRole('button', { name: /^Open/ }).click();
      expect(JSON.parse(await page.getByLabel('Step, as JSON').inputValue()).input.text).toBe(
        'second-secret',
      );
      expect(await page.locator('img').count()).toBe(0);
      await expectNoBarriers(page);
    });
  });
});

async function expectNoBarriers(page: Page): Promise<void> {
  expect([page.url(), await axeViolationsInThemes(page)]).toEqual([page.url(), []]);
  await page.setViewportSize({ width: 360, height: 800 });
  await expect.poll(() => overflow(page)).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });
}

function linesOf(text: string): unknown[] {
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}
