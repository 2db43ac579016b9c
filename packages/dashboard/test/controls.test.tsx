// @vitest-environment happy-dom
import { Decision, Execution } from '@gen/enforcement/v1/control_pb.js';
import { ControlOrder, ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { ProblemSeverity, ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, onTestFinished } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { type ControlStore, controlStore, type Definition } from './support/control-store.js';
import { fill } from './support/fields.js';
import { AGENT, hasFleet } from './support/fleet-backend.js';
import { HOSTILE } from './support/hostile.js';
import { noDialog, openDialog, renderPage, settled } from './support/render-page.js';

/** A definition whose condition has every kind of node. */
function definition(pattern: string, description = HOSTILE.markup): Definition {
  const leaf = (path: string, name: string, config: Record<string, string | string[]>) => ({
    selector: { path },
    evaluator: { name, config },
  });
  const to = leaf('input.to', 'list', { values: [HOSTILE.markup, HOSTILE.rightToLeft] });
  const name = leaf('name', 'list', { values: ['read_mail'], match_mode: 'starts_with' });
  const not = { not: { or: { conditions: [to, name] } } };
  return {
    description,
    execution: Execution.SERVER,
    condition: { and: { conditions: [leaf('input.text', 'regex', { pattern }), not] } },
    action: { decision: Decision.DENY },
    tags: [HOSTILE.quotes],
  };
}

/** A service with controls of these names. */
function withControls(...names: readonly string[]): ControlStore {
  const store = controlStore();
  for (const name of names) store.add(name, definition('version-one'));
  return {
    ...store,
    backend(router) {
      store.backend(router);
      hasFleet(router);
    },
  };
}

const rows = () => screen.getAllByRole('row').slice(1);
const rowOf = async (text: string) =>
  within((await screen.findByRole('link', { name: text })).closest('tr') as HTMLElement);
const dialog = async () => within(await openDialog());
const press = (name: string | RegExp) => screen.findByRole('button', { name });

describe('versions of a control', () => {
  /** A control with three versions, which an agent has. */
  function versioned() {
    const store = withControls('versioned');
    store.write(1, definition('version-two'));
    store.write(1, definition('version-three', HOSTILE.quotes));
    store.direct.add(1);
    return store;
  }

  /** The row about the pattern in the comparison. */
  const changedPattern = async () => {
    const changes = within(await screen.findByRole('region', { name: 'Changed members' }));
    return changes.getByText('condition.and[0].evaluator.config.pattern').closest('tr') as HTMLElement;
  };

  it('are compared, and one is not restored over a change that was not shown', async () => {
    const { backend, write } = versioned();
    const { user, sent, address } = renderPage('/controls/1?tab=versions', backend);
    expect((await screen.findAllByText('by'))[0]?.textContent).toBe('by admin');
    await user.click(screen.getByRole('link', { name: 'Compare version 1 with the current one' }));
    await waitFor(() =>
      expect(document.activeElement?.textContent).toBe('Version 1 compared with version 3'),
    );
    expect(address()).toBe('/controls/1?tab=versions&from=1&to=3');
    const changed = within(await changedPattern());
    changed.getByText('"version-one"');
    changed.getByText('"version-three"');
    expect((await screen.findByLabelText('Version 1')).textContent).toContain('version-one');
    expect(screen.getByLabelText('Version 3').textContent).toContain('version-three');
    expect(document.querySelector('main img')).toBeNull();

    await user.click(screen.getAllByRole('button', { name: 'Restore version 1' })[0] as HTMLElement);
    const asked = await dialog();
    asked.getByText(/used by 0 policies and 1 agent/);
    asked.getByText(/2 members change/);
    write(1, definition('of-another-writer'));
    await user.click(asked.getByRole('button', { name: 'Restore version 1' }));
    await asked.findByRole('alert');
    expect(sent(ControlService.method.restoreControlVersion)).toMatchObject([
      { versionNum: 1, ifVersion: 3n },
    ]);
  });

  it('are restored as a new one, which is compared with the one before', async () => {
    const { user } = renderPage('/controls/1?tab=versions&from=1&to=3', versioned().backend);
    await user.click((await screen.findAllByRole('button', { name: 'Restore version 1' }))[0] as HTMLElement);
    await user.click((await dialog()).getByRole('button', { name: 'Restore version 1' }));
    await screen.findByText('Version 4 is now current and has the content of version 1.');
    await screen.findByRole('heading', { name: 'Version 3 compared with version 4' });
    expect((await changedPattern()).textContent).toMatch(/"version-three".*"version-one"/);
  });

  it('of a deleted control are kept', async () => {
    const store = versioned();
    store.remove(1);
    renderPage('/controls/1', store.backend, { role: 'regular' });
    await screen.findByText(/^This control does not exist\./);
    await screen.findByText('Version 3');
  });
});

describe('the list of controls', () => {
  it('switches several off, says which of them failed and why, adds them to a policy and deletes them', async () => {
    const { backend, remove } = withControls('bulk-one', 'bulk-two', 'bulk-three');
    const { user, sent } = renderPage('/controls?name=bulk-', backend);
    (await screen.findByLabelText('Select all 3 shown controls')).focus();
    await user.keyboard(' ');
    await screen.findByText('3 selected');
    remove(2);
    await user.click(await press('Switch off…'));
    let asked = await dialog();
    await user.click(await asked.findByRole('button', { name: 'Switch off: 3 controls' }));
    await asked.findByText('2 controls of 3 switched off.');
    const failure = () => asked.getByRole('alert').querySelector('li')?.textContent;
    expect(failure()).toMatch(/^bulk-two: Not found/);
    await user.click(asked.getByRole('button', { name: 'Retry failed' }));
    await waitFor(() => expect(sent(ControlService.method.updateControl)).toHaveLength(4));
    await waitFor(() => expect(failure()).toMatch(/^bulk-two: Not found/));
    await user.click(asked.getByRole('button', { name: 'Close' }));
    await waitFor(async () => (await rowOf('bulk-three')).getByText('off'));
    expect(screen.queryByRole('link', { name: 'bulk-two' })).toBeNull();
    const switched = sent(ControlService.method.updateControl).map(({ controlId, enabled }) => [
      controlId,
      enabled,
    ]);
    expect(switched).toEqual(expect.arrayContaining([1, 2, 3].map((id) => [id, false])));

    await user.click(screen.getByLabelText('Select bulk-one'));
    await user.click(screen.getByLabelText('Select bulk-three'));
    await user.click(await press('Add to a policy…'));
    asked = await dialog();
    await user.selectOptions(asked.getByLabelText('Policy'), 'mail-policy');
    await asked.findByText(/the steps of the 1 agent with this policy/);
    await user.click(asked.getByRole('button', { name: 'Add to mail-policy: 2 controls' }));
    await asked.findByText('2 controls of 2 added to mail-policy.');
    await user.click(asked.getByRole('button', { name: 'Close' }));
    const added = sent(PolicyService.method.addPolicyControl).map(({ policyId, controlId }) => [
      policyId,
      controlId,
    ]);
    expect(added.toSorted()).toEqual([
      [1, 1],
      [1, 3],
    ]);

    await user.click(await screen.findByLabelText('Select all 2 shown controls'));
    await user.click(await press('Delete…'));
    asked = await dialog();
    await asked.findByText('Together they are used by 1 policy and 1 agent.');
    await user.click(asked.getByRole('button', { name: 'Delete: 2 controls' }));
    await asked.findByText('2 controls of 2 deleted.');
    await user.click(asked.getByRole('button', { name: 'Close' }));
    await screen.findByText('No control matches the filters');
  });

  const many = () => Array.from({ length: 53 }, (_, index) => `many-${String(index).padStart(2, '0')}`);
  const first = () => rows()[0] as HTMLElement;
  const isFirst = (name: string) => waitFor(() => expect(first().textContent).toContain(name));

  it('is sorted by its heads, and opens a row on click', async () => {
    const opened: string[] = [];
    const { open } = window;
    Object.assign(window, { open: (url: string) => void opened.push(url) });
    onTestFinished(() => void Object.assign(window, { open }));
    const { user, sent, address } = renderPage('/controls?name=many-', withControls(...many()).backend);
    await isFirst('many-52');
    const head = screen.getByRole('columnheader', { name: 'Control' });
    await user.click(within(head).getByRole('button'));
    await isFirst('many-00');
    expect(head.getAttribute('aria-sort')).toBe('ascending');
    within(head).getByRole('button').focus();
    await user.keyboard('{Enter}');
    await isFirst('many-52');
    expect(head.getAttribute('aria-sort')).toBe('descending');
    expect(address()).toBe('/controls?name=many-&sort=-name');
    expect(sent(ControlService.method.listControls).at(-1)).toMatchObject({
      orderBy: ControlOrder.NAME,
      reverse: true,
    });

    // Anywhere in the row, but not in its checkbox or beside it.
    await user.click(first().querySelector('.check-cell') as HTMLElement);
    await screen.findByText('1 selected');
    const steps = within(first()).getByText('every step');
    await user.keyboard('{Control>}');
    await user.click(steps);
    await user.keyboard('{/Control}');
    expect(opened).toEqual([expect.stringMatching(/\/ui\/controls\/53$/)]);
    await user.click(steps);
    await screen.findByRole('heading', { level: 1, name: 'many-52' });
  });

  it('is in the order and has the filters of its address', async () => {
    const path = '/controls?name=many-&enabled=true&used=false&decision=deny&sort=-name';
    const { sent } = renderPage(path, withControls(...many()).backend);
    await isFirst('many-52');
    expect(screen.getByRole('columnheader', { name: 'Control' }).getAttribute('aria-sort')).toBe(
      'descending',
    );
    expect(sent(ControlService.method.listControls).at(-1)).toMatchObject({
      name: 'many-',
      enabled: true,
      hasAgents: false,
      decisions: [Decision.DENY],
      orderBy: ControlOrder.NAME,
      reverse: true,
    });
  });

  it('acts on all that match, also on those that are not shown', async () => {
    const { user, sent } = renderPage('/controls?name=many-', withControls(...many()).backend);
    await user.click(await screen.findByLabelText('Select all 50 shown controls'));
    await user.click(await press('Select all 53 that match'));
    await user.click(screen.getByLabelText('Select many-52'));
    await screen.findByText('52 selected');
    await user.click(await press('Switch off…'));
    const asked = await dialog();
    await asked.findByText('and 42 more');
    await user.click(asked.getByRole('button', { name: 'Switch off: 52 controls' }));
    await asked.findByText('52 controls of 52 switched off.');
    const ids = sent(ControlService.method.updateControl).map(({ controlId }) => controlId);
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 52 }, (_, index) => index + 1));
  });
});

