// @vitest-environment happy-dom
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import {
  type ControlBinding,
  ControlBindingSchema,
  ControlBindingService,
} from '@gen/enforcement/v1/control_binding_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { KeyService } from '@gen/enforcement/v1/key_service_pb.js';
import { NamespaceSchema, NamespaceService } from '@gen/enforcement/v1/namespace_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import type { UserEvent } from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { signedInAs } from './support/callers.js';
import { chooseFile } from './support/chosen-file.js';
import { fill } from './support/fields.js';
import { AGENT, hasFleet } from './support/fleet-backend.js';
import { keyBackend } from './support/key-backend.js';
import { type Backend, noDialog, openDialog, renderPage, settled } from './support/render-page.js';

const CONTROL = 'watch-refunds';
const CONTROL_ID = 2;
const CLONE_ID = 3;

/** A service that keeps namespaces. */
const hasNamespaces: Backend = (router) => {
  const stored = new Map([['default', create(NamespaceSchema, { name: 'default', displayName: 'default' })]]);
  const { rpc } = router;
  const { method } = NamespaceService;
  rpc(method.listNamespaces, () => ({
    namespaces: [...stored.values()],
    pagination: { total: stored.size },
  }));
  rpc(method.createNamespace, ({ name = '' }) => {
    if (/[^a-z-]/.test(name)) throw new ConnectError('name: only small letters', Code.InvalidArgument);
    stored.set(name, create(NamespaceSchema, { name, displayName: name, createdAt: '2026-11-01T10:00:00Z' }));
    return {};
  });
  rpc(method.updateNamespace, ({ namespace, displayName }) => {
    Object.assign(stored.get(namespace) ?? {}, { displayName });
    return {};
  });
  rpc(method.exportNamespace, async function* () {
    yield* ['namespace', 'key'].map((kind) => ({ kind, recordJson: '{}' }));
  });
  rpc(method.deleteNamespace, ({ namespace }) => ({ success: stored.delete(namespace) }));
  keyBackend().backend(router);
};

type Binding = MessageInitShape<typeof ControlBindingSchema>;

/** A service that keeps bindings of controls, and clones a control for a target. */
function hasBindings(...given: readonly Binding[]): Backend {
  let last = 0;
  const stored = new Map<number, ControlBinding>();
  const bind = (binding: Binding): { readonly bindingId: number } => {
    last += 1;
    stored.set(last, create(ControlBindingSchema, { enabled: true, ...binding, id: last }));
    return { bindingId: last };
  };
  const those = (isMeant: (binding: ControlBinding) => boolean) => [...stored.values()].filter(isMeant);
  given.forEach(bind);
  return (router) => {
    const { rpc } = router;
    const { method } = ControlBindingService;
    rpc(method.listControlBindings, ({ controlId }) => {
      const bindings = those((one) => controlId === undefined || one.controlId === controlId);
      return { bindings, pagination: { total: bindings.length } };
    });
    rpc(method.createControlBinding, ({ $typeName: _, $unknown: __, enabled = true, ...asked }) => {
      const same = those((one) => one.controlId === asked.controlId && one.targetId === asked.targetId);
      if (same.length > 0) throw new ConnectError('it is bound to this target already', Code.AlreadyExists);
      return bind({ ...asked, enabled });
    });
    rpc(method.updateControlBinding, ({ bindingId, enabled }) => {
      Object.assign(stored.get(bindingId) ?? {}, { enabled });
      return {};
    });
    rpc(method.deleteControlBinding, ({ bindingId }) => ({ success: stored.delete(bindingId) }));
    rpc(method.upsertControlBinding, ({ $typeName: _, $unknown: __, enabled = true, ...asked }) =>
      bind({ ...asked, enabled }),
    );
    rpc(ControlService.method.cloneAndBindControl, ({ name = '', targetBinding }) => {
      const { targetType = '', targetId = '' } = targetBinding ?? {};
      return { id: CLONE_ID, name, ...bind({ controlId: CLONE_ID, targetType, targetId }) };
    });
    rpc(ControlService.method.getControl, ({ controlId: id }) => ({
      id,
      name: CONTROL,
      version: 1n,
      data: {},
    }));
    rpc(ControlService.method.deleteControl, () => ({}));
    rpc(ControlService.method.createControl, () => ({ controlId: CLONE_ID + 1 }));
    rpc(AgentService.method.addAgentControl, () => ({}));
    rpc(PolicyService.method.addPolicyControl, () => ({}));
    rpc(AgentService.method.listAgentControls, ({ targetId }) => {
      const bound = those((one) => one.targetId === targetId).map(({ controlId }) => controlId);
      return { controls: [1, 2, ...bound].map((id) => ({ id, name: `control ${id}` })) };
    });
    hasFleet(router);
  };
}

