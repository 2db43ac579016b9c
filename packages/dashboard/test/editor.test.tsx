// @vitest-environment happy-dom

import { create } from '@bufbuild/protobuf';
import { EditorView } from '@codemirror/view';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ConfigurationService } from '@gen/enforcement/v1/configuration_service_pb.js';
import { ControlDefinitionSchema, Decision, Execution, Stage } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { definitionValue } from '../src/control-parts/definition-json.js';
import { structureViolations } from './support/accessibility.js';
import { controlStore, type Definition } from './support/control-store.js';
import { fill, writeCode } from './support/fields.js';
import { AGENT, hasFleet } from './support/fleet-backend.js';
import { giveHeights } from './support/heights.js';
import { hasEvaluators } from './support/recorded-evaluators.js';
import { type Backend, noDialog, openDialog, renderPage, settled } from './support/render-page.js';

const leaf = (path: string, name: string, config: NonNullable<object>) => ({
  selector: { path },
  evaluator: { name, config },
});
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
        { not: leaf('*', 'json', { json_schema: { type: ['object', 'null'], enum: [null, {}] } }) },
      ],
    },
  },
  action: {
    decision: Decision.STEER,
    steeringContext: { message: 'Ask first', requiredActions: ['ask', 'wait'] },
    metadata: { ticket: 'T-1', list: [1, [2, { deep: true }]] },
  },
  tags: ['pci', 'שלום'],
} as Definition;
const WATCHES = {
  execution: Execution.SERVER,
  condition: leaf('input.text', 'regex', { pattern: 'refund' }),
  action: { decision: Decision.OBSERVE },
} as Definition;
const value = (definition: Definition) => definitionValue(create(ControlDefinitionSchema, definition));

/** A service with one control, which an agent has; `extra` answers before it does. */
function withControl(name: string, definition: Definition, extra: Backend = () => undefined) {
  const store = controlStore();
  store.direct.add(store.add(name, definition));
  const backend: Backend = (router) => {
    extra(router);
    router.rpc(ConfigurationService.method.lintConfiguration, () => ({}));
    router.rpc(EvaluationService.method.explain, () => ({ controls: [{ applies: true }] }));
    store.backend(router);
    hasEvaluators(router);
    hasFleet(router);
  };
  return { ...store, backend };
}

const item = (name: RegExp) => screen.findByRole('treeitem', { name });
const press = (name: string | RegExp) => screen.findByRole('button', { name });
const heading = (name: string) => screen.findByRole('heading', { level: 1, name });
const dialog = async () => within(await openDialog());
const { setControlData, createControl } = ControlService.method;

