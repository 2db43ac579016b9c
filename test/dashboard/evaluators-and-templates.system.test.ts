import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { EXAMPLE_TEMPLATES } from '../../packages/dashboard/src/templates/example-templates.js';
import { axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { ADMIN_KEY, HOSTILE, REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const SCHEMA_AGENT = 'schema-agent-01';
const HOSTILE_CONTROL = {
  template: {
    description: HOSTILE.markup,
    parameters: {
      words: { type: 'string_list', label: HOSTILE.quotes, description: HOSTILE.markup },
    },
    definition_template: {
      description: HOSTILE.rightToLeft,
      execution: 'server',
      condition: {
        selector: { path: '*' },
        evaluator: { name: 'list', config: { values: { $param: 'words' } } },
      },
      action: { decision: 'observe' },
    },
  },
  template_values: { words: [HOSTILE.markup] },
};

describeOnSqlite('evaluators and templates in a browser', (freshDatabaseUrl) => {
  let hostileId: number;

  async function call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const reply = await fetch(`${dashboard.service.url}/api/v1${path}`, {
      method,
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await reply.json()) as Record<string, unknown>;
    expect([reply.status, answer]).toEqual([200, answer]);
    return answer;
  }

  const dashboard = useDashboardTabs(async () => startDashboardService(await freshDatabaseUrl()));
  const { open, address } = dashboard;
  beforeAll(async () => {
    const input = { type: 'object', properties: { text: { type: 'string' }, to: { type: 'string' } } };
    await call('POST', '/agents/initAgent', {
      agent: { agent_name: SCHEMA_AGENT },
      steps: [{ type: 'tool', name: HOSTILE.markup, input_schema: input }],
      evaluators: [
        {
          name: HOSTILE.markup,
          description: HOSTILE.quotes,
          config_schema: {
            properties: { [HOSTILE.markup]: { type: 'string', description: HOSTILE.quotes } },
          },
        },
      ],
    });
    hostileId = Number(
      (await call('PUT', '/controls', { name: 'hostile-template', data: HOSTILE_CONTROL })).control_id,
    );
  });

  const textbox = (page: Page, name: string | RegExp) => page.getByRole('textbox', { name });

  it('finds an evaluator and tries it as one types', async () => {
    await open('/evaluators', async ({ page }) => {
      await page.getByLabel('Name or description contains').fill('regular expression');
      await expect.poll(() => page.getByRole('row').count()).toBe(2);
      await page.getByRole('link', { name: 'regex', exact: true }).click();
      await page.getByText('The step matches').waitFor();
      await page
        .getByLabel('Step, as JSON')
        .fill('{"type": "tool", "name": "a", "input": {"text": "card 4111"}}');
      await page.getByText('The step does not match').waitFor();

      const pattern = textbox(page, /^pattern/);
      await pattern.fill('(4');
      await expect.poll(() => pattern.getAttribute('aria-invalid')).toBe('true');
      const problemId = ((await pattern.getAttribute('aria-describedby')) ?? '').split(' ').at(-1) ?? '';
      expect(await page.locator(`[id="${problemId}"]`).textContent()).toMatch(/missing|parenthes|invalid/i);
      await pattern.fill('4');
      await page.getByText('The step matches').waitFor();
      expect(await pattern.getAttribute('aria-invalid')).toBe('false');

      const selector = page.getByRole('combobox', { name: 'Selector' });
      await selector.fill('output');
      await page.getByText('The step does not match').waitFor();
      await selector.fill('input.t');
      await page.getByRole('option', { name: 'input.to' }).waitFor();
      await selector.press('ArrowDown');
      await selector.press('Enter');
      expect(await selector.inputValue()).toBe('input.text');
      expect(await page.getByRole('listbox').isVisible()).toBe(false);
      await page.getByText('The step matches').waitFor();
    });
  });

  it('edits lists, numbers and maps of a configuration without losing the focus or what is unknown', async () => {
    await open('/evaluators/list', async ({ page }) => {
      await page.getByText('The step matches').waitFor();
      await textbox(page, 'values 2').press('Enter');
      await page.keyboard.type('third');
      await page.getByRole('button', { name: 'Move values 3 up' }).click();
      expect(await textbox(page, 'values 2').inputValue()).toBe('third');
      await page.getByRole('button', { name: 'As lines' }).click();
      await textbox(page, 'values, one a line').fill('a\n\nb\nann@corp.example');
      await page.getByRole('button', { name: 'As lines' }).click();
      expect(await textbox(page, 'values 3').inputValue()).toBe('ann@corp.example');
      await page.getByText('found "ann@corp.example"').waitFor();
      await page.getByRole('button', { name: 'Remove values 3' }).click();
      await page.getByText('The step does not match').waitFor();

      await page.goto(address('/evaluators/sql'));
      const limit = textbox(page, 'max_limit');
      await limit.pressSequentially('-');
      // In the page's own words, until the service has checked it too.
      await page
        .getByText(/This is not a number\.|must be an integer; not "-"/)
        .first()
        .waitFor();
      await limit.pressSequentially('1.');
      expect(await limit.inputValue()).toBe('-1.');
      await limit.pressSequentially('0');
      // By the page at once, then by the service in its own words.
      await page
        .getByText(/This must be more than 0\.|must be greater than 0/)
        .first()
        .waitFor();
      await limit.fill('20');
      await page.getByText('The step matches').waitFor();
      await page.getByRole('button', { name: 'Set required_column_values' }).click();
      await textbox(page, 'New name in required_column_values').fill('tenant');
      await page.keyboard.press('Enter');
      const column = textbox(page, 'Name of tenant in required_column_values');
      await column.press('End');
      await column.pressSequentially('_id');
      await textbox(page, 'tenant_id').last().fill('tenant');
      await page.getByRole('button', { name: 'As JSON' }).click();
      const json = textbox(page, /^Configuration of sql/);
      expect(JSON.parse(await json.inputValue())).toMatchObject({
        max_limit: 20,
        required_column_values: { tenant_id: 'tenant' },
      });
      await json.fill('{"of_a_later_version": [1, {"a": null}], "max_joins": 1}');
      await page.getByRole('button', { name: 'As JSON' }).click();
      await textbox(page, 'max_joins').fill('2');
      await page.getByRole('button', { name: 'As JSON' }).click();
      expect(JSON.parse(await json.inputValue())).toEqual({
        of_a_later_version: [1, { a: null }],
        max_joins: 2,
      });
    });
  });

  it('saves a draft of a template, shows problems at parameters, previews and finishes it', async () => {
    await open('/templates/new', async ({ page }) => {
      await page.getByRole('link', { name: 'Steer by a pattern' }).click();
      const name = textbox(page, 'Name of the control');
      await name.fill('steer-refunds');
      await textbox(page, /^Guidance/).fill('Ask a person first.');
      await page.getByText('The definition appears when these have a value: Pattern.').waitFor();
      await page.getByRole('link', { name: 'Controls', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Keep editing' }).click();
      // Another tab can go on with it.
      const again = await page.context().newPage();
      await again.goto(address('/templates/new?example=deny-words'));
      await again.getByRole('dialog').getByText('New control steer-refunds from a template').waitFor();
      await again.getByRole('button', { name: 'Continue' }).click();
      await expect.poll(() => textbox(again, /^Guidance/).inputValue()).toBe('Ask a person first.');
      await again.close();
      await page.getByRole('button', { name: 'Save as draft' }).click();
      await page.getByText('Draft.', { exact: true }).waitFor();
      const id = Number(/controls\/(\d+)\/template/.exec(page.url())?.[1]);
      const draft = await call('GET', `/controls/${id}`);
      expect(draft).toMatchObject({
        data: { enabled: false, template_values: { guidance: 'Ask a person first.' } },
      });
      expect(draft).not.toHaveProperty('data.condition');

      const pattern = textbox(page, /^Pattern/);
      await pattern.fill('refund(');
      await expect.poll(() => pattern.getAttribute('aria-invalid')).toBe('true');
      await page.getByText('A value is not accepted').waitFor();
      await pattern.fill('refund');
      const preview = page.getByRole('region', { name: 'Preview' });
      await preview.getByText('Ask a person first.').waitFor();
      await preview.getByText('steer').first().waitFor();
      await page.getByRole('button', { name: 'Save and switch on' }).click();
      await page.getByText('Saved as version 3.').waitFor();
      expect(await call('GET', `/controls/${id}`)).toMatchObject({
        data: { enabled: true, template_values: { pattern: 'refund', guidance: 'Ask a person first.' } },
      });

      const { template } = (await call('GET', `/controls/${id}/data`)).data as { template: unknown };
      await pattern.fill('mine');
      await call('PUT', `/controls/${id}/data`, {
        data: { template, template_values: { pattern: 'theirs', guidance: 'G' } },
      });
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Take their version' }).click();
      await expect.poll(() => pattern.inputValue()).toBe('theirs');
      await page.goto(address('/templates'));
      await page.getByRole('row').filter({ hasText: 'steer-refunds' }).getByText('filled in').waitFor();
    });
  });

  it('writes a template of its own, whose form follows its text', async () => {
    await open('/templates/new?example=blank', async ({ page }) => {
      const template = {
        parameters: {
          strict: { type: 'boolean', label: 'Case matters' },
          mode: { type: 'enum', label: 'Mode', allowed_values: ['exact', 'contains'], default: 'exact' },
        },
        definition_template: {
          execution: 'server',
          condition: {
            selector: { path: 'input.text' },
            evaluator: {
              name: 'list',
              config: { values: ['a'], case_sensitive: { $param: 'strict' }, match_mode: { $param: 'mode' } },
            },
          },
          action: { decision: 'deny' },
        },
      };
      const editor = textbox(page, 'Template as JSON');
      await editor.press('Control+A');
      await page.keyboard.insertText('{"parameters": ');
      await page.getByText('The form and the preview stay as they were.').waitFor();
      await editor.press('Control+A');
      await page.keyboard.insertText(JSON.stringify(template));
      await page.getByLabel(/^Case matters/).selectOption('yes');
      await page.getByRole('region', { name: 'Preview' }).getByText('deny').first().waitFor();
      await textbox(page, 'Name of the control').fill('hostile-template');
      await page.getByRole('button', { name: 'Create control' }).click();
      await page.getByText('Another control has this name.').waitFor();
      await textbox(page, 'Name of the control').fill('own-template');
      await page.getByRole('button', { name: 'Create control' }).click();
      await page.getByText('Created.', { exact: true }).waitFor();
    });
  });

  it('makes steps up from registered schemas, and suggests what agents and controls have', async () => {
    const parameters = new URLSearchParams({ agent: SCHEMA_AGENT, type: 'tool', name: HOSTILE.markup });
    await open(`/playground?${parameters}`, async ({ page }) => {
      const step = page.getByLabel('Step, as JSON');
      const made = { type: 'tool', name: HOSTILE.markup, input: { text: 'text', to: 'text' } };
      await expect.poll(async () => JSON.parse(await step.inputValue())).toEqual(made);
      await page.getByText('made up from the registered schema').waitFor();
      await step.fill('{"type": "tool", "name": "kept", "input": {}}');
      await page.getByText('kept as a draft').waitFor();
      await page.goto(address('/playground'));
      await page.getByRole('region', { name: 'Draft' }).getByRole('button', { name: 'Continue' }).click();
      expect(await step.inputValue()).toContain('kept');

      await page.goto(address(`/controls/new?agent=${SCHEMA_AGENT}`));
      await page.getByText('Problems are listed here as you write.').waitFor();
      const types = page.getByRole('group', { name: 'Suggestions for step types' });
      await types.getByRole('button', { name: 'tool' }).click();
      const names = page.getByLabel('Step names, one a line');
      await names.fill('IMG');
      await page
        .getByRole('group', { name: 'Suggestions for step names' })
        .getByRole('button')
        .first()
        .click();
      expect(await names.inputValue()).toBe(HOSTILE.markup);
      await page.getByRole('group', { name: 'Suggestions for tags' }).getByRole('button').first().click();
      expect(await page.getByLabel('Tags, one a line').inputValue()).not.toBe('');
      await page.getByLabel('Start from a step of the agent').selectOption({ index: 1 });
      expect(JSON.parse(await step.inputValue())).toEqual(made);
      await page.getByRole('link', { name: 'All controls' }).click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Discard/ })
        .click();
    });
  });

  it.each(EXAMPLE_TEMPLATES)('offers a template that the server renders: $id', async ({ template }) => {
    const parameters = Object.entries(template.parameters as Record<string, { placeholder?: unknown }>);
    const given = parameters.filter(([, { placeholder }]) => placeholder !== undefined);
    const values = Object.fromEntries(given.map(([name, { placeholder }]) => [name, placeholder]));
    const answer = await call('POST', '/control-templates/render', { template, template_values: values });
    const warnings = (answer.warnings ?? []) as { code: string }[];
    // No agent of this test has the step that is the example of a name.
    expect(warnings.filter(({ code }) => code !== 'unregistered_step_name')).toEqual([]);
  });

  it('shows hostile texts as text', async () => {
    await open(`/controls/${hostileId}/template`, async ({ page }) => {
      await page.getByText(HOSTILE.quotes).first().waitFor();
      expect(await textbox(page, 'words 1').inputValue()).toBe(HOSTILE.markup);
      await page.getByText('for example').waitFor({ state: 'detached' });
      await page.goto(address(`/agents/${SCHEMA_AGENT}?tab=evaluators`));
      await page.getByRole('link', { name: HOSTILE.markup }).click();
      await page.getByRole('heading', { level: 1, name: HOSTILE.markup }).waitFor();
      await page.getByRole('cell', { name: HOSTILE.quotes }).waitFor();
      await page.getByRole('tab', { name: 'JSON Schema' }).click();
      await page.getByRole('textbox', { name: 'JSON Schema of the configuration' }).waitFor();
      expect(await page.locator('img').count()).toBe(0);
    });
  });

  it('offers a regular key values and previews, and nothing that writes', async () => {
    await open(
      `/controls/${hostileId}/template`,
      async ({ page }) => {
        await page.getByText('Storing them needs the scope controls.write.').waitFor();
        await page.getByRole('region', { name: 'Preview' }).getByText('observe').first().waitFor();
        expect(await page.getByRole('button', { name: /Save|Create/ }).count()).toBe(0);
        await page.goto(address('/templates'));
        await page.getByRole('link', { name: 'hostile-template' }).waitFor();
        expect(await page.getByRole('link', { name: /New/ }).count()).toBe(0);
        await page.goto(address('/templates/new'));
        await page.getByText('This key cannot write controls').waitFor();
        await page.goto(address('/evaluators/regex'));
        await page.getByRole('cell', { name: 'pattern', exact: true }).waitFor();
        expect(await page.getByRole('tab', { name: 'Try it' }).count()).toBe(0);
      },
      { key: REGULAR_KEY },
    );
  });

  const pages = () => [
    '/evaluators',
    '/evaluators/json',
    '/evaluators/sql?tab=configuration',
    '/templates',
    '/templates/new?example=blank',
    `/controls/${hostileId}/template`,
  ];
  it('fits into 360 pixels without a barrier that axe finds in either theme', async () => {
    await open(
      '/evaluators',
      async ({ page }) => {
        for (const path of pages()) {
          await page.goto(address(path));
          await settled(page);
          expect([path, await axeViolationsInThemes(page)]).toEqual([path, []]);
          expect([path, await overflow(page)]).toEqual([path, 0]);
        }
      },
      { width: 360 },
    );
  });
});
