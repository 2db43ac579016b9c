import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { definitionValue } from '../../packages/dashboard/src/control-parts/definition-json.js';
import { axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { ADMIN_KEY, AGENT, REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

/** A definition with every member that there is. */
const COMPLETE = {
  description: 'Everything',
  enabled: false,
  execution: Execution.SERVER,
  scope: {
    stepTypes: ['tool', 'llm'],
    stepNames: ['send_mail'],
    stepNameRegex: '^send',
    stages: [Stage.PRE, Stage.POST],
  },
  condition: {
    or: {
      conditions: [
        {
          and: {
            conditions: [
              {
                selector: { path: 'input.text' },
                evaluator: {
                  name: 'regex',
                  config: { pattern: 'a|b', flags: ['I'] },
                  metadata: { owner: { id: 7 } },
                },
              },
              {
                selector: {},
                evaluator: { name: 'list', config: { values: ['x', 0.1, -3, 1e300], logic: 'all' } },
              },
            ],
          },
        },
        {
          not: {
            selector: { path: '*' },
            evaluator: {
              name: 'json',
              config: { json_schema: { type: ['object', 'null'], enum: [null, {}] } },
            },
          },
        },
      ],
    },
  },
  action: {
    decision: Decision.STEER,
    steeringContext: { message: 'Ask first', requiredActions: ['ask', 'wait'] },
    metadata: { ticket: 'T-1', list: [1, [2, { deep: true }]] },
  },
  tags: ['pci', 'שלום'],
};

describeOnSqlite('the editor of controls', (freshDatabaseUrl) => {
  let controls: ReturnType<typeof clientOf>;
  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open, address } = dashboard;
  beforeAll(async () => {
    controls = clientOf(dashboard.service.url);
  });

  const item = (page: Page, name: string | RegExp) => page.getByRole('treeitem', { name });
  const tree = (page: Page) => page.getByRole('tree', { name: 'Condition tree' });
  const stored = async (controlId: number) => {
    const { data } = await controls.getControl({ controlId });
    return data && definitionValue(data);
  };

  it('writes a control with and, or, not by keyboard alone, and shows a problem of the server at its node', async () => {
    await open(`/controls/new?agent=${AGENT}`, async ({ page }) => {
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      const fillCheck = async (path: string, pattern: string) => {
        await press('Enter', 'Control+a');
        await page.keyboard.type(path);
        await tabTo(page, page.getByLabel('Evaluator', { exact: true }));
        await page.keyboard.type('regex');
        await tabTo(page, page.getByLabel('pattern'));
        await page.keyboard.type(pattern);
        await press('Escape');
        await expectFocus(tree(page));
      };
      await tabTo(page, tree(page));
      await press('ArrowDown');
      await fillCheck('input.text', 'card');
      // OR beside the first check, which brings AND around both.
      await press('a', 'ArrowDown', 'ArrowDown', 'Enter', 'ArrowDown');
      await fillCheck('input.to', 'bank');
      // NOT below OR.
      await press('ArrowUp', 'a', 'End', 'Enter', 'ArrowDown');
      await fillCheck('input.amount', '(');
      await item(page, /regex on input\.amount.*has a problem/).waitFor();
      const summary = page.getByRole('region', { name: 'Problems' });
      await summary.getByText('missing closing )').waitFor();
      await press('Home');
      await tabTo(
        page,
        summary.getByRole('button', { name: 'condition.and[1].or[1].not.evaluator.pattern' }),
      );
      await press('Enter');
      await expectFocus(page.getByLabel('pattern'));
      await press('End', 'Backspace');
      await page.keyboard.type('0');
      await summary.getByText('No problems found.').waitFor();
      await press('Escape', 'Home', 'Enter');
      await page.keyboard.type('by-keyboard');
      await press('Control+s');
      await page.getByRole('heading', { level: 1, name: 'by-keyboard', exact: true }).waitFor();
      const check = (path: string, pattern: string) => ({
        selector: { path },
        evaluator: { name: 'regex', config: { pattern } },
      });
      const id = Number(/controls\/(\d+)$/.exec(page.url())?.[1]);
      expect(await stored(id)).toEqual({
        execution: 'server',
        enabled: true,
        condition: {
          and: [
            check('input.text', 'card'),
            { or: [check('input.to', 'bank'), { not: check('input.amount', '0') }] },
          ],
        },
        action: { decision: 'observe' },
        scope: {},
      });
      const { agents } = await controls.listControlAgents({ controlId: id });
      expect(agents.map(({ agentName, direct }) => [agentName, direct])).toEqual([[AGENT, true]]);
    });
  });

  it('keeps tree and JSON in step, undoes, and explains a step as one types', async () => {
    const controlId = dashboard.service.controlIds.get('watch-refunds') ?? 0;
    await open(`/controls/${controlId}`, async ({ page, problems }) => {
      await page.getByRole('link', { name: 'Edit' }).click();
      await page.getByRole('tab', { name: 'JSON' }).click();
      const json = page.getByRole('textbox', { name: 'Definition as JSON' });
      const read = async () => (await json.innerText()).replaceAll(/\s/g, '');
      await item(page, /regex on input\.text · refund/).click();
      await tree(page).press('a');
      // No pane cuts the menu off, and Escape leads back to where the key was pressed.
      await page.getByRole('menu', { name: 'Add' }).waitFor();
      expect(await page.evaluate(AT_EDGES_OF_MENU)).toEqual([true, true]);
      await page.keyboard.press('Escape');
      await expectFocus(tree(page));
      await tree(page).press('a');
      await page.getByRole('menuitem', { name: 'NOT' }).click();
      await expect.poll(read).toContain('"not":{"selector":{"path":"*"}');
      await page.getByRole('button', { name: 'Undo' }).click();
      await expect.poll(read).not.toContain('"not"');

      // An unfinished text leaves the tree alone.
      await json.focus();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText('{"condition": {"or": [');
      await page.getByText('The tree stays as it was').waitFor();
      await item(page, /regex on input\.text · refund/).waitFor();
      await page.keyboard.insertText(`{"selector": {"path": "name"}, "evaluator": {"name": "list", "config": {"values": [12345678901234567890]}}}
        ]}, "execution": "server", "action": {"decision": "observe"}, "scop": {}}`);
      await page.getByText('too many digits to be kept').waitFor();
      await json.press('Control+Home');
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(`{"condition": {"or": [{"selector": {"path": "input.text"}, "evaluator": {"name": "list", "config": {"values": ["money"]}}}, {"selector": {"path": "name"}, "evaluator": {"name": "regex", "config": {"pattern": "mail"}}}
        ]}, "execution": "server", "action": {"decision": "observe"}, "scop": {}}`);
      await item(page, /list on input\.text · \["money"\]/).waitFor();
      await page.getByRole('button', { name: 'scop' }).waitFor();
      await item(page, /regex on name/).dragTo(item(page, /list on input\.text/), {
        targetPosition: { x: 80, y: 3 },
      });
      await expect.poll(read).toMatch(/"regex".*"list"/);
      await tree(page).press('Alt+ArrowDown');
      await expect.poll(read).toMatch(/"list".*"regex"/);

      const step = page.getByLabel('Step, as JSON');
      const panel = page.getByRole('region', { name: 'Try it' });
      await step.fill('{"type": "tool", "name": "send_mail", "input": {"text": "money"}}');
      await panel.getByText('observed by this control').waitFor();
      await item(page, /list on input\.text.*true/).waitFor();
      await item(page, /regex on name.*skipped.*An earlier condition of OR matched/).waitFor();
      await step.fill('{"type": "tool", "name": "read", "input": {"text": "-"}}');
      await panel.getByText('no match').waitFor();
      await item(page, /regex on name.*false/).waitFor();
      await step.fill('{"type"');
      await panel.getByText('This is not JSON').waitFor();

      // Leaving needs an answer, also with the button of the browser.
      await page.getByRole('link', { name: 'Agents' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Leave without saving?').waitFor();
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      await page.evaluate('history.back()');
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      expect(page.url()).toContain(`/controls/${controlId}/edit`);
      await page.evaluate('location.reload()');
      await expect.poll(() => problems.splice(0)).toEqual(['a script opened a dialog: ']);
      await item(page, /list on input\.text/).waitFor();
      await page.getByText('kept as a draft').waitFor();
      await page.getByRole('link', { name: 'Agents' }).click();
      await dialog.getByRole('button', { name: 'Discard the changes of watch-refunds' }).click();
      await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
      await page.goBack();
      await item(page, /regex on input\.text · refund/).waitFor();
      expect(await dialog.count()).toBe(0);
      expect(await stored(controlId)).toMatchObject({ condition: { evaluator: { name: 'regex' } } });
    });
  });

  it('names the rules of lint that say what is probably not meant', async () => {
    const leaf = (name: string, config: object) => ({
      selector: { path: 'input' },
      evaluator: { name, config },
    });
    const data = {
      execution: Execution.SERVER,
      condition: leaf('regex', { pattern: 'a^b' }),
      action: { decision: Decision.STEER },
    };
    const { controlId } = await controls.createControl({ name: 'never-steers', data: data as object });
    await open(`/controls/${controlId}/edit`, async ({ page }) => {
      const problems = page.getByRole('region', { name: 'Problems' });
      await problems.getByText('2 warnings').waitFor();
      await problems.getByText('the pattern is found in no text').waitFor();
      const told = await problems.getByRole('listitem').allInnerTexts();
      expect(told.map((text) => text.replace(/^.* More in /, ''))).toEqual([
        'docs/lint.md: never-true',
        'docs/lint.md: missing-steering-message',
      ]);
    });
  });

  it('keeps every member that was not edited, and asks who wins when another writer was faster', async () => {
    const { controlId } = await controls.createControl({ name: 'complete', data: COMPLETE });
    const before = await stored(controlId);
    await open(`/controls/new?copy=${controlId}`, async ({ page }) => {
      await page.getByRole('button', { name: 'Create control' }).click();
      // The reply has warnings, which stay until they are dismissed. The copy has an address of its own.
      await page.getByRole('heading', { level: 1, name: 'Edit complete-copy' }).waitFor();
      await page.getByRole('status', { name: 'Saved' }).getByText('Saved.').waitFor();
      const copyId = Number(/controls\/(\d+)\/edit$/.exec(page.url())?.[1]);
      expect(await stored(copyId)).toEqual(before);

      await page.goto(address(`/controls/${controlId}/edit`));
      const description = page.getByLabel('Description');
      await description.fill('Edited');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('status', { name: 'Saved' }).getByText('Saved.').waitFor();
      expect(await stored(controlId)).toEqual({ ...before, description: 'Edited' });
      await page.getByRole('button', { name: 'Dismiss' }).click();

      await dashboard.service.enable(controlId, true);
      await description.fill('Mine');
      await page.keyboard.press('Control+s');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Version 3', { exact: true }).waitFor();
      await dialog.getByText(/by the key [0-9a-f]{12}, changed: data\.enabled/).waitFor();
      await dialog.getByRole('button', { name: 'Take their version' }).click();
      await expect.poll(() => page.getByLabel('On: it takes part').isChecked()).toBe(true);
      await expect.poll(() => description.inputValue()).toBe('Edited');
      await page.getByRole('button', { name: 'Undo' }).click();
      await expect.poll(() => description.inputValue()).toBe('Mine');

      await dashboard.service.enable(controlId, false);
      await page.keyboard.press('Control+s');
      await dialog.getByRole('button', { name: 'Overwrite version 4' }).click();
      await page.getByRole('status', { name: 'Saved' }).waitFor();
      expect(await stored(controlId)).toEqual({ ...before, description: 'Mine' });
    });
  });

  it('asks before it denies, with the agents, and takes no second click of a double click', async () => {
    const controlId = dashboard.service.controlIds.get('watch-refunds') ?? 0;
    const decisionOf = async () => ((await stored(controlId)) as { action?: unknown }).action;
    await open(`/controls/${controlId}/edit`, async ({ page }) => {
      const dialog = page.getByRole('dialog');
      await page.getByRole('radio', { name: /deny/ }).check();
      await page.keyboard.press('Control+s');
      await dialog.getByText('only records its matches now').waitFor();
      await dialog.getByText(`1 agent: ${AGENT}`).waitFor();
      await dialog.getByText('Recorded matches in the last 24 hours').waitFor();
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      expect(await decisionOf()).toEqual({ decision: 'observe' });
      await page.getByLabel('Description').fill('Denies refunds');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await dialog.getByRole('button', { name: 'Save and deny' }).click();
      await page.getByRole('heading', { level: 1, name: 'watch-refunds', exact: true }).waitFor();
      expect(await decisionOf()).toEqual({ decision: 'deny' });

      // What is at the place of a button that has gone is not meant by the second click.
      const switchOff = page.getByRole('button', { name: 'Switch off watch-refunds' });
      const { x = 0, y = 0, width = 0, height = 0 } = (await switchOff.boundingBox()) ?? {};
      const center = [x + width / 2, y + height / 2] as const;
      await page.evaluate(`(() => {
        const button = document.createElement('button');
        button.style.cssText = 'position: fixed; z-index: 9; left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px';
        button.onclick = () => button.remove();
        document.body.append(button);
      })()`);
      await page.mouse.click(...center);
      await page.mouse.click(...center);
      expect(await dialog.count()).toBe(0);
      await switchOff.focus();
      await page.keyboard.press('Enter');
      await dialog.getByRole('button', { name: 'Cancel' }).click();

      await page.goto(address(`/controls/${controlId}/edit`));
      await page.getByRole('radio', { name: /observe/ }).check();
      await page.keyboard.press('Control+s');
      await page.getByRole('heading', { level: 1, name: 'watch-refunds', exact: true }).waitFor();
    });
  });

  it('has no barrier that axe finds in either theme, and fits into 360 pixels', async () => {
    const controlId = dashboard.service.controlIds.get('no-card-numbers') ?? 0;
    const paths = [
      `/controls/${controlId}/edit`,
      `/controls/${controlId}/edit?node=&view=form`,
      `/controls/${controlId}/edit?view=json`,
    ];
    await open('/controls/new', async ({ page }) => {
      for (const path of paths) {
        await page.goto(address(path));
        await settled(page);
        await item(page, /regex on input\.text.*true/).waitFor();
        expect([path, await axeViolationsInThemes(page)]).toEqual([path, []]);
        await page.setViewportSize({ width: 360, height: 800 });
        expect([path, await overflow(page)]).toEqual([path, 0]);
        await page.setViewportSize({ width: 1280, height: 800 });
      }
    });
  });

  it('is for admin keys only', async () => {
    await open(
      '/controls/new',
      async ({ page }) => {
        await page.getByText('This key cannot write controls').waitFor();
        await page.getByRole('link', { name: 'the controls' }).click();
        await page.getByRole('link', { name: 'watch-refunds' }).click();
        await page.getByRole('heading', { level: 1, name: 'watch-refunds' }).waitFor();
        expect(await page.getByRole('link', { name: /New control|Edit/ }).count()).toBe(0);
      },
      { key: REGULAR_KEY },
    );
  });
});

function clientOf(baseUrl: string) {
  const transport = createGrpcTransport({
    baseUrl,
    interceptors: [
      (next) => (request) => {
        request.header.set('x-api-key', ADMIN_KEY);
        return next(request);
      },
    ],
  });
  return createClient(ControlService, transport);
}

/** Whether the edges of the open menu are what one sees at their places. */
const AT_EDGES_OF_MENU = `(() => {
  const menu = document.querySelector('[role=menu]');
  const { left, right, top, bottom } = menu.getBoundingClientRect();
  const isSeen = (x, y) => menu.contains(document.elementFromPoint(x, y));
  return [isSeen(left + 3, top + 3), isSeen(right - 3, bottom - 3)];
})()`;

const MAX_TABS = 40;

/** Moves the focus with the Tab key only. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let count = 0; count < MAX_TABS; count += 1) {
    if (await hasFocus(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${target}`);
}

function hasFocus(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === element.ownerDocument.activeElement);
}

async function expectFocus(target: Locator): Promise<void> {
  await expect.poll(() => hasFocus(target)).toBe(true);
}
