// @vitest-environment happy-dom
import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlTemplateSchema, Decision, Execution } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { TemplateService } from '@gen/enforcement/v1/template_service_pb.js';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { draftsOfCaller } from '../src/data/drafts/draft-keeper.js';
import { signedInAs } from './support/callers.js';
import { type ControlStore, controlStore, type Definition } from './support/control-store.js';
import { fill, writeCode } from './support/fields.js';
import { hasFleet } from './support/fleet-backend.js';
import { HOSTILE } from './support/hostile.js';
import { hasEvaluators } from './support/recorded-evaluators.js';
import { refusalOf } from './support/refusals.js';
import { type Backend, openDialog, renderPage, settled } from './support/render-page.js';

const AGENT = 'schema-agent-01';
const HOSTILE_TEMPLATE: JsonObject = {
  description: HOSTILE.markup,
  parameters: { words: { type: 'string_list', label: HOSTILE.quotes, description: HOSTILE.markup } },
  definition_template: { description: HOSTILE.rightToLeft },
};
/** What an evaluator says of a part of a step: as far as the tests type it. */
function explained(name: string, config: JsonObject, part: unknown) {
  const leaf = { type: 'leaf', evaluated: true, evaluatorName: name };
  if (name === 'regex') {
    const pattern = String(config.pattern);
    if (pattern.includes('(')) throw refusalOf('data.condition.evaluator.pattern', 'missing closing )');
    return { ...leaf, matched: typeof part === 'string' && new RegExp(pattern).test(part) };
  }
  if (name !== 'list') return { ...leaf, matched: true };
  const isInPart = (value: string) => (part as string[]).some((one) => one.endsWith(value));
  const found = (config.values as string[]).find(isInPart);
  return { ...leaf, matched: found !== undefined, message: `found "${found}"` };
}

/** A service that tries evaluators, of which an agent has one of its own. */
const triesEvaluators: Backend = (router) => {
  const { rpc } = router;
  rpc(EvaluationService.method.explain, ({ data, stepJson }) => {
    const { selector, evaluator } = data?.condition ?? {};
    const step = JSON.parse(new TextDecoder().decode(stepJson)) as JsonObject;
    const names = selector?.path?.split('.') ?? [];
    const part = names.reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], step);
    const condition = explained(evaluator?.name ?? '', evaluator?.config ?? {}, part);
    return { controls: [{ controlName: 'data', applies: true, condition }] };
  });
  const text = { type: 'string' };
  const inputSchema = { type: 'object', properties: { text, to: text } };
  const configSchema = { properties: { [HOSTILE.markup]: { ...text, description: HOSTILE.quotes } } };
  const evaluator = { name: HOSTILE.markup, description: HOSTILE.quotes, configSchema };
  rpc(AgentService.method.listAgents, () => ({
    agents: [{ agentName: AGENT, stepCount: 1 }],
    pagination: { total: 1 },
  }));
  rpc(AgentService.method.getAgent, () => ({
    agent: { agentName: AGENT },
    steps: [{ type: 'tool', name: HOSTILE.markup, inputSchema }],
    evaluators: [evaluator],
  }));
  rpc(AgentService.method.getAgentEvaluator, () => evaluator);
  hasEvaluators(router);
  hasFleet(router);
};

/** What a template gives: as far as the tests fill it in. Without a pattern, it is a draft. */
function rendered({ template, templateValues = {} }: Definition): Definition {
  const { pattern = '', guidance = '' } = templateValues;
  if (String(pattern).endsWith('(')) throw refusalOf('template_values.pattern', 'missing closing )');
  const steer = { decision: Decision.STEER, steeringContext: { message: String(guidance) } };
  const whole = {
    execution: Execution.SERVER,
    condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern } } },
    action: guidance === '' ? { decision: Decision.DENY } : steer,
    tags: [HOSTILE.quotes],
  };
  const isDraft = guidance !== '' && pattern === '';
  const given = { templateValues, ...(template === undefined ? {} : { template }) };
  return { ...given, ...(isDraft ? { enabled: false } : whole) };
}

/** A service with a control that is made from a template of hostile texts. It renders templates. */
function storesTemplates(): ControlStore {
  const store = controlStore(rendered);
  const template = fromJson(ControlTemplateSchema, HOSTILE_TEMPLATE);
  store.add('hostile-template', { template, templateValues: { words: [HOSTILE.markup] } });
  return {
    ...store,
    backend(router) {
      router.rpc(TemplateService.method.renderTemplate, ({ templateValues = {} }) => ({
        control: rendered({ templateValues }),
      }));
      store.backend(router);
      triesEvaluators(router);
    },
  };
}