const TARGETS = 'Targets that this control is bound to';
const row = async (table: string, text: string) => {
  const region = within(await screen.findByRole('region', { name: table }));
  return within((await region.findByText(text)).closest('tr') as HTMLElement);
};
type Fields = Pick<ReturnType<typeof within>, 'getByLabelText'>;
async function fillTarget(user: UserEvent, fields: Fields, type: string, id: string): Promise<void> {
  await fill(user, fields.getByLabelText('Type of the target'), type);
  await fill(user, fields.getByLabelText('Id of the target'), id);
}
const isListed = (text: string) => screen.queryByRole('cell', { name: text }) !== null;

describe('namespaces in the dashboard', () => {
  it('are created, renamed, given a first key, exported and deleted by an operator', async () => {
    const { user, sent } = renderPage('/namespaces', hasNamespaces, { role: 'operator' });
    (await row('Namespaces', 'always there')).getAllByText('default');
    const name = screen.getByLabelText('New namespace');
    const create = screen.getByRole('button', { name: 'Create' });
    await fill(user, name, 'Not A Name');
    await user.click(create);
    expect((await screen.findByRole('alert')).textContent).toContain('only small letters');
    await fill(user, name, 'team-life');
    await user.click(create);
    await screen.findByRole('button', { name: 'Delete team-life' });
    expect(screen.queryByRole('button', { name: 'Delete default' })).toBeNull();

    await user.click(screen.getByRole('button', { name: 'Rename team-life' }));
    const shownAs = within(await openDialog());
    await fill(user, shownAs.getByLabelText('Shown as'), 'The life team');
    await user.click(shownAs.getByRole('button', { name: 'Rename' }));
    await row('Namespaces', 'The life team');
    await noDialog();
    expect(await structureViolations()).toEqual([]);

    const file = chooseFile();
    await user.click(screen.getByRole('button', { name: 'Export team-life' }));
    await screen.findByText('2 records saved.');
    expect(file.text()).toBe('{"kind":"namespace","record_json":"{}"}\n{"kind":"key","record_json":"{}"}\n');

    await user.click(screen.getByRole('link', { name: 'New key in team-life' }));
    await user.type(await screen.findByLabelText('Name'), 'first');
    expect(screen.getByLabelText('Namespace of the key')).toHaveProperty('value', 'team-life');
    await user.click(screen.getByRole('button', { name: 'Create the key' }));
    await user.click(await screen.findByRole('button', { name: 'Copy the secret' }));
    await user.click(screen.getByRole('button', { name: 'Done' }));
    // The key has no page in the namespace of the operator.
    await screen.findByRole('heading', { level: 1, name: 'Keys and people' });
    expect(sent(KeyService.method.createKey)).toMatchObject([{ namespace: 'team-life' }]);
    await user.click(screen.getByRole('link', { name: 'Namespaces' }));

    await user.click(await screen.findByRole('button', { name: 'Delete team-life' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Delete the namespace team-life?' }));
    const confirm = dialog.getByRole('button', { name: 'Delete team-life' });
    const typed = dialog.getByLabelText('Type team-life to confirm');
    expect(confirm).toHaveProperty('disabled', true);
    await user.type(typed, 'team-lif');
    expect(confirm).toHaveProperty('disabled', true);
    await user.type(typed, 'e{Enter}');
    await waitFor(() => expect(isListed('team-life')).toBe(false));
    const { deleteNamespace } = NamespaceService.method;
    expect(sent(deleteNamespace)).toMatchObject([{ namespace: 'team-life', force: true }]);
  });

  it.each([
    ['team-alone', 'Team Alone', 'Namespace: Team Alone'],
    ['default', 'default', ''],
  ])('are told in the header, without a switch, for a key of %s', async (namespace, title, told) => {
    renderPage('/policies', (router) => {
      signedInAs({ role: 'admin', namespace, namespaceDisplayName: title })(router);
      hasFleet(router);
    });
    await settled();
    expect(document.querySelector('.top .namespace')?.textContent ?? '').toBe(told);
    expect(screen.queryByRole('button', { name: /^Namespace/ })).toBeNull();
  });
});

describe('bindings in the dashboard', () => {
  it('bind a control to targets, are switched and removed, and are made with a clone', async () => {
    const { user, sent, address } = renderPage(`/controls/${CONTROL_ID}?tab=usage`, hasBindings());
    await screen.findByText('This control is bound to no target');
    const form = within(screen.getByRole('form', { name: 'Bind to a target' }));
    const bind = async () => {
      await fillTarget(user, form, 'project', 'checkout');
      await user.keyboard('{Enter}');
    };
    const confirm = async (name: string) => {
      await user.click(screen.getByRole('button', { name }));
      await user.click(within(await openDialog()).getByRole('button', { name }));
      await noDialog();
    };
    await bind();
    (await row(TARGETS, 'checkout')).getByText('on');
    // The same again is a conflict, which is said.
    await bind();
    expect((await form.findByRole('alert')).textContent).toContain('it is bound to this target already');

    await confirm('Switch off project checkout');
    await waitFor(async () => (await row(TARGETS, 'checkout')).getByText('off'));
    expect(sent(ControlBindingService.method.updateControlBinding)).toMatchObject([
      { bindingId: 1, enabled: false },
    ]);
    await confirm('Remove project checkout');
    await waitFor(() => expect(isListed('checkout')).toBe(false));
    await user.click(await screen.findByRole('button', { name: 'Undo' }));
    (await row(TARGETS, 'checkout')).getByText('off');
    expect(await structureViolations()).toEqual([]);

    await user.click(screen.getByRole('button', { name: 'Clone for a target…' }));
    const dialog = within(await openDialog());
    await fillTarget(user, dialog, 'project', 'shop');
    await fill(user, dialog.getByLabelText('Name of the clone'), 'watch-refunds-shop');
    await user.click(dialog.getByRole('button', { name: 'Clone and bind' }));
    await row(TARGETS, 'shop');
    expect(address()).toBe(`/controls/${CLONE_ID}?tab=usage`);
    expect(sent(ControlService.method.cloneAndBindControl)).toMatchObject([
      {
        controlId: CONTROL_ID,
        name: 'watch-refunds-shop',
        targetBinding: { targetType: 'project', targetId: 'shop' },
        idempotencyKey: expect.stringMatching(/./),
      },
    ]);
  });

  it('go with a control that is deleted, which says so, and come back with it', async () => {
    const given = { controlId: CONTROL_ID, targetType: 'project', targetId: 'shop' };
    const { user, sent } = renderPage(`/controls/${CONTROL_ID}?tab=usage`, hasBindings(given));
    await user.click(await screen.findByRole('button', { name: 'More' }));
    await user.click(screen.getByRole('button', { name: `Delete ${CONTROL}` }));
    const dialog = within(await openDialog());
    within(await dialog.findByRole('list', { name: 'Bindings' })).getByText('project shop');
    await user.click(dialog.getByRole('button', { name: `Delete ${CONTROL}` }));
    await screen.findByRole('heading', { level: 1, name: 'Controls' });
    await user.click(await screen.findByRole('button', { name: 'Undo' }));
    await screen.findByText(/^watch-refunds is there again, as control 4\./);
    expect(sent(ControlBindingService.method.upsertControlBinding)).toMatchObject([
      { ...given, controlId: CLONE_ID + 1, enabled: true },
    ]);
  });

  it('add to the controls of an agent for what it works on', async () => {
    const given = { controlId: CLONE_ID, targetType: 'stream', targetId: 'payments' };
    const { user, address } = renderPage(`/agents/${AGENT}?tab=targets`, hasBindings(given));
    await screen.findByText(/^A target is what an agent works on\./);
    await fillTarget(user, screen, 'stream', 'payments');
    await screen.findByText('The target adds 1 control to the 2 controls of the agent.');
    (await row('Controls with the target', 'control 3')).getByText('the target');
    (await row('Controls with the target', 'control 1')).getByText('the agent');
    expect(address()).toBe(`/agents/${AGENT}?tab=targets&target_type=stream&target_id=payments`);
    await fill(user, screen.getByLabelText('Id of the target'), 'others');
    await screen.findByText('The target adds no control to the 2 controls of the agent.');
  });
});
