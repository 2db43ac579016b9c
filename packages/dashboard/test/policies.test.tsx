// @vitest-environment happy-dom
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { fill } from './support/fields.js';
import { hasFleet } from './support/fleet-backend.js';
import { noDialog, openDialog, renderPage } from './support/render-page.js';

/** Agents with the labels of their teams. */
const AGENTS = {
  'finance-bot-01': 'team=finance',
  'finance-bot-02': 'team=finance',
  'finance-bot-03': 'team=finance',
  'support-bot-01': 'team=support',
};

/** Opens the agents of a policy with one control; some agents were added to it. */
function openPolicy(...given: readonly (keyof typeof AGENTS)[]) {
  const added = new Set<string>(given);
  let policy = { id: 1, name: 'mail-policy', controlIds: [2], agentLabels: [] as string[] };
  let isDeleted = false;
  const matching = (labels: readonly string[]) =>
    Object.entries(AGENTS).flatMap(([name, label]) => (labels.includes(label) ? [name] : []));
  const members = () => [
    ...[...added].map((agentName) => ({ agentName })),
    ...matching(policy.agentLabels).map((agentName) => ({ agentName, byLabels: true })),
  ];
  const current = () => ({ ...policy, agentCount: members().length });
  const page = renderPage('/policies/1?tab=agents', (router) => {
    const { rpc } = router;
    const { method } = PolicyService;
    rpc(method.getPolicy, () => ({ policy: current(), version: 1n }));
    rpc(method.listPolicies, () => ({ policies: isDeleted ? [] : [current()], pagination: {} }));
    rpc(method.listPolicyAgents, () => ({ agents: members() }));
    rpc(method.addPolicyAgents, ({ agentNames }) => {
      for (const name of agentNames) added.add(name);
      return {};
    });
    rpc(method.removePolicyAgents, ({ agentNames }) => {
      for (const name of agentNames) added.delete(name);
      return {};
    });
    rpc(method.updatePolicy, ({ name = policy.name, agentLabels }) => {
      policy = { ...policy, name, agentLabels: agentLabels?.labels ?? policy.agentLabels };
      return {};
    });
    rpc(method.deletePolicy, () => {
      isDeleted = true;
      return {};
    });
    rpc(AgentService.method.listAgentLabels, () => ({}));
    rpc(AgentService.method.listAgents, ({ labels, name = '' }) => {
      const found = labels.length > 0 ? matching(labels) : Object.keys(AGENTS);
      const agents = found.filter((one) => one.includes(name)).map((agentName) => ({ agentName }));
      return { agents, pagination: { total: agents.length } };
    });
    hasFleet(router);
  });
  const press = async (name: string) => page.user.click(await screen.findByRole('button', { name }));
  /** Presses a button of the dialog that is open, which says something. */
  const confirm = async (name: string, said: RegExp) => {
    const dialog = within(await openDialog());
    await dialog.findByText(said);
    await page.user.click(await dialog.findByRole('button', { name }));
    await noDialog();
  };
  return { ...page, press, confirm };
}

describe('a policy', () => {
  it('is taken from an agent, renamed and deleted, after saying what that changes', async () => {
    const { user, sent, press, confirm } = openPolicy('support-bot-01');
    await press('Remove support-bot-01');
    await confirm('Remove support-bot-01', /no longer checked by the 1 control/);
    await screen.findByText('No agent has this policy');
    await press('More');
    await press('Rename…');
    await fill(user, within(await openDialog()).getByLabelText('Name'), 'renamed-policy');
    await confirm('Rename', /^Name of the policy$/);
    await screen.findByRole('heading', { level: 1, name: 'renamed-policy' });
    await press('More');
    await press('Delete renamed-policy');
    await confirm('Delete renamed-policy', /0 agents with its 1 control/);
    await screen.findByText('No policies yet');
    expect(sent(PolicyService.method.deletePolicy)).toMatchObject([{ policyId: 1, force: true }]);
  });

  it('is given by labels, after saying which agents gain and lose it', async () => {
    const { user, press, confirm } = openPolicy();
    const labelled = async (label: string) => {
      await fill(user, await screen.findByLabelText('Label, as name=value'), label);
      await press('Add label');
    };
    await press('Give by labels…');
    await labelled('team');
    expect((await screen.findByRole('alert')).textContent).toContain('A label is a name and a value');
    await labelled('team=finance');
    await confirm('Save labels: give to 3 agents', /^finance-bot-01, finance-bot-02, finance-bot-03$/);
    await waitFor(() => expect(screen.getAllByText('its labels')).toHaveLength(3));
    await press('Edit labels…');
    await press('Remove the label team=finance');
    await screen.findByText('3 agents');
    await labelled('team=support');
    await confirm('Save labels: give to 1 agent, take from 3 agents', /^support-bot-01$/);
    await waitFor(() => expect(screen.getAllByText('its labels')).toHaveLength(1));
    await user.click(screen.getByRole('link', { name: 'Policies' }));
    await screen.findByText('team=support');
  });

  it('is given to several agents and taken from them at once, but not from those with its labels', async () => {
    const { user, sent, press, confirm } = openPolicy();
    await press('Add agents…');
    await user.type(await screen.findByLabelText('Find agents by name'), 'finance-bot');
    await user.click(await screen.findByLabelText('Select all 3 shown agents'));
    await press('Add 3 agents');
    await noDialog();
    await press('Give by labels…');
    await fill(user, await screen.findByLabelText('Label, as name=value'), 'team=support');
    await press('Add label');
    await confirm('Save labels: give to 1 agent', /^support-bot-01$/);
    await user.click(await screen.findByLabelText('Select all 3 shown agents'));
    await press('Remove 3 agents');
    await confirm('Remove 3 agents', /^They are no longer checked/);
    await waitFor(() => expect(screen.queryByText('added')).toBeNull());
    screen.getByText('its labels');
    const [removed] = sent(PolicyService.method.removePolicyAgents);
    expect(removed?.agentNames).toEqual(['finance-bot-01', 'finance-bot-02', 'finance-bot-03']);
  });
});