const textbox = (name: string | RegExp) => screen.findByRole<HTMLInputElement>('textbox', { name });
const preview = () => within(screen.getByRole('region', { name: 'Preview' }));
const images = () => document.querySelectorAll('img, script');

describe('evaluators in the dashboard', () => {
  it('are found, and tried as one types', async () => {
    const { user } = renderPage('/evaluators', triesEvaluators);
    await user.type(await screen.findByLabelText('Name or description contains'), 'regular expression');
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(2));
    await user.click(screen.getByRole('link', { name: 'regex' }));
    await screen.findByText('The step matches');
    const step = JSON.stringify({ type: 'tool', name: 'a', input: { text: 'card 4111' } });
    await fill(user, screen.getByLabelText('Step, as JSON'), step);
    await screen.findByText('The step does not match');

    const pattern = await textbox(/^pattern/);
    await fill(user, pattern, '(4');
    await waitFor(() => expect(pattern.getAttribute('aria-invalid')).toBe('true'));
    const problem = pattern.getAttribute('aria-describedby')?.split(' ').at(-1) ?? '';
    expect(document.getElementById(problem)?.textContent).toBe('missing closing )');
    await fill(user, pattern, '4');
    await screen.findByText('The step matches');
    expect(pattern.getAttribute('aria-invalid')).toBe('false');

    const selector = screen.getByRole('combobox', { name: 'Selector' });
    await fill(user, selector, 'output');
    await screen.findByText('The step does not match');
    await fill(user, selector, 'input.t');
    await screen.findByRole('option', { name: /^input\.to/ });
    await user.keyboard('{ArrowDown}{Enter}');
    expect(selector).toHaveProperty('value', 'input.text');
    expect(screen.queryByRole('listbox')).toBeNull();
    await screen.findByText('The step matches');
  });

  it('have forms for lists, which keep the focus', async () => {
    const { user } = renderPage('/evaluators/list', triesEvaluators);
    await screen.findByText('The step matches');
    await user.type(await textbox('values 2'), '{Enter}');
    await user.keyboard('third');
    await user.click(screen.getByRole('button', { name: 'Move values 3 up' }));
    expect((await textbox('values 2')).value).toBe('third');
    await user.click(screen.getByRole('button', { name: 'As lines' }));
    await fill(user, await textbox('values, one a line'), 'a\n\nb\nann@corp.example');
    await user.click(screen.getByRole('button', { name: 'As lines' }));
    expect((await textbox('values 3')).value).toBe('ann@corp.example');
    await screen.findByText('found "ann@corp.example"');
    await user.click(screen.getByRole('button', { name: 'Remove values 3' }));
    await screen.findByText('The step does not match');
  });

  it('have forms for numbers and maps, which lose nothing that is unknown', async () => {
    const { user } = renderPage('/evaluators/sql', triesEvaluators);
    const limit = await textbox('max_limit');
    await user.type(limit, '-');
    await screen.findByText('This is not a number.');
    await user.type(limit, '1.');
    expect(limit.value).toBe('-1.');
    await user.type(limit, '0');
    await screen.findByText(/^This must be (more than 0|at least 1)\.$/);
    await fill(user, limit, '20');
    await screen.findByText('The step matches');
    await user.click(screen.getByRole('button', { name: 'Set required_column_values' }));
    await user.type(await textbox('New name in required_column_values'), 'tenant{Enter}');
    await user.type(await textbox('Name of tenant in required_column_values'), '_id');
    await fill(user, await textbox('tenant_id'), 'tenant');
    const asJson = () => user.click(screen.getByRole('button', { name: 'As JSON' }));
    await asJson();
    const json = async () => JSON.parse((await textbox(/^Configuration of sql/)).value);
    expect(await json()).toMatchObject({ max_limit: 20, required_column_values: { tenant_id: 'tenant' } });
    const later = { of_a_later_version: [1, { a: null }] };
    await fill(user, await textbox(/^Configuration of sql/), JSON.stringify({ ...later, max_joins: 1 }));
    await asJson();
    await fill(user, await textbox('max_joins'), '2');
    await asJson();
    expect(await json()).toEqual({ ...later, max_joins: 2 });
  });

  it('of an agent are shown with hostile texts as text', async () => {
    const { user } = renderPage(`/agents/${AGENT}?tab=evaluators`, triesEvaluators);
    await user.click(await screen.findByRole('link', { name: HOSTILE.markup }));
    await screen.findByRole('heading', { level: 1, name: HOSTILE.markup });
    await screen.findByRole('cell', { name: HOSTILE.quotes });
    await user.click(screen.getByRole('tab', { name: 'JSON Schema' }));
    await textbox('JSON Schema of the configuration');
    expect(images()).toHaveLength(0);
  });
});

