import type { DescMethod } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { transport } from '../../data/transport.js';
import { numberOf } from '../../ui/numbers.js';

const controls = createClient(ControlService, transport);
const policies = createClient(PolicyService, transport);

/** A change of several controls. */
export interface BulkAction {
  /** For example `Switch off`. */
  readonly verb: string;
  /** The change that is made of each of them. */
  readonly change: DescMethod;
  /** What it does to the selected controls, in the past, for example `switched off`. */
  readonly done: string;
  /** What it means for the agents. */
  readonly effect: string;
  /** Whether a control is already as it should be. */
  readonly isDone: (control: ControlSummary) => boolean;
  /** Who applies a control that is changed as configuration. */
  readonly ownerOf?: (control: ControlSummary) => string | undefined;
  /** Who applies the policy that is changed as configuration. */
  readonly policyOwner?: string | undefined;
  /** @param isRetry whether it failed before, and the viewer has seen why */
  readonly act: (control: ControlSummary, isRetry: boolean) => Promise<unknown>;
}

export const SWITCH_ON: BulkAction = {
  verb: 'Switch on',
  change: ControlService.method.updateControl,
  done: 'switched on',
  effect: 'They will check the steps of all agents that use them.',
  isDone: ({ enabled }) => enabled,
  ownerOf: ({ owner }) => owner,
  act: ({ id }) => controls.updateControl({ controlId: id, enabled: true }),
};

export const SWITCH_OFF: BulkAction = {
  verb: 'Switch off',
  change: ControlService.method.updateControl,
  done: 'switched off',
  effect: 'They will no longer check any step.',
  isDone: ({ enabled }) => !enabled,
  ownerOf: ({ owner }) => owner,
  act: ({ id }) => controls.updateControl({ controlId: id, enabled: false }),
};

export const DELETE: BulkAction = {
  verb: 'Delete',
  change: ControlService.method.deleteControl,
  done: 'deleted',
  effect: 'They are removed from these policies and agents and cannot be restored.',
  isDone: () => false,
  ownerOf: ({ owner }) => owner,
  async act({ id, version }, isRetry) {
    // What was changed since it was listed is deleted only if the viewer has been told so.
    const known = isRetry ? (await controls.getControl({ controlId: id })).version : version;
    await controls.deleteControl({ controlId: id, force: true, ifVersion: known });
  },
};

/** Adds controls to a policy. */
export function addToPolicy({ id: policyId, name, agentCount, controlIds, owner }: Policy): BulkAction {
  const members = new Set(controlIds);
  return {
    verb: `Add to ${name}`,
    change: PolicyService.method.addPolicyControl,
    done: `added to ${name}`,
    effect: `They will check the steps of the ${numberOf(agentCount, 'agent')} with this policy, too.`,
    isDone: ({ id }) => members.has(id),
    policyOwner: owner,
    act: ({ id }) => policies.addPolicyControl({ policyId, controlId: id }),
  };
}

/** Removes controls from a policy. */
export function removeFromPolicy({ id: policyId, name, agentCount, controlIds, owner }: Policy): BulkAction {
  const members = new Set(controlIds);
  return {
    verb: `Remove from ${name}`,
    change: PolicyService.method.removePolicyControl,
    done: `removed from ${name}`,
    effect: `They no longer check the steps of the ${numberOf(agentCount, 'agent')} with this policy, unless they are linked in another way.`,
    isDone: ({ id }) => !members.has(id),
    policyOwner: owner,
    act: ({ id }) => policies.removePolicyControl({ policyId, controlId: id }),
  };
}
