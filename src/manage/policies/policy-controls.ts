import type { CallContext } from '../../contract/call/handler.js';
import type { IfVersion } from '../../contract/input/if-version.js';
import { listed } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { controlLink } from '../agents/agent-audit.js';
import { createAgentPolicyStore } from '../agents/agent-policy-store.js';
import { existingControl } from '../controls/existing-control.js';
import { hiddenLinkWarnings } from '../controls/hidden-controls.js';
import { reviewLink } from '../controls/link-warnings.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { demandForAnyAgent } from './any-agent.js';
import { changeWarnings, demandedPolicy, existingPolicy } from './existing-policy.js';
import { policyFact } from './policy-audit.js';
import type { PolicyRow } from './policy-store.js';

export interface PolicyControlsOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Lists the controls of policies, adds and removes them. */
export function createPolicyControls({ database, mutate, registry, now }: PolicyControlsOptions) {
  return {
    /** The ids of the controls of a policy, ascending. Throws POLICY_NOT_FOUND. */
    async listControls(context: CallContext, policyId: number) {
      const scope = scopeOf(context, database.client);
      const policy = await existingPolicy(scope, policyId);
      return { control_ids: await createPolicyControlStore(scope).controlIdsOf(policy.id) };
    },

    /**
     * Adds a control to a policy. Throws POLICY_NOT_FOUND, VERSION_MISMATCH, CONTROL_NOT_FOUND, or
     * POLICY_CONTROL_INCOMPATIBLE if agents get the policy as they register and the control is only for some. Whether the agents of the
     * policy can run the control is not checked here: clients have always been able to change a policy in
     * use, and a control that an agent cannot run fails closed in evaluation.
     */
    async addControl(context: CallContext, policyId: number, controlId: number, ifVersion: IfVersion) {
      const put = await mutate(context, async (scope) => {
        const policy = await demandedPolicy(scope, policyId, ifVersion);
        const control = await existingControl(scope, controlId);
        if (policy.everyAgent || policy.labels.length > 0) demandForAnyAgent([control], registry);
        const added = await createPolicyControlStore(scope).add(policy.id, control.id);
        const silent = await createAgentPolicyStore(scope).agentsThatNeverAsked(policy.id);
        const unchanged = { control, silent, version: policy.version, applied: [] };
        if (!added) return { value: unchanged, change: null };
        const version = await nextVersion(scope, policy, now());
        const applied = await changeWarnings(scope, policy);
        const audit = policyFact('policy.add_control', policy, null, controlLink(control));
        const value = { control, silent, version, applied };
        return { value, change: { policies: [policy.id] }, audit };
      });
      const { warnings } = reviewLink(put.control, registry, clientsOf(put.silent));
      const hidden = await hiddenLinkWarnings(scopeOf(context, database.client), put.control, registry);
      return { success: true, warnings: listed(warnings, hidden, put.applied), version: put.version };
    },

    /** Removes a control from a policy. Throws POLICY_NOT_FOUND, VERSION_MISMATCH or CONTROL_NOT_FOUND. */
    async removeControl(context: CallContext, policyId: number, controlId: number, ifVersion: IfVersion) {
      const { version, warnings } = await mutate(context, async (scope) => {
        const policy = await demandedPolicy(scope, policyId, ifVersion);
        const control = await existingControl(scope, controlId);
        const removed = await createPolicyControlStore(scope).remove(policy.id, control.id);
        if (!removed) return { value: { version: policy.version, warnings: [] }, change: null };
        const value = {
          version: await nextVersion(scope, policy, now()),
          warnings: await changeWarnings(scope, policy),
        };
        const audit = policyFact('policy.remove_control', policy, controlLink(control), null);
        return { value, change: { policies: [policy.id] }, audit };
      });
      context.warn(warnings);
      return { success: true, version };
    },
  };
}

async function nextVersion(scope: Scoped, policy: PolicyRow, nowMs: number): Promise<number> {
  await createPolicyControlStore(scope).touch([policy.id], nowMs);
  return policy.version + 1;
}

/** Agents of a policy whose clients have never requested controls, in words; null for none. */
export function clientsOf(agents: number): string | null {
  if (agents === 0) return null;
  return agents === 1
    ? 'the client of 1 agent with the policy'
    : `each client of ${agents} agents with the policy`;
}
