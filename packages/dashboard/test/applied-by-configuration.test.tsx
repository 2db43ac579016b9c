// @vitest-environment happy-dom
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { ControlBindingService } from '@gen/enforcement/v1/control_binding_service_pb.js';
import { type ControlDefinitionSchema, Decision, Execution } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { ShadowService } from '@gen/enforcement/v1/shadow_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import {
  type Backend,
  noDialog,
  openDialog,
  renderPage,
  type ShownPage,
  settled,
} from './support/render-page.js';

const OWNER = 'payments/policies';
const CONTROL = 'applied-control';
const POLICY = 'applied-policy';
/** A control and a policy that are applied as configuration, and a control that a person made. */
const APPLIED_ID = 3;
const OWN_ID = 4;
const POLICY_ID = 2;
const QUESTION = `applied as configuration by ${OWNER}. Its next apply will report a conflict`;
const WARNING = `is applied by the configuration "${OWNER}"`;

/** A service with both controls, of which one is applied and has a shadow, and with the policy. */
const service: Backend = ({ rpc }) => {
  const data: MessageInitShape<typeof ControlDefinitionSchema> = {
    enabled: true,
    execution: Execution.SERVER,
    condition: {
      selector: { path: 'input.text' },
      evaluator: { name: 'regex', config: { pattern: 'refund' } },
    },
    action: { decision: Decision.OBSERVE },
  };
  const controls = new Map([
    [APPLIED_ID, { name: CONTROL, owner: OWNER, version: 1n, isOn: true }],
    [OWN_ID, { name: 'watch-refunds', owner: undefined, version: 1n, isOn: true }],
  ]);
  let hasShadow = true;
  const found = (id: number) => {
    const control = controls.get(id);
    if (control === undefined) throw new ConnectError('no such control', Code.NotFound);
    return control;
  };
  const ownerOf = ({ owner }: { readonly owner: string | undefined }) =>
    owner === undefined ? {} : { owner };
  const warningsOf = (id: number) =>
    found(id).owner === undefined
      ? []
      : [
          {
            code: 'applied',
            field: '',
            message: `The control ${WARNING}, whose next apply reports a conflict.`,
          },
        ];
  const { method } = ControlService;
  rpc(method.getControl, ({ controlId }) => {
    const control = found(controlId);
    const { name, version, isOn } = control;
    return {
      id: controlId,
      name,
      version,
      ...ownerOf(control),
      data: { ...data, enabled: isOn },
      action: data.action ?? {},
    };
  });
  rpc(method.listControls, () => ({
    controls: [...controls].map(([id, control]) => ({
      id,
      name: control.name,
      enabled: control.isOn,
      version: control.version,
      ...ownerOf(control),
    })),
    pagination: { total: controls.size },
  }));
  rpc(method.setControlData, ({ controlId }) => {
    const control = found(controlId);
    control.version += 1n;
    return { success: true, version: control.version, warnings: warningsOf(controlId) };
  });
  rpc(method.updateControl, ({ controlId, enabled }) => {
    const control = found(controlId);
    control.version += 1n;
    control.isOn = enabled ?? control.isOn;
    const { name, version, isOn } = control;
    return { success: true, name, enabled: isOn, version, warnings: warningsOf(controlId) };
  });
  rpc(method.listControlPolicies, () => ({
    policies: [{ id: POLICY_ID, name: POLICY }],
    pagination: { total: 1 },
  }));
  rpc(method.listControlAgents, () => ({ pagination: { total: 0 } }));
  rpc(ControlBindingService.method.listControlBindings, () => ({ pagination: { total: 0 } }));
  rpc(ShadowService.method.getShadow, ({ controlId }) => {
    if (!hasShadow || controlId !== APPLIED_ID) throw new ConnectError('no shadow', Code.NotFound);
    return { shadow: { controlId, controlName: CONTROL, shadowVersion: 1, baseVersion: 1, share: 1, data } };
  });
  rpc(ShadowService.method.promoteShadow, ({ controlId }) => {
    hasShadow = false;
    return { version: 2, warnings: warningsOf(controlId) };
  });
  rpc(PolicyService.method.getPolicy, () => ({
    policy: { id: POLICY_ID, name: POLICY, controlIds: [APPLIED_ID], version: 1n, owner: OWNER },
  }));
};