describe('templates in the dashboard', () => {
  it('are kept as a draft, saved with a value missing, filled in over a problem, and switched on', async () => {
    const { backend, write } = storesTemplates();
    const writer = { name: 'writer of a template', role: 'admin' };
    const show = (path: string) =>
      renderPage(path, (router) => {
        signedInAs(writer)(router);
        backend(router);
      });
    const first = show('/templates/new');
    await first.user.click(await screen.findByRole('link', { name: 'Steer by a pattern' }));
    await fill(first.user, await textbox('Name of the control'), 'steer-refunds');
    await fill(first.user, await textbox(/^Guidance/), 'Ask a person first.');
    await waitFor(() =>
      expect(preview().getByText(/^The definition appears/).textContent).toMatch(/ have a value: Pattern\.$/),
    );
    await first.user.click(screen.getByRole('link', { name: 'Controls' }));
    await first.user.click(within(await openDialog()).getByRole('button', { name: 'Keep editing' }));
    const drafts = draftsOfCaller(`fingerprint of ${writer.name}`);
    await waitFor(async () => expect(JSON.stringify(await drafts.list())).toContain('Ask a person first.'));
    // The page is gone without a question.
    cleanup();

    const { user, sent } = show('/templates/new?example=deny-words');
    const offer = within(await openDialog());
    offer.getByText('New control steer-refunds from a template');
    await user.click(offer.getByRole('button', { name: 'Continue' }));
    expect((await textbox(/^Guidance/)).value).toBe('Ask a person first.');
    await user.click(screen.getByRole('button', { name: 'Save as draft' }));
    await screen.findByText('Draft.');
    expect(sent(ControlService.method.createControl)).toMatchObject([
      { name: 'steer-refunds', data: { templateValues: { guidance: 'Ask a person first.' } } },
    ]);

    const pattern = await textbox(/^Pattern/);
    await fill(user, pattern, 'refund(');
    await waitFor(() => expect(pattern.getAttribute('aria-invalid')).toBe('true'));
    preview().getByText(/^A value is not accepted/);
    await fill(user, pattern, 'refund');
    await preview().findByText('Ask a person first.');
    preview().getByText('steer');
    await user.click(screen.getByRole('button', { name: 'Save and switch on' }));
    await screen.findByText('Saved as version 3.');
    const templateValues = { pattern: 'refund', guidance: 'Ask a person first.' };
    expect(sent(ControlService.method.setControlData)).toMatchObject([
      { data: { templateValues }, ifVersion: 1n },
    ]);
    expect(sent(ControlService.method.updateControl)).toMatchObject([{ enabled: true, ifVersion: 2n }]);

    await fill(user, pattern, 'mine');
    write(2, { templateValues: { pattern: 'theirs', guidance: 'G' } });
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await user.click(within(await openDialog()).getByRole('button', { name: 'Take their version' }));
    await waitFor(async () => expect((await textbox(/^Pattern/)).value).toBe('theirs'));
    await user.click(screen.getByRole('link', { name: 'Templates' }));
    const row = (await screen.findByRole('link', { name: 'steer-refunds' })).closest('tr') as HTMLElement;
    within(row).getByRole('link', { name: 'filled in' });
  });

  it('can be of one’s own, with a form that follows the text', async () => {
    const { user, address } = renderPage('/templates/new?example=blank', storesTemplates().backend);
    const config = { values: ['a'], case_sensitive: { $param: 'strict' } };
    const template = {
      parameters: { strict: { type: 'boolean', label: 'Case matters' } },
      definition_template: {
        condition: { evaluator: { name: 'list', config } },
        action: { decision: 'deny' },
      },
    };
    writeCode(await textbox('Template as JSON'), '{"parameters": ');
    await screen.findByText(/The form and the preview stay as they were\.$/);
    expect(screen.getByRole('group', { name: /^Words/ })).toBeTruthy();
    writeCode(await textbox('Template as JSON'), JSON.stringify(template));
    await user.selectOptions(await screen.findByLabelText(/^Case matters/), 'yes');
    await preview().findByText('deny');
    await fill(user, await textbox('Name of the control'), 'hostile-template');
    await user.click(screen.getByRole('button', { name: 'Create control' }));
    await screen.findByText('Another control has this name.');
    await fill(user, await textbox('Name of the control'), 'own-template');
    await user.click(screen.getByRole('button', { name: 'Create control' }));
    await screen.findByText('Created.');
    expect(address()).toBe('/controls/2/template');
  });

  it('are shown with hostile texts as text', async () => {
    renderPage('/controls/1/template', storesTemplates().backend);
    expect((await textbox('words 1')).value).toBe(HOSTILE.markup);
    expect(screen.getAllByText(HOSTILE.quotes).length).toBeGreaterThan(0);
    expect(screen.queryByText('for example')).toBeNull();
    expect(images()).toHaveLength(0);
  });

  it('give a regular key values and previews, and nothing that writes or tries an evaluator', async () => {
    const { user } = renderPage('/controls/1/template', storesTemplates().backend, { role: 'regular' });
    await screen.findByText(/Storing them needs the scope controls\.write\.$/);
    await preview().findByText('deny');
    expect(screen.queryByRole('button', { name: /Save|Create/ })).toBeNull();
    await user.click(screen.getByRole('link', { name: 'Templates' }));
    await screen.findByRole('link', { name: 'hostile-template' });
    expect(screen.queryByRole('link', { name: /New/ })).toBeNull();
    await user.click(screen.getByRole('link', { name: 'Evaluators' }));
    await user.click(await screen.findByRole('link', { name: 'regex' }));
    await screen.findByRole('cell', { name: 'pattern' });
    expect(screen.queryByRole('tab', { name: 'Try it' })).toBeNull();
  });

  it('are not begun by a regular key', async () => {
    renderPage('/templates/new', storesTemplates().backend, { role: 'regular' });
    await screen.findByText('This key cannot write controls');
  });
});

