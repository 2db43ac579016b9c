import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fromJson } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ConfigurationService } from '../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { ControlBindingService } from '../../gen/proto/enforcement/v1/control_binding_service_pb.js';
import {
  ControlTemplateSchema,
  Decision,
  Execution,
  Stage,
} from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { CoverageService } from '../../gen/proto/enforcement/v1/coverage_service_pb.js';
import { EvaluationService, Outcome } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { HaltScope, HaltService } from '../../gen/proto/enforcement/v1/halt_service_pb.js';
import { NotificationService } from '../../gen/proto/enforcement/v1/notification_service_pb.js';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { SampleService } from '../../gen/proto/enforcement/v1/sample_service_pb.js';
import { ShadowService } from '../../gen/proto/enforcement/v1/shadow_service_pb.js';
import { axeViolations, axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { until } from '../support/until.js';
import { AGENT, adminTransport, HOSTILE } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';
import { PACK, startPackedService } from './pack-service.js';

const MATCHED = 'no-card-numbers';
const LIMITED = 'four-mails-a-day';
const APPLIED = 'applied-control';
const HIDDEN = 'hidden-control';
/** Evaluators that mark what they find in a step, or tell the values of their expression. */
const EXPLAINED = ['cel', 'secrets', 'pii', 'injection', 'url', 'shell'];

const INPUT = { type: 'object', properties: { text: { type: 'string', description: 'Body of the mail' } } };
/** Pages with long forms and tables. */
const FORMS = ['/evaluators/json', '/evaluators/sql?tab=configuration', '/templates/new?example=blank'];
/** Pages on which everything that can be opened is. */
const OPENED = [
  '/?range=365d',
  `/agents/${AGENT}?tab=steps`,
  `/agents/${AGENT}?tab=policies`,
  '/controls/3?tab=activity',
];
/** What is opened on a page: its address, and what shows it. */
type State = readonly [path: string, show: (page: Page) => Promise<unknown>];

// What opens on a page, and data that the pages of the demonstration do not have: only a browser knows of colors and sizes.
// What these states say and do is tested with components, in packages/dashboard/test.
describeOnSqlite('what opens on pages of the dashboard', (freshDatabaseUrl) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'packs-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const dashboard = useDashboardTabs(async () =>
    startPackedService(await freshDatabaseUrl(), folder, {
      SERVICE_NOTIFICATIONS_ALLOW: 'loopback',
      SERVICE_NOTIFICATIONS_HTTP: 'true',
    }),
  );
  const { open } = dashboard;
  const client = <S extends Parameters<typeof createClient>[0]>(service: S) =>
    createClient(service, adminTransport(dashboard.service.url));
  let trace = '';
  let appliedId = 0;
  let hiddenId = 0;
  let hostileId = 0;
  let expressionId = 0;
  let destinationId = 0;
  let approvalId = 0;
  let watchedId = 0;

  beforeAll(async () => {
    const rule = {
      execution: Execution.SERVER,
      condition: {
        selector: { path: 'input.text' },
        evaluator: { name: 'regex', config: { pattern: 'refund' } },
      },
      action: { decision: Decision.OBSERVE },
    };
    await client(AgentService).initAgent({
      agent: { agentName: AGENT },
      steps: ['send_mail', 'pay', 'a', 'b', 'c'].map((name) => ({ type: 'tool', name, inputSchema: INPUT })),
    });
    const { controlId } = await client(ControlService).createControl({
      name: LIMITED,
      data: {
        execution: Execution.SERVER,
        condition: {
          selector: { path: '*' },
          evaluator: { name: 'rate', config: { limit: 4, period: '24h', key: ['agent'] } },
        },
        action: { decision: Decision.DENY },
      },
    });
    await client(AgentService).addAgentControl({ agentName: AGENT, controlId });
    for (const [name, decision] of [
      ['hiding-control', Decision.DENY],
      [HIDDEN, Decision.STEER],
    ] as const) {
      const data = { ...rule, scope: { stepNames: ['a'] }, action: { decision } };
      ({ controlId: hiddenId } = await client(ControlService).createControl({ name, data }));
      await client(AgentService).addAgentControl({ agentName: AGENT, controlId: hiddenId });
    }
    const words = { type: 'string_list', label: HOSTILE.quotes, description: HOSTILE.markup };
    ({ controlId: hostileId } = await client(ControlService).createControl({
      name: 'hostile-template',
      data: {
        template: fromJson(ControlTemplateSchema, {
          description: HOSTILE.markup,
          parameters: { words },
          definition_template: {
            description: HOSTILE.rightToLeft,
            execution: 'server',
            condition: {
              selector: { path: '*' },
              evaluator: { name: 'list', config: { values: { $param: 'words' } } },
            },
            action: { decision: 'observe' },
          },
        }),
        templateValues: { words: [HOSTILE.markup] },
      },
    }));
    ({ controlId: expressionId } = await client(ControlService).createControl({
      name: 'large-transfers',
      data: {
        ...rule,
        condition: {
          selector: { path: '*' },
          evaluator: { name: 'cel', config: { expression: 'input.text == "a" && stage == "pre"' } },
        },
      },
    }));
    await client(SampleService).createSamplingRule({ agentName: AGENT, share: 1 });
    watchedId = dashboard.service.controlIds.get('watch-refunds') ?? 0;
    const denying = { ...rule, action: { decision: Decision.DENY } };
    denying.condition = { ...rule.condition, evaluator: { name: 'regex', config: { pattern: 'three' } } };
    await client(ShadowService).setShadow({ controlId: watchedId, data: denying });
    for (const text of ['one', 'two', 'three', 'card 4111111111111111'])
      await dashboard.service.evaluate(text);
    await client(CoverageService).setExpectations({
      agentName: AGENT,
      expectations: [{ point: 'grpc', intervalSeconds: 900 }],
    });
    const matchedId = dashboard.service.controlIds.get(MATCHED) ?? 0;
    await client(ControlBindingService).createControlBinding({
      controlId: matchedId,
      targetType: 'project',
      targetId: 'checkout',
    });
    const { events } = await client(ObservabilityService).queryEvents({
      agentName: AGENT,
      controlIds: [matchedId],
      matched: true,
      includeBuffered: true,
    });
    const [match] = events;
    trace = match?.traceId ?? '';
    await client(ObservabilityService).markFalsePositive({
      controlExecutionId: match?.controlExecutionId ?? '',
      controlId: matchedId,
      note: 'an order number',
    });
    await client(ConfigurationService).applyConfiguration({
      owner: 'payments/policies',
      documents: [{ kind: 'Control', name: APPLIED, data: rule }],
    });
    const { controls } = await client(ControlService).listControls({ name: APPLIED });
    appliedId = controls[0]?.id ?? 0;
    const { destination } = await client(NotificationService).createDestination({
      name: 'halts',
      type: 1,
      // Nothing listens there: its deliveries wait.
      url: 'http://127.0.0.1:9/hook',
      kinds: ['halt.set'],
    });
    destinationId = destination?.id ?? 0;
    approvalId = await askAbout({
      html: '<img src=x onerror="alert(1)"><script>alert(2)</script>',
      bidi: 'pay \u202E0001\u202C \u2066EUR\u2069 to אבג',
      long: 'word '.repeat(200_000),
    });
    await until(
      () => client(ShadowService).listShadows({}),
      ({ shadows }) => shadows.some(({ onlyShadowMatched }) => onlyShadowMatched > 0n),
    );
    await client(HaltService).createHalt({
      scope: HaltScope.SESSION,
      agentName: AGENT,
      sessionId: 'stopped',
      reason: '<b>wrong</b> customers',
    });
  });

  /** Has a step wait for the approval of the admin key, until it is cancelled. Returns the id of the approval. */
  async function askAbout(input: object): Promise<number> {
    const { controlId } = await client(ControlService).createControl({
      name: 'asks-people',
      data: {
        execution: Execution.SERVER,
        condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: '.' } } },
        scope: { stepNames: ['pay'], stages: [Stage.PRE] },
        action: {
          decision: Decision.DENY,
          approval: {
            approvers: ['role:admin'],
            separate: false,
            question: 'Send {input.html}{input.bidi}?',
          },
        },
      },
    });
    await client(AgentService).addAgentControl({ agentName: AGENT, controlId });
    const step = JSON.stringify({ type: 'tool', name: 'pay', input });
    const { approval } = await client(EvaluationService).evaluate({
      agentName: AGENT,
      stage: Stage.PRE,
      accepts: [Outcome.ASK],
      stepForm: { case: 'stepJson', value: new TextEncoder().encode(step) },
    });
    return approval?.id ?? 0;
  }

  /** What is wrong with what is shown, at the usual width and that of a telephone. */
  async function problems(page: Page): Promise<unknown[]> {
    await settled(page);
    const found: unknown[] = await axeViolationsInThemes(page);
    await page.setViewportSize({ width: 360, height: 800 });
    await expect.poll(() => overflow(page)).toBe(0);
    found.push(...(await axeViolations(page, 'structure')));
    await page.setViewportSize({ width: 1280, height: 800 });
    await expect.poll(() => overflow(page)).toBe(0);
    return found;
  }

  it('has no barrier that axe finds, in either theme, and fits every width', async () => {
    const matchedId = dashboard.service.controlIds.get(MATCHED);
    const expression = `/controls/${expressionId}/edit?node=`;
    const states: readonly State[] = [
      [`/agents/${AGENT}`, (page) => page.getByRole('button', { name: 'Halt…' }).click()],
      ['/halts', (page) => page.getByText('<b>wrong</b> customers').waitFor()],
      ['/coverage?name=billing', (page) => page.getByText('every 15 minutes').waitFor()],
      ['/coverage?name=billing', (page) => page.getByRole('button', { name: /^Expect/ }).click()],
      [`/traces?id=${trace}`, (page) => page.getByText(/Marked by .*: an order number/).waitFor()],
      [
        `/events?control=${matchedId}`,
        (page) => page.getByText('false positive', { exact: true }).first().waitFor(),
      ],
      [
        `/controls/${matchedId}?tab=activity`,
        (page) => page.getByText('false positive', { exact: true }).first().waitFor(),
      ],
      ['/limits', (page) => page.getByRole('cell', { name: '1 of 4' }).waitFor()],
      [
        '/limits',
        async (page) => {
          await page.getByRole('button', { name: /^Details of/ }).click();
          await page
            .getByRole('dialog')
            .getByRole('button', { name: /^Reset/ })
            .click();
          await page.getByRole('dialog', { name: /^Reset .*\?$/ }).waitFor();
        },
      ],
      ['/destinations', (page) => page.getByRole('button', { name: 'New destination' }).click()],
      [
        `/destinations/${destinationId}`,
        (page) => page.getByRole('region', { name: 'Deliveries' }).getByText('waits').waitFor(),
      ],
      [
        `/destinations/${destinationId}`,
        async (page) => {
          await page.getByRole('button', { name: 'Rotate halts' }).click();
          await page.getByRole('button', { name: 'Make another secret' }).click();
          await page.getByText(/^whsec_/).waitFor();
          await page.getByRole('button', { name: 'Copy the secret' }).click();
          await page.locator('.new-secret [role=status]:not(:empty)').waitFor();
        },
      ],
      [
        `/controls/${appliedId}/edit`,
        async (page) => {
          await page.getByLabel('Description').fill('Changed by a person');
          await page.keyboard.press('Control+s');
          await page.getByText('applied as configuration by').waitFor();
        },
      ],
      [
        '/events?outcome=denied',
        async (page) => {
          await page.getByRole('button', { name: 'Views' }).click();
          await page.getByLabel('Save these filters as').fill(HOSTILE.markup);
          await page.keyboard.press('Enter');
          await page.getByRole('button', { name: `Open ${HOSTILE.markup} by default` }).waitFor();
        },
      ],
      ['/events?outcome=denied', (page) => page.getByRole('button', { name: /^Range:/ }).click()],
      [
        '/events?from=2026-01-05T12:00:07Z&to=2026-01-06T23:30:00Z',
        (page) => page.getByText('No event matches the filters').waitFor(),
      ],
      [
        '/events',
        async (page) => {
          await page.getByRole('combobox', { name: 'Filter events' }).pressSequentially('billing');
          await page.getByRole('option', { name: `agent: ${AGENT}` }).waitFor();
        },
      ],
      [
        `/playground?agent=${AGENT}`,
        async (page) => {
          await page.getByRole('button', { name: 'Explain' }).click();
          await page.getByRole('button', { name: 'Save as test case' }).click();
          await page.getByRole('button', { name: 'Run all' }).click();
          await page.getByText('1 of 1 case passed, 0 did not.').waitFor();
        },
      ],
      [`/controls/${appliedId}?tab=json`, (page) => page.locator('.cm-content').waitFor()],
      [
        '/controls',
        async (page) => {
          await page.getByLabel(/^Select all/).check();
          await page.getByRole('button', { name: 'Delete…' }).click();
          await page.getByRole('dialog').getByText('Together they are used by 2 policies').waitFor();
        },
      ],
      [
        `/controls/${matchedId}?tab=usage`,
        (page) => page.getByRole('cell', { name: 'checkout', exact: true }).waitFor(),
      ],
      [
        `/agents/${AGENT}?tab=targets&target_type=project&target_id=checkout`,
        (page) => page.getByText('The target adds no control').waitFor(),
      ],
      [`/controls/${hostileId}/template`, (page) => page.getByText(HOSTILE.quotes).first().waitFor()],
      ...OPENED.map(
        (path): State => [
          path,
          async (page) => {
            await settled(page);
            for (const summary of await page.locator('main summary').all()) await summary.click();
          },
        ],
      ),
      ...FORMS.map((path): State => [path, settled]),
      [
        '/keys/new',
        async (page) => {
          await page.getByLabel('Name', { exact: true }).fill('reports');
          await page.getByRole('button', { name: 'Create the key' }).click();
          await page.getByRole('region', { name: 'New secret' }).waitFor();
        },
      ],
      [
        `/packs/${PACK}`,
        async (page) => {
          await page.getByText('Definition', { exact: true }).first().click();
          await page.getByText('matches regex').waitFor();
          await page.getByText('1 case that it matches, 1 that it does not').first().click();
          await page.getByText('a harmless mail').waitFor();
        },
      ],
      [
        `/packs/${PACK}?tab=preview`,
        async (page) => {
          const step = { type: 'tool', name: 'send_mail', input: { text: 'a secret with 4111111111111111' } };
          await page.getByLabel('Steps to try, as JSON').fill(JSON.stringify(step));
          await page.getByRole('button', { name: 'Preview', exact: true }).click();
          await page.getByText('2 controls of the pack match.').waitFor();
        },
      ],
      [
        `/packs/${PACK}?tab=installations`,
        async (page) => {
          await page.getByText('Both as JSON').first().click();
          await page.locator('.cm-mergeView').waitFor();
        },
      ],
      [
        `/packs/${PACK}`,
        async (page) => {
          await page.getByRole('button', { name: 'Install…' }).click();
          await page.getByRole('dialog').getByText('All controls observe at first').waitFor();
        },
      ],
      [
        '/approvals',
        async (page) => {
          await page.getByText('<img src=x onerror=').first().waitFor();
          await page.keyboard.press('a');
          await page.getByRole('dialog').getByText('The step is longer').waitFor();
        },
      ],
      [
        `/approvals/${approvalId}`,
        async (page) => {
          await page.getByRole('button', { name: /^Show all/ }).click();
          expect(await page.locator('main img, main script').count()).toBe(0);
        },
      ],
      [
        `/samples?agent=${AGENT}`,
        async (page) => {
          await page.getByRole('button', { name: 'New rule' }).press('Enter');
          const dialog = page.getByRole('dialog', { name: 'Keep steps?' });
          await dialog.getByText('The service has no key for samples').waitFor();
          await dialog.getByLabel('Keep the steps of').selectOption('control');
        },
      ],
      ['/samples', (page) => page.getByRole('cell', { name: `of ${AGENT}`, exact: true }).waitFor()],
      [
        `/traces?id=${trace}`,
        async (page) => {
          await page.getByRole('button', { name: 'Make it a test case' }).first().click();
          await page.getByRole('dialog').getByLabel('Test case', { exact: true }).waitFor();
        },
      ],
      ['/shadows', (page) => page.getByRole('link', { name: 'watch-refunds' }).waitFor()],
      [
        `/controls/${watchedId}?tab=shadow`,
        (page) => page.getByRole('cell', { name: 'the shadow' }).first().waitFor(),
      ],
      [
        `/controls/${watchedId}/edit`,
        async (page) => {
          await page.getByRole('radio', { name: /deny/ }).check();
          await page.getByRole('button', { name: 'Set as shadow…' }).click();
          await page.getByRole('dialog').getByLabel('For').selectOption({ label: 'all' });
        },
      ],
      [
        `/controls/${matchedId}/edit?view=json`,
        async (page) => {
          await page.getByRole('treeitem', { name: /regex on input\.text/ }).click();
          await page.getByText('The tree and this text are in step').waitFor();
        },
      ],
      [`/controls/${hiddenId}`, (page) => page.getByText('Hidden by another control.').waitFor()],
      [`/controls/${hiddenId}/edit`, (page) => page.getByText('"hiding-control"').first().waitFor()],
      [
        expression,
        (page) => page.locator('.expression-values').getByText('was not evaluated').first().waitFor(),
      ],
      [
        expression,
        async (page) => {
          const headers = { 'content-type': 'application/grpc-web+proto', 'grpc-status': '12' };
          const refuse = { status: 200, headers, body: '' };
          await page.route('**/InspectExpression', (route) => route.fulfill(refuse), { times: 1 });
          await page.reload();
          await page.getByText('The server does not check the expression as you type').waitFor();
        },
      ],
      // Last of these: the browser keeps what is typed as a draft.
      [
        expression,
        async (page) => {
          await page.locator('.expression-editor .cm-content').click();
          await page.keyboard.press('Control+A');
          await page.keyboard.insertText('inptu.amount > 1');
          await page.locator('.cm-lintRange-error').waitFor();
          await page
            .locator('.expression-facts')
            .getByRole('button', { name: /^Write / })
            .waitFor();
        },
      ],
      ...EXPLAINED.map(
        (name): State => [
          `/evaluators/${name}`,
          async (page) => {
            await page.getByText('The step matches').waitFor();
            await page.locator('.expression-values, .found-text mark').first().waitFor();
            expect(await page.getByRole('region', { name: 'Result' }).locator('.notice').count()).toBe(0);
          },
        ],
      ),
    ];
    await open('/', async ({ page }) => {
      const wrong: unknown[] = [];
      // The browser does not ask before a page is left where something is not saved.
      await page.addInitScript(
        "addEventListener('beforeunload', (event) => event.stopImmediatePropagation())",
      );
      for (const [path, show] of states) {
        await page.goto(dashboard.address(path));
        await show(page);
        wrong.push(...(await problems(page)).map((problem) => [path, problem]));
      }
      expect(wrong).toEqual([]);
    });
  });

  it('keeps the button to save where it is when the samples of a change are there, and the question fits', async () => {
    await open(`/controls/${watchedId}/edit`, async ({ page }) => {
      await settled(page);
      const save = page.getByRole('button', { name: 'Save', exact: true });
      const before = await save.boundingBox();
      await page.getByRole('radio', { name: /deny/ }).check();
      await page.getByRole('status', { name: 'On recorded samples' }).getByText('denied').waitFor();
      const after = await save.boundingBox();
      expect([after?.y, after?.x]).toEqual([before?.y, before?.x]);
      await page.keyboard.press('Control+s');
      await page.getByRole('dialog').getByText(`1 agent: ${AGENT}`).waitFor();
      expect(await problems(page)).toEqual([]);
    });
  });
});
