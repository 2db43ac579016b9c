// @vitest-environment happy-dom
import { AgentOrder, AgentService, StepSchemas } from '@gen/enforcement/v1/agent_service_pb.js';
import { Decision, Stage } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { AppliesTo, ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { ProblemSeverity, ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { hasFleet } from './support/fleet-backend.js';
import { type Backend, noDialog, openDialog, renderPage, type ShownPage } from './support/render-page.js';

const COVERED = 'covered-bot-01';
const UNCOVERED = ['uncovered-bot-1', 'uncovered-bot-2', 'disabled-bot-01'] as const;
const ALL = [COVERED, ...UNCOVERED];
const CONTROLS = [
  { id: 1, name: 'no-cards', control: { enabled: true, action: { decision: Decision.DENY } } },
  { id: 2, name: 'no-refunds', control: { enabled: true, action: { decision: Decision.DENY } } },
  { id: 3, name: 'switched-off', control: { enabled: false, action: { decision: Decision.DENY } } },
];
const INPUT = {
  type: 'object',
  required: ['text'],
  properties: { text: { type: 'string', description: 'Body of the mail' }, cc: { type: 'array' } },
};
/** The only evaluated step was denied, because a control could not be checked. */
const COUNTS = { evaluated: 1n, denied: 1n, deniedByError: 1n };

/** A service with an agent that has controls, and three without any in effect. */
function hasAgents(): Backend {
  const linked = new Map<string, Set<number>>(ALL.map((name) => [name, new Set()]));
  linked.get(COVERED)?.add(1);
  linked.get(UNCOVERED[2])?.add(3);
  const inPolicy = new Set<string>([COVERED]);
  const watchers = new Set<() => void>();
  let stepSchemas = StepSchemas.DEFAULT;
  let everyAgent = false;
  let revision = 7n;
  /** Does it, and tells those who watch. */
  const change = (act: () => unknown) => {
    act();
    for (const tell of watchers) tell();
    return {};
  };
  const idsOf = (name: string) => new Set([...(linked.get(name) ?? []), ...(inPolicy.has(name) ? [1] : [])]);
  const controlsOf = (name: string) => CONTROLS.filter(({ id }) => idsOf(name).has(id));
  const policy = () => ({
    id: 1,
    name: 'mail-policy',
    controlIds: [1],
    agentCount: inPolicy.size,
    everyAgent,
  });
  return (router) => {
    const { rpc } = router;
    rpc(AgentService.method.listAgents, ({ hasActiveControls, labels, orderBy, reverse = false }) => {
      const listed = [...linked.keys()].map((agentName) => ({
        agentName,
        stepCount: 1,
        activeControlsCount: controlsOf(agentName).filter(({ control }) => control.enabled).length,
        policyIds: inPolicy.has(agentName) ? [1] : [],
        labels: { team: agentName === COVERED ? 'finance' : 'other' },
        ...(agentName === COVERED ? { lastEvaluatedAt: new Date().toISOString() } : {}),
      }));
      const agents = listed.filter(
        (one) =>
          (hasActiveControls === undefined || hasActiveControls === one.activeControlsCount > 0) &&
          labels.every((label) => label === `team=${one.labels.team}`),
      );
      if (orderBy === AgentOrder.NAME) agents.sort((a, b) => (a.agentName < b.agentName ? -1 : 1));
      if (reverse) agents.reverse();
      return { agents, pagination: { total: agents.length } };
    });
    rpc(AgentService.method.getAgent, ({ agentName }) => ({
      agent: { agentName },
      steps: [{ type: 'tool', name: 'send_mail', inputSchema: INPUT }],
      linkedControlIds: [...(linked.get(agentName) ?? [])],
      version: 5n,
      lastEvaluatedAt: new Date().toISOString(),
      stepSchemas,
      effectiveStepSchemas: stepSchemas === StepSchemas.DEFAULT ? StepSchemas.WARN : stepSchemas,
      mismatchedSteps:
        stepSchemas === StepSchemas.ENFORCE
          ? [{ type: 'tool', name: 'send_mail', path: 'input.text', problem: 'is required', count: 1n }]
          : [],
    }));
    rpc(AgentService.method.watchControls, async function* ({ agentName }, { signal }) {
      while (!signal.aborted) {
        revision += 1n;
        yield { revision, news: { case: 'full' as const, value: { controls: controlsOf(agentName) } } };
        await new Promise<void>((resolve) => {
          watchers.add(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    });
    rpc(AgentService.method.addAgentControl, ({ agentName, controlId }) =>
      change(() => linked.get(agentName)?.add(controlId)),
    );
    rpc(AgentService.method.removeAgentControl, ({ agentName, controlId }) =>
      change(() => linked.get(agentName)?.delete(controlId)),
    );
    rpc(AgentService.method.updateAgent, (asked) => {
      stepSchemas = asked.stepSchemas;
      const isWeaker = stepSchemas === StepSchemas.OFF;
      return { warnings: isWeaker ? [{ message: 'which is weaker than the setting of the service' }] : [] };
    });
    rpc(AgentService.method.deleteAgent, ({ agentName }) => change(() => linked.delete(agentName)));
    rpc(PolicyService.method.listAgentPolicies, ({ agentName }) =>
      inPolicy.has(agentName) ? { policyIds: [1], policies: [policy()] } : {},
    );
    rpc(PolicyService.method.addAgentPolicy, ({ agentName }) => change(() => inPolicy.add(agentName)));
    rpc(PolicyService.method.removeAgentPolicy, ({ agentName }) => change(() => inPolicy.delete(agentName)));
    rpc(PolicyService.method.addPolicyAgents, ({ agentNames }) => {
      for (const name of agentNames) inPolicy.add(name);
      return { added: agentNames.length };
    });
    rpc(PolicyService.method.removePolicyAgents, ({ agentNames }) => {
      for (const name of agentNames) inPolicy.delete(name);
      return { removed: agentNames.length };
    });
    rpc(PolicyService.method.listPolicies, () => ({ policies: [policy()], pagination: { total: 1 } }));
    rpc(PolicyService.method.getPolicy, () => ({ policy: policy() }));
    rpc(PolicyService.method.updatePolicy, (asked) => {
      everyAgent = asked.everyAgent ?? everyAgent;
      return {};
    });
    rpc(ControlService.method.listControls, ({ name = '' }) => {
      const controls = CONTROLS.filter((one) => one.name.includes(name));
      return { controls: controls.map(({ id, name: of }) => ({ id, name: of })), pagination: { total: 3 } };
    });
    const without = UNCOVERED.map((name) => ({ type: 'agent', id: name, name }));
    const failing = { type: 'control', id: '1', name: 'no-cards', detail: 'VENDOR_API_KEY is not set' };
    const severity = ProblemSeverity.CRITICAL;
    rpc(ServerService.method.listProblems, () => ({
      working: false,
      problems: [
        {
          kind: 'agents_without_controls',
          severity,
          title: '3 agents without',
          count: 3,
          subjects: without,
        },
        {
          kind: 'evaluator_not_configured',
          severity,
          title: 'A key is missing',
          count: 1,
          subjects: [failing],
        },
      ],
    }));
    rpc(ObservabilityService.method.getEvaluationStats, () => ({
      counts: COUNTS,
      agents: [{ agentName: COVERED, counts: COUNTS }],
    }));
    rpc(ObservabilityService.method.queryEvents, ({ hasError }) => ({
      events: [
        {
          controlExecutionId: 'check-1',
          traceId: 'trace-1',
          agentName: COVERED,
          controlId: 1,
          controlName: 'no-cards',
          checkStage: Stage.PRE,
          appliesTo: AppliesTo.TOOL_CALL,
          action: Decision.DENY,
          matched: true,
          ...(hasError === true ? { errorMessage: 'a fixed text' } : {}),
        },
      ],
    }));
    hasFleet(router);
  };
}

const heading = (name: string) => screen.findByRole('heading', { level: 1, name });
const row = async (name: string) => (await screen.findByRole('link', { name })).closest('tr') as HTMLElement;
const part = async (name: string) => within(await screen.findByRole('region', { name }));
const names = () => screen.queryAllByRole('link', { name: /-bot-/ }).map(({ textContent }) => textContent);
/** Presses a button, and the same one in the dialog that says what it does. */
async function confirm({ user }: ShownPage, name: string, told: string | RegExp): Promise<void> {
  await user.click(await screen.findByRole('button', { name }));
  const dialog = await openDialog();
  expect(dialog.textContent).toMatch(told);
  await user.click(within(dialog).getByRole('button', { name }));
  await noDialog();
}

describe('what needs attention', () => {
  it('leads from the verdict to each agent without any control in one click', async () => {
    const { user, address } = renderPage('/', hasAgents());
    const verdict = await part('Verdict');
    await verdict.findByText('Needs attention');
    within(screen.getByRole('banner')).getByRole('link', { name: 'Needs attention' });
    await user.click(verdict.getByRole('link', { name: /^3 agents/ }));
    await heading('Agents');
    for (const name of UNCOVERED) within(await row(name)).getByText('none');
    expect(names()).not.toContain(COVERED);
    await screen.findByText('3 of 3');
    expect(address()).toBe('/agents?controls=none');
    await user.click(screen.getByRole('link', { name: UNCOVERED[2] }));
    await screen.findByText(/^0 on, 1 off/);
  });

  it('names the control by whose error an agent is denied', async () => {
    const { user } = renderPage('/', hasAgents());
    await user.click(await (await part('Verdict')).findByRole('link', { name: 'no-cards' }));
    await screen.findByRole('tab', { name: /^Definition/ });
    await user.click(screen.getByRole('link', { name: 'Agents' }));
    within(await row(COVERED)).getByText('1 by error');
    await user.click(screen.getByRole('link', { name: COVERED }));
    const trouble = await screen.findByRole('alert');
    expect(trouble.textContent).toContain('All 1 of 1 evaluated steps were denied by error');
    await within(trouble).findByText(/VENDOR_API_KEY is not set/);
    expect(within(trouble).getByRole('link', { name: 'no-cards' }).getAttribute('href')).toBe(
      '/ui/controls/1',
    );
  });
});

describe('the page of an agent', () => {
  it('says what it is, what checks it, and what became of its steps', async () => {
    renderPage(`/agents/${COVERED}`, hasAgents());
    await screen.findByText(/for 1 of 1 registered step/);
    expect((await screen.findAllByText('in this minute')).length).toBeGreaterThan(0);
    await (await part('Latest matches')).findByRole('link', { name: /no-cards/ });
    await (await part('Evaluations')).findByRole('link', { name: /^Denied: 1/ });
  });

  it('links and unlinks controls and policies, after saying what that changes', async () => {
    const page = renderPage(`/agents/${COVERED}`, hasAgents());
    const { user, address } = page;
    const cards = await row('no-cards');
    await within(cards).findByText('direct link');
    within(cards).getByRole('link', { name: 'policy mail-policy' });
    await user.type(screen.getByLabelText('Find a control'), 'refund');
    await waitFor(() => expect(screen.getByLabelText('Control to add').textContent).toBe('no-refunds'));
    await user.click(screen.getByRole('button', { name: 'Add' }));
    await within(await row('no-refunds')).findByText('direct link');
    await confirm(page, 'Unlink no-refunds', 'It no longer checks the steps of');
    await waitFor(() => expect(screen.queryByRole('link', { name: 'no-refunds' })).toBeNull());
    await confirm(page, 'Unlink no-cards', /because .* still contains it/);
    await waitFor(() => expect(screen.queryByText('direct link')).toBeNull());

    await user.click(await screen.findByRole('link', { name: 'in the policies' }));
    expect(address()).toBe(`/agents/${COVERED}?tab=policies`);
    await confirm(page, 'Remove mail-policy', 'loses 1 control.');
    await screen.findByText('The agent has no policy');
    await screen.findByRole('option', { name: 'mail-policy' });
    await user.click(screen.getByRole('button', { name: 'Add' }));
    await user.click(await screen.findByRole('link', { name: 'mail-policy' }));
    await heading('mail-policy');

    // A policy for every agent stays with each of them until that ends.
    const isForAll = () => screen.queryByText(/^Every agent has this policy/) !== null;
    await user.click(await screen.findByRole('button', { name: 'More' }));
    await confirm(page, 'Give to every agent mail-policy', 'All agents will have it at once');
    await waitFor(() => expect(isForAll()).toBe(true));
    await user.click(screen.getByRole('button', { name: 'More' }));
    await confirm(page, 'End for every agent mail-policy', 'registered from now on will not have it');
    await waitFor(() => expect(isForAll()).toBe(false));
  });

  it('shows the schemas of steps, and deletes the agent after saying what goes with it', async () => {
    const page = renderPage(`/agents/${UNCOVERED[2]}?tab=steps`, hasAgents());
    await page.user.click(await screen.findByText('input: 2 members'));
    expect(screen.getByText('Body of the mail').closest('details')?.open).toBe(true);
    await page.user.click(screen.getByRole('button', { name: 'More' }));
    await confirm(page, `Delete ${UNCOVERED[2]}`, 'with 1 direct link to controls and 0 policies');
    await heading('Agents');
    await row(COVERED);
    expect(names()).not.toContain(UNCOVERED[2]);
    expect(page.sent(AgentService.method.deleteAgent)).toMatchObject([
      { agentName: UNCOVERED[2], ifVersion: 5n },
    ]);
  });

  it('sets how steps are compared with their schemas, and shows those that differed', async () => {
    const { user, sent } = renderPage(`/agents/${UNCOVERED[0]}?tab=steps`, hasAgents());
    const choose = async (option: string) =>
      user.selectOptions(await screen.findByLabelText('Comparison with schemas'), option);
    await screen.findByText(/are reported, and decided by the controls alone/);
    await choose('enforce');
    await screen.findByText('Steps that differ from these schemas are denied.');
    await screen.findByRole('cell', { name: 'input.text is required' });
    await choose('off');
    await screen.findByText(/which is weaker than the setting of the service/);
    await choose('as the service is set');
    await screen.findByText(/are reported, and decided by the controls alone/);
    const { OFF, ENFORCE, DEFAULT } = StepSchemas;
    expect(sent(AgentService.method.updateAgent).map((asked) => asked.stepSchemas)).toEqual([
      ENFORCE,
      OFF,
      DEFAULT,
    ]);
  });

  it.each(['', '?tab=policies', '?tab=activity'])('offers a regular key no change at %j', async (tab) => {
    renderPage(`/agents/${COVERED}${tab}`, hasAgents(), { role: 'regular' });
    await screen.findByText(/for 1 of 1 registered step/);
    expect(screen.queryByRole('button', { name: /^(Add|Unlink|Remove|Delete)/ })).toBeNull();
  });
});

describe('the list of agents', () => {
  it('is sorted by its heads, and filtered by a label', async () => {
    const { user, sent, address } = renderPage('/agents', hasAgents());
    const sortBy = async (head: string) => user.click(await screen.findByRole('button', { name: head }));
    const ascending = ALL.toSorted();
    await sortBy('Agent');
    await waitFor(() => expect(names()).toEqual(ascending));
    await sortBy('Agent');
    await waitFor(() => expect(names()).toEqual(ascending.toReversed()));
    await sortBy('Last evaluated');
    await waitFor(() => expect(names()[0]).toBe(COVERED));
    expect(sent(AgentService.method.listAgents).at(-1)).toMatchObject({ orderBy: AgentOrder.LAST_EVALUATED });
    await user.click(screen.getByRole('link', { name: 'team=finance' }));
    await screen.findByText('1 of 1');
    expect(new URLSearchParams(address().split('?')[1]).get('label')).toBe('team=finance');
  });

  it('gives a policy to all that match, and takes it from those that are selected', async () => {
    const { user, sent } = renderPage('/agents?controls=none', hasAgents());
    const change = async (verb: string, done: string) => {
      await user.click(screen.getByRole('button', { name: new RegExp(`^${verb} .* a policy…`) }));
      const dialog = within(await openDialog());
      await user.selectOptions(await dialog.findByLabelText('Policy'), 'mail-policy');
      await user.click(dialog.getByRole('button', { name: `${verb} 3 agents` }));
      await dialog.findByText(done);
      await user.click(dialog.getByRole('button', { name: 'Close' }));
    };
    await user.click(await screen.findByLabelText('Select all 3 shown agents'));
    await change('Add', '3 agents of 3 added; the others had the policy.');
    await screen.findByText('Every agent is covered');
    await user.click(screen.getByRole('button', { name: 'Remove controls: none' }));
    for (const name of UNCOVERED) await user.click(await screen.findByLabelText(`Select ${name}`));
    await change('Remove', '3 agents of 3 removed; the others did not have the policy.');
    const those = [{ policyId: 1, agentNames: expect.arrayContaining([...UNCOVERED]) }];
    expect(sent(PolicyService.method.addPolicyAgents)).toMatchObject(those);
    expect(sent(PolicyService.method.removePolicyAgents)).toMatchObject(those);
  });
});