describe('the editor of a control', () => {
  it('keeps its tree and its text in step, and undoes', async () => {
    giveHeights();
    const { user } = renderPage('/controls/1/edit?view=json', withControl('watch-refunds', WATCHES).backend);
    const json = await screen.findByRole('textbox', { name: 'Definition as JSON' });
    const read = () => EditorView.findFromDOM(json)?.state.doc.toString().replaceAll(/\s/g, '') ?? '';
    const tree = screen.getByRole('tree', { name: 'Condition tree' });
    await user.click(await item(/regex on input\.text · refund/));
    tree.focus();
    await user.keyboard('a');
    await screen.findByRole('menu', { name: 'Add' });
    await user.keyboard('{Escape}');
    expect(document.activeElement).toBe(tree);
    await user.keyboard('a');
    await user.click(await screen.findByRole('menuitem', { name: /^NOT/ }));
    expect(read()).toContain('"not":{"selector":{"path":"*"}');
    await user.click(await press('Undo'));
    expect(read()).not.toContain('"not"');

    writeCode(json, '{"condition": {"or": [');
    await screen.findByText(/The tree stays as it was/);
    await item(/regex on input\.text · refund/);
    const definition = (...conditions: unknown[]) =>
      JSON.stringify({
        condition: { or: conditions },
        execution: 'server',
        action: { decision: 'observe' },
        scop: {},
      });
    const list = leaf('input.text', 'list', { values: ['money'] });
    writeCode(json, definition(list).replace('"money"', '12345678901234567890'));
    await screen.findByText(/too many digits to be kept/);
    writeCode(json, definition(list, leaf('name', 'regex', { pattern: 'mail' })));
    await user.click(await item(/list on input\.text · \["money"\]/));
    await press('scop');
    tree.focus();
    await user.keyboard('{Alt>}{ArrowDown}{/Alt}');
    await waitFor(() => expect(read()).toMatch(/"regex".*"list"/));
    await user.keyboard('{Alt>}{ArrowUp}{/Alt}');
    await waitFor(() => expect(read()).toMatch(/"list".*"regex"/));
    expect(await structureViolations()).toEqual([]);
  });

  it('tells at each node what a step does there, as one types', async () => {
    giveHeights();
    const conditions = [
      leaf('input.text', 'list', { values: ['money'] }),
      leaf('name', 'regex', { pattern: 'mail' }),
    ];
    const asked = { ...WATCHES, condition: { or: { conditions } } } as Definition;
    const { user, sent } = renderPage(
      '/controls/1/edit',
      withControl('watch-money', asked, ({ rpc }) =>
        rpc(EvaluationService.method.explain, ({ stepJson }) => {
          const matched = new TextDecoder().decode(stepJson).includes('money');
          const done = { type: 'leaf', evaluated: true, matched };
          const other = matched ? { type: 'leaf', shortCircuitReason: 'or_matched' } : done;
          const condition = { type: 'or', evaluated: true, matched, children: [done, other] };
          return { controls: [{ applies: true, matched, condition }] };
        }),
      ).backend,
    );
    const tried = within(await screen.findByRole('region', { name: 'Try it' }));
    const step = tried.getByLabelText('Step, as JSON');
    await fill(user, step, '{"type": "tool", "name": "send_mail", "input": {"text": "money"}}');
    await item(/list on input\.text.*true/);
    await item(/regex on name.*skipped.*An earlier condition of OR matched/);
    await fill(user, step, '{"type": "tool", "name": "read", "input": {"text": "-"}}');
    await item(/regex on name.*false/);
    await tried.findByText(/^no match/);
    await fill(user, step, '{"type"');
    await tried.findByText(/^This is not JSON/);
    expect(sent(EvaluationService.method.explain).at(-1)?.data?.condition).toMatchObject(
      asked.condition ?? {},
    );
  });

  it('asks before changes are lost', async () => {
    const { user, address } = renderPage('/controls/1/edit', withControl('watch-refunds', WATCHES).backend);
    await user.type(await screen.findByLabelText('Description'), 'changed');
    const leave = () => user.click(screen.getByRole('link', { name: 'Agents' }));
    await leave();
    (await dialog()).getByText('Leave without saving?');
    await user.click((await dialog()).getByRole('button', { name: 'Keep editing' }));
    await noDialog();
    expect(address()).toBe('/controls/1/edit');
    await leave();
    await user.click((await dialog()).getByRole('button', { name: 'Discard the changes of watch-refunds' }));
    await heading('Agents');
  });

  it('names the rules of lint that say what is probably not meant', async () => {
    const found = [
      ['condition.evaluator.pattern', 'the pattern is found in no text', 'never-true'],
      ['action', 'the agent is told nothing', 'missing-steering-message'],
    ] as const;
    renderPage(
      '/controls/1/edit',
      withControl('never-steers', WATCHES, ({ rpc }) => {
        rpc(ConfigurationService.method.lintConfiguration, () => ({
          findings: found.map(([path, message, rule]) => ({
            rule,
            message,
            path: `data.${path}`,
            field: `data.${path}`,
          })),
        }));
      }).backend,
    );
    const problems = within(await screen.findByRole('region', { name: 'Problems' }));
    await problems.findByText('2 warnings');
    expect(problems.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual(
      found.map(([path, message, rule]) => `${path} ${message} More in docs/lint.md: ${rule}`),
    );
  });

  it('is for keys that may write controls', async () => {
    const { user } = renderPage('/controls/new', withControl('watch-refunds', WATCHES).backend, {
      role: 'regular',
    });
    await screen.findByText('This key cannot write controls');
    await user.click(screen.getByRole('link', { name: 'the controls' }));
    await user.click(await screen.findByRole('link', { name: 'watch-refunds' }));
    await heading('watch-refunds');
    await settled();
    expect(screen.queryByRole('link', { name: /New control|Edit/ })).toBeNull();
  });
});

describe('a control that is saved', () => {
  it('keeps every member that was not edited, in a copy with its warnings, too', async () => {
    const store = withControl('complete', COMPLETE, ({ rpc }) =>
      rpc(createControl, ({ name = '', data = {} }) => ({
        controlId: store.add(name, data),
        version: 1n,
        warnings: [{ field: 'data.scope', message: 'no step has this name' }],
      })),
    );
    const { user, sent, address } = renderPage(`/controls/new?copy=1&agent=${AGENT}`, store.backend);
    await user.click(await press('Create control'));
    // The copy has an address of its own, where the warnings stay until they are dismissed.
    await heading('Edit complete-copy');
    expect(address()).toBe('/controls/2/edit');
    const saved = within(await screen.findByRole('status', { name: 'Saved' }));
    saved.getByText('no step has this name');
    expect(sent(createControl).map(({ name, data }) => [name, data && definitionValue(data)])).toEqual([
      ['complete-copy', value(COMPLETE)],
    ]);
    expect(sent(AgentService.method.addAgentControl)).toMatchObject([{ agentName: AGENT, controlId: 2 }]);
    await user.click(saved.getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByRole('status', { name: 'Saved' })).toBeNull();
    await fill(user, screen.getByLabelText('Description'), 'Edited');
    await user.click(await press('Save'));
    await heading('complete-copy');
    expect(sent(setControlData).map(({ data }) => data && definitionValue(data))).toEqual([
      value({ ...COMPLETE, description: 'Edited' }),
    ]);
  });

  it('asks who wins when another writer was faster', async () => {
    giveHeights();
    const store = withControl('complete', COMPLETE, ({ rpc }) =>
      rpc(ControlService.method.listControlVersions, () => ({
        versions: [
          {
            versionNum: 2,
            eventType: 'data_set',
            keyFingerprint: '0123456789ab',
            changedMembers: ['data.enabled'],
          },
        ],
        pagination: { total: 1 },
      })),
    );
    const { user, sent } = renderPage('/controls/1/edit', store.backend);
    const description = await screen.findByLabelText<HTMLTextAreaElement>('Description');
    await fill(user, description, 'Mine');
    store.write(1, { enabled: true, description: 'Theirs' });
    await user.keyboard('{Control>}s{/Control}');
    const asked = await dialog();
    await asked.findByText('Version 2');
    asked.getByText(/by the key 0123456789ab, changed: data\.enabled/);
    expect(await structureViolations()).toEqual([]);
    await user.click(asked.getByRole('button', { name: 'Take their version' }));
    await waitFor(() => expect(description.value).toBe('Theirs'));
    expect(screen.getByLabelText<HTMLInputElement>(/^On: it takes part/).checked).toBe(true);
    await user.click(await press('Undo'));
    expect(description.value).toBe('Mine');

    store.write(1, { enabled: true });
    await user.keyboard('{Control>}s{/Control}');
    await user.click((await dialog()).getByRole('button', { name: 'Overwrite version 3' }));
    await heading('complete');
    const last = sent(setControlData).at(-1);
    expect([last?.ifVersion, last?.data && definitionValue(last.data)]).toEqual([
      3n,
      value({ ...COMPLETE, description: 'Mine' }),
    ]);
  });

  it('is asked about before it denies, with the agents, and not when it denies no more', async () => {
    const { backend } = withControl('watch-refunds', WATCHES, ({ rpc }) =>
      rpc(ObservabilityService.method.getStatsOverview, () => ({ totals: { matchTotal: 4n } })),
    );
    const { user, sent } = renderPage('/controls/1/edit', backend);
    const decisions = () => sent(setControlData).map(({ data }) => data?.action?.decision);
    await user.click(await screen.findByRole('radio', { name: /^deny/ }));
    await user.keyboard('{Control>}s{/Control}');
    const asked = await dialog();
    asked.getByText(/only records its matches now/);
    expect(asked.getByText(/^It checks the steps of/).textContent).toContain(`1 agent: ${AGENT}`);
    asked.getByText(/^Recorded matches in the last 24 hours/);
    await user.click(asked.getByRole('button', { name: 'Keep editing' }));
    await noDialog();
    expect(decisions()).toEqual([]);
    await user.click(await press('Save'));
    await user.click((await dialog()).getByRole('button', { name: 'Save and deny' }));
    await heading('watch-refunds');
    expect(decisions()).toEqual([Decision.DENY]);
    await user.click(screen.getByRole('link', { name: 'Edit' }));
    await user.click(await screen.findByRole('radio', { name: /^observe/ }));
    await user.keyboard('{Control>}s{/Control}');
    await heading('watch-refunds');
    expect(decisions()).toEqual([Decision.DENY, Decision.OBSERVE]);
  });

  it('is asked about before a new one denies the steps of its agent', async () => {
    const { backend } = withControl('watch-refunds', WATCHES);
    const { user, sent } = renderPage(`/controls/new?copy=1&agent=${AGENT}`, backend);
    await user.click(await screen.findByRole('radio', { name: /^deny/ }));
    await user.click(await press('Create control'));
    const asked = await dialog();
    asked.getByRole('heading', { name: /^Deny with watch-refunds-copy/ });
    expect(asked.getByText(/^It checks the steps of/).textContent).toContain(`1 agent: ${AGENT}`);
    expect(sent(createControl)).toEqual([]);
    await user.click(asked.getByRole('button', { name: 'Save and deny' }));
    await heading('watch-refunds-copy');
    expect(sent(createControl)).toMatchObject([{ data: { action: { decision: Decision.DENY } } }]);
  });

  it('is switched after a question, and not by the second click of a double click on something that is gone', async () => {
    const { user, sent } = renderPage('/controls/1', withControl('watch-refunds', WATCHES).backend);
    const switchOff = await press('Switch off watch-refunds');
    const gone = document.body.appendChild(document.createElement('button'));
    gone.onclick = () => gone.remove();
    const at = { clientX: 5, clientY: 5 };
    await user.pointer([
      { keys: '[MouseLeft]', target: gone, coords: at },
      { keys: '[MouseLeft]', target: switchOff, coords: at },
    ]);
    expect(document.querySelector('dialog[open]')).toBeNull();
    switchOff.focus();
    await user.keyboard('{Enter}');
    (await dialog()).getByText(/the steps of/);
    await user.click((await dialog()).getByRole('button', { name: 'Switch off watch-refunds' }));
    await user.click(await press('Switch on watch-refunds'));
    await (await dialog()).findByText(AGENT);
    await user.click((await dialog()).getByRole('button', { name: 'Switch on watch-refunds' }));
    await press('Switch off watch-refunds');
    expect(sent(ControlService.method.updateControl).map(({ enabled }) => enabled)).toEqual([false, true]);
  });
});