describe('a control', () => {
  it('reads like sentences, is linked and unlinked, and deleted with its effect named', async () => {
    const store = withControls('readable');
    store.write(1, definition('\\b\\d{16}\\b'));
    const { user, sent } = renderPage('/controls', store.backend);
    await fill(user, await screen.findByRole('combobox', { name: 'Filter controls' }), 'readable');
    await user.keyboard('{Enter}');
    await user.click((await rowOf('readable')).getByRole('link', { name: '0 agents' }));
    await screen.findByText('No agent uses this control');
    const add = async (what: string, label: string, option: string) => {
      await user.selectOptions(
        await screen.findByLabelText(label),
        await screen.findByRole('option', { name: option }),
      );
      await user.click(within(screen.getByRole('form', { name: what })).getByRole('button', { name: 'Add' }));
    };
    await add('Add an agent', 'Agent to add', AGENT);
    await screen.findByText('direct link');
    await add('Add a policy', 'Policy to add', 'mail-policy (1 agent)');
    await (await rowOf(AGENT)).findByRole('link', { name: 'policy mail-policy' });
    await user.click(await press(`Unlink ${AGENT}`));
    let asked = await dialog();
    asked.getByText(/still has this control through a policy/);
    await user.click(asked.getByRole('button', { name: `Unlink ${AGENT}` }));
    await waitFor(() => expect(screen.queryByText('direct link')).toBeNull());
    await noDialog();

    await user.click(screen.getByRole('tab', { name: /^Definition/ }));
    const text = (await screen.findByRole('region', { name: 'Definition' })).textContent;
    expect(text).toContain('input.text matches regex \\b\\d{16}\\b');
    expect(text).toContain('NOT this does not hold');
    expect(text).toContain('OR at least one of these holds');
    expect(text).toContain(`input.to is any of ${HOSTILE.markup} ${HOSTILE.rightToLeft}`);
    expect(text).toContain('name starts with read_mail');
    await user.click(screen.getByText('As JSON'));
    expect((await screen.findByLabelText('Definition as JSON')).textContent).toContain('"regex"');
    expect(document.querySelector('main img')).toBeNull();

    await user.click(await press('More'));
    await user.click(await press('Delete readable'));
    asked = await dialog();
    await asked.findByText(/used by 1 policy and 1 agent/);
    await user.click(asked.getByRole('button', { name: 'Delete readable' }));
    await screen.findByRole('heading', { level: 1, name: 'Controls' });
    expect(sent(ControlService.method.deleteControl)).toMatchObject([
      { controlId: 1, force: true, ifVersion: 2n },
    ]);
  });

  it('shows what became of it, and that it fails, why, and what to do', async () => {
    const { backend, direct } = withControls('judged');
    direct.add(1);
    const event = {
      controlExecutionId: 'check-1',
      traceId: 'trace-1',
      agentName: AGENT,
      stepName: HOSTILE.rightToLeft,
    };
    const { user, address } = renderPage('/controls/1', (router) => {
      const { rpc } = router;
      const subjects = [{ type: 'control', id: '1', detail: '1 agent denied by it' }];
      const problem = { kind: 'evaluator_not_configured', severity: ProblemSeverity.WARNING, subjects };
      rpc(ServerService.method.listProblems, () => ({ working: true, problems: [problem] }));
      rpc(ObservabilityService.method.getStatsOverview, () => ({
        totals: { executionTotal: 1n, errorTotal: 1n },
      }));
      rpc(ObservabilityService.method.queryEvents, () => ({
        events: [
          {
            ...event,
            evaluatorName: 'acme.model',
            errorMessage: 'no such evaluator',
            timestamp: '2026-11-01T10:00:00Z',
          },
        ],
      }));
      backend(router);
    });
    const part = async (name: string) => within(await screen.findByRole('region', { name }));
    const told = await part('Problem of this control');
    told.getByText('An evaluator of this control is not configured');
    told.getByText(/1 agent denied by it/);
    const matches = await part('Matches');
    await matches.findByRole('link', { name: '1 error' });
    matches.getByText(/the control fails closed/);
    await matches.findByRole('link', { name: 'What the evaluator acme.model needs' });
    await (await part('Coverage')).findByRole('link', { name: AGENT });
    await (await part('Version')).findByText(/created/);
    expect(screen.queryByText(/%/)).toBeNull();
    expect(await structureViolations()).toEqual([]);

    // A row of the latest matches opens the trace.
    const latest = await part('Latest matches');
    await user.click(within((await latest.findAllByRole('row'))[1] as HTMLElement).getByRole('time'));
    await waitFor(() => expect(address()).toBe('/traces?id=trace-1'));
  });

  it('is listed for a regular key without a choice', async () => {
    renderPage('/controls', withControls('listed').backend, { role: 'regular' });
    await screen.findByRole('link', { name: 'listed' });
    expect(screen.queryByRole('checkbox')).toBeNull();
  });

  it.each(['', '?tab=usage', '?tab=versions&from=1&to=1'])(
    'offers a regular key no change at %j',
    async (tab) => {
      const { backend, direct } = withControls('kept');
      direct.add(1);
      const { user } = renderPage(`/controls/1${tab}`, backend, { role: 'regular' });
      await settled();
      await user.click(await press('More'));
      await screen.findByRole('link', { name: 'Versions' });
      expect(screen.queryByRole('link', { name: /Edit|Duplicate/ })).toBeNull();
      expect(screen.queryByRole('button', { name: /Add|Delete|Unlink|Remove|Restore|Switch/ })).toBeNull();
    },
  );
});