describe('what is applied as configuration', () => {
  /** Presses a button, and cancels the question that must name the owner. */
  async function asks({ user }: ShownPage, button: string): Promise<void> {
    await user.click(await screen.findByRole('button', { name: button }));
    const dialog = await openDialog();
    await waitFor(() => expect(dialog.textContent).toContain(QUESTION));
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await noDialog();
  }

  it('asks before a control is saved, and shows what the service warns of', async () => {
    const { user, sent } = renderPage(`/controls/${APPLIED_ID}/edit`, service);
    await user.type(await screen.findByLabelText('Description'), 'Changed by a person');
    await user.keyboard('{Control>}s{/Control}');
    const dialog = await openDialog();
    expect(dialog.textContent).toContain(QUESTION);
    await user.click(within(dialog).getByRole('button', { name: 'Keep editing' }));
    await noDialog();
    expect(sent(ControlService.method.setControlData)).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await user.click(within(await openDialog()).getByRole('button', { name: 'Save nevertheless' }));
    const saved = await screen.findByRole('status', { name: 'Saved' });
    expect(saved.textContent).toContain(WARNING);
    expect(sent(ControlService.method.setControlData)).toMatchObject([
      { controlId: APPLIED_ID, ifVersion: 1n, data: { description: 'Changed by a person' } },
    ]);
  });

  it('asks before a control is deleted, replaced by its shadow, or switched off', async () => {
    const page = renderPage(`/controls/${APPLIED_ID}`, service);
    const { user, sent } = page;
    const told = await screen.findByText(/^Applied as configuration by/);
    expect(told.textContent).toBe(`Applied as configuration by ${OWNER}`);
    await user.click(screen.getByRole('button', { name: 'More' }));
    await asks(page, `Delete ${CONTROL}`);
    expect(sent(ControlService.method.deleteControl)).toEqual([]);

    await user.click(screen.getByRole('tab', { name: 'Shadow' }));
    await user.click(await screen.findByRole('button', { name: `Promote the shadow of ${CONTROL}` }));
    const promotion = await openDialog();
    expect(promotion.textContent).toContain(QUESTION);
    await user.click(within(promotion).getByRole('button', { name: /^Promote/ }));
    await screen.findByText(new RegExp(WARNING));
    expect(sent(ShadowService.method.promoteShadow)).toMatchObject([
      { controlId: APPLIED_ID, shadowVersion: 1 },
    ]);

    const [open] = screen.getAllByRole('button', { name: `Switch off ${CONTROL}` });
    await user.click(open ?? document.body);
    const question = await openDialog();
    expect(question.textContent).toContain(QUESTION);
    await user.click(within(question).getByRole('button', { name: `Switch off ${CONTROL}` }));
    await screen.findByText(new RegExp(`was switched off. .*applied by the configuration "${OWNER}"`));
    expect(sent(ControlService.method.updateControl)).toMatchObject([
      { controlId: APPLIED_ID, enabled: false, ifVersion: 1n },
    ]);
  });

  it('asks before several controls are changed of which some are applied', async () => {
    const { user } = renderPage('/controls', service);
    await user.click(await screen.findByRole('checkbox', { name: `Select ${CONTROL}` }));
    await user.click(screen.getByRole('checkbox', { name: 'Select watch-refunds' }));
    await user.click(screen.getByRole('button', { name: 'Delete…' }));
    const dialog = await openDialog();
    expect(dialog.textContent).toContain(`Applied as configuration is 1 control of these, by ${OWNER}.`);
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await noDialog();
  });

  it('asks before a policy is changed or deleted', async () => {
    const page = renderPage(`/policies/${POLICY_ID}`, service);
    await screen.findByText(/^Applied as configuration by/);
    await asks(page, `Remove ${CONTROL}`);
    await asks(page, 'Add controls…');
    for (const button of ['Rename…', `Give to every agent ${POLICY}`, `Delete ${POLICY}`]) {
      await page.user.click(screen.getByRole('button', { name: 'More' }));
      await asks(page, button);
    }
    expect(page.sent(PolicyService.method.updatePolicy)).toEqual([]);
    expect(page.sent(PolicyService.method.deletePolicy)).toEqual([]);
  });

  it('asks before a control is removed from a policy on the page of the control', async () => {
    await asks(renderPage(`/controls/${APPLIED_ID}?tab=usage`, service), `Remove from ${POLICY}`);
  });

  it('asks nothing of what was made by people', async () => {
    const { user, sent, address } = renderPage(`/controls/${OWN_ID}/edit`, service);
    await user.type(await screen.findByLabelText('Description'), 'Changed by a person');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(address()).toBe(`/controls/${OWN_ID}`));
    await settled();
    expect(sent(ControlService.method.setControlData)).toHaveLength(1);
    expect(screen.queryByText(/configuration by/)).toBeNull();
  });
});