describe('registered steps', () => {
  const made = { type: 'tool', name: HOSTILE.markup, input: { text: 'text', to: 'text' } };
  const step = () => screen.findByLabelText<HTMLTextAreaElement>('Step, as JSON');

  it('give the playground a step that is made up, and what is written instead is kept', async () => {
    const parameters = new URLSearchParams({ agent: AGENT, type: 'tool', name: HOSTILE.markup });
    const { user } = renderPage(`/playground?${parameters}`, triesEvaluators);
    await waitFor(async () => expect(JSON.parse((await step()).value)).toEqual(made));
    await screen.findByText(/made up from the registered schema/);
    await fill(user, await step(), '{"type": "tool", "name": "kept", "input": {}}');
    await screen.findByText(/kept as a draft/);
    const menu = within(screen.getByRole('navigation', { name: 'Pages' }));
    await user.click(menu.getByRole('link', { name: 'Agents' }));
    await settled();
    await user.click(menu.getByRole('link', { name: 'Playground' }));
    await user.click(
      within(await screen.findByRole('region', { name: 'Draft' })).getByRole('button', { name: 'Continue' }),
    );
    expect((await step()).value).toContain('kept');
  });

  it('are suggested in the editor, as are the tags of other controls', async () => {
    const { user } = renderPage(`/controls/new?agent=${AGENT}`, storesTemplates().backend);
    await screen.findByText(/^Problems are listed here as you write\./);
    const suggested = async (what: string) =>
      within(await screen.findByRole('group', { name: `Suggestions for ${what}` })).getAllByRole(
        'button',
      )[0] as HTMLElement;
    const written = (label: string) => screen.getByLabelText<HTMLTextAreaElement>(label).value;
    await user.click(await suggested('step types'));
    expect(written('Step types, one a line')).toBe('tool');
    await fill(user, screen.getByLabelText('Step names, one a line'), 'IMG');
    await user.click(await suggested('step names'));
    expect(written('Step names, one a line')).toBe(HOSTILE.markup);
    await user.click(await suggested('tags'));
    expect(written('Tags, one a line')).toBe(HOSTILE.quotes);
    const registered = await screen.findByLabelText('Start from a step of the agent');
    await user.selectOptions(registered, screen.getByRole('option', { name: `tool ${HOSTILE.markup}` }));
    expect(JSON.parse((await step()).value)).toEqual(made);
  });
});
